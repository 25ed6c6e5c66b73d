"""One CTX_HOME of a test: runs `ctx` and `ctxd` in it as a person would, and ends its daemon by pid."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests import processes

PREFIX = f"/tmp/ctx-t{os.getpid()}-"
BIN = Path(sys.executable).parent
QUIET_GIT = {
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_AUTHOR_NAME": "t",
    "GIT_AUTHOR_EMAIL": "t@example.invalid",
    "GIT_COMMITTER_NAME": "t",
    "GIT_COMMITTER_EMAIL": "t@example.invalid",
}
# No test writes into the keyring of whoever runs it.
NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


def clean_environment(environ: dict[str, str], user_home: str) -> dict[str, str]:
    """Return `environ` without what would let the caller's own set-up show through."""
    dropped = ("CTX_", "GIT_", "XDG_", "PYTHON", "COV_", "LISTEN_", "NOTIFY_")
    kept = {key: value for key, value in environ.items() if not key.startswith(dropped)}
    return kept | QUIET_GIT | NO_KEYRING | {"HOME": user_home, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "TERM": "dumb"}


class Home:
    """A private state directory with a short path, its environment, and the daemon inside."""

    def __init__(self, place: str | None = None, bin: str | os.PathLike[str] = BIN) -> None:
        self.bin = Path(bin)
        self.place = place or tempfile.mkdtemp(prefix=PREFIX, dir="/tmp")
        self.path = f"{self.place}/h"
        self.user_home = f"{self.place}/user"
        os.makedirs(self.user_home, exist_ok=True)
        self.env = clean_environment(dict(os.environ), self.user_home) | {"CTX_HOME": self.path}

    def run(
        self,
        *args: str,
        cwd: str | os.PathLike[str],
        program: str = "ctx",
        env: dict[str, str] | None = None,
        input: str | None = None,
        timeout: float = 60,
    ) -> subprocess.CompletedProcess[str]:
        """Run one command to its end and return exit code, stdout and stderr (odd bytes as surrogates)."""
        return subprocess.run(
            [str(self.bin / program), *args],
            check=False,
            cwd=cwd,
            env=self.env | (env or {}),
            input=input,
            stdin=subprocess.DEVNULL if input is None else None,
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=timeout,
        )

    def json(self, *args: str, cwd: str | os.PathLike[str], **more) -> dict:
        """Run one command with `--json` before its arguments and return the object it printed."""
        done = self.run(args[0], "--json", *args[1:], cwd=cwd, **more)
        assert done.stdout.startswith("{"), f"exit {done.returncode}: {done.stdout!r} {done.stderr!r}"
        return json.loads(done.stdout)

    def transcript(self, *args: str, cwd: str | os.PathLike[str], **more) -> str:
        """Run one command and return what a terminal would show, times made equal, then the exit code."""
        done = self.run(*args, cwd=cwd, **more)
        text = f"$ ctx {' '.join(args)}\n{done.stdout}{done.stderr}"
        text = re.sub(r"\d+(\.\d+)? ms", "N ms", text)
        return f"{text}exit {done.returncode}\n"

    @property
    def daemons(self) -> list[int]:
        return processes.daemons_of(self.path)

    @property
    def pid(self) -> int:
        """The pid of the one daemon that runs here."""
        pids = self.daemons
        assert len(pids) == 1, f"{len(pids)} daemons: {pids}"
        return pids[0]

    def kill(self) -> None:
        """Kill the daemon as a power cut would, and wait until it and its workers are gone."""
        doomed = processes.belonging_to(self.path)
        for pid in self.daemons:
            os.kill(pid, signal.SIGKILL)
        processes.wait_until(lambda: not any(map(processes.alive, doomed)), 10, "daemon and workers gone after kill -9")

    def close(self) -> list[int]:
        """End what still runs here and remove the directory; return the pids that only SIGKILL ended."""
        stubborn = processes.end(processes.belonging_to(self.path))
        shutil.rmtree(self.place, ignore_errors=True)
        return stubborn
