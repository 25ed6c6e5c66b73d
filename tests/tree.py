"""A directory that a test builds: files, folders, links and git, in few words."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from tests.home import QUIET_GIT


class Tree:
    """A work tree below `root`. Paths are relative to it."""

    def __init__(self, root: str | os.PathLike[str], git: bool = True) -> None:
        self.root = Path(root)
        self.root.mkdir(parents=True, exist_ok=True)
        if git:
            self.git("init", "-q", "-b", "main", ".")

    def write(self, path: str, text: str | bytes) -> Path:
        """Write one file, with the folders above it."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text.encode() if isinstance(text, str) else text)
        return target

    def git(self, *args: str) -> str:
        """Run git here, without anybody's configuration, and return what it printed."""
        env = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")} | QUIET_GIT
        done = subprocess.run(
            ["git", *args],
            cwd=self.root,
            env=env,
            check=False,
            capture_output=True,
            text=True,
            errors="replace",
        )
        assert done.returncode == 0, f"git {args}: {done.stderr}"
        return done.stdout

    def commit(self, message: str = "change") -> None:
        """Add everything and commit it."""
        self.git("add", "-A")
        self.git("commit", "-qm", message, "--allow-empty")

    def path(self, path: str) -> Path:
        return self.root / path
