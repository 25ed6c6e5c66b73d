"""git, asked with everything off that could run a repository's programs. Used by the scan thread."""

from __future__ import annotations

from collections.abc import Sequence


class Repository:
    """One git worktree. `git_dir` is its own, `common_dir` the one it shares with its linked worktrees."""

    git_dir: str
    common_dir: str
    top: str

    @classmethod
    def open(cls, root: str) -> Repository | None:
        """Return the repository that `root` lies in, or None."""
        raise NotImplementedError

    def run(self, args: Sequence[str], stdin: bytes = b"") -> bytes:
        """Run git and return its output."""
        raise NotImplementedError

    def rule_files(self) -> tuple[str, ...]:
        """Return the absolute paths whose change may change the listing or HEAD."""
        raise NotImplementedError

    def identity(self) -> str:
        """Return what all clones share: the normalised origin, else the common directory."""
        raise NotImplementedError

    def head(self) -> str:
        """Return the commit that HEAD names, "" before the first one."""
        raise NotImplementedError
