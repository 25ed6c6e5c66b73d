"""A daemon on a disk that fails or forgets: shimmed.py in its own process, and the tests' end of its standard input."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.home import Home
from tests.link import Link
from tests.processes import wait_until

SHIM = Path(__file__).with_name("shimmed.py")


class Disk:
    """The daemon and the file system below it. `start` anew after each end."""

    def __init__(self, home: Home, journal: str = "") -> None:
        self.home = home
        self.journal = journal
        self.daemon: subprocess.Popen[str] | None = None

    def start(self, *fault: object) -> int | None:
        """Start the daemon with a fault that waits for it; return its exit code where it does not come to listen."""
        python = self.home.bin / "python"
        self.daemon = subprocess.Popen(
            [
                *(str(python if python.exists() else sys.executable), "-P", str(SHIM), "ctxd", self.journal),
                *map(str, fault),
            ],
            cwd="/",
            env=self.home.env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        wait_until(lambda: self.daemon_ended() or self._listens(), 30, "the daemon listens or has ended")
        return self.daemon.poll()

    def arm(self, kind: str, error: str, first: int, times: int = 1) -> None:
        self._say("arm", kind, error, first, times)

    def disarm(self) -> Sequence[str]:
        """Let nothing fail any more; return which calls failed."""
        return self._say("disarm")["hits"]

    def hits(self) -> Sequence[str]:
        """Return which calls have failed so far."""
        return self._say("tell")["hits"]

    def kill(self) -> None:
        if self.daemon is not None:
            self.daemon.kill()
            self.daemon.communicate()
        self.home.kill()

    def stop(self) -> None:
        """End it as a service manager does."""
        assert self.daemon is not None
        self.daemon.terminate()
        self.daemon.communicate(timeout=30)

    def daemon_ended(self) -> bool:
        assert self.daemon is not None
        return self.daemon.poll() is not None

    def _listens(self) -> bool:
        try:
            Link(self.home.path, timeout_s=5).close()
        except (OSError, EOFError):
            return False
        return True

    def _say(self, *command: object) -> dict:
        assert self.daemon is not None and self.daemon.stdin is not None and self.daemon.stdout is not None
        self.daemon.stdin.write(json.dumps(command) + "\n")
        self.daemon.stdin.flush()
        return json.loads(self.daemon.stdout.readline())


def set_aside(home: Home) -> list[str]:
    """Return the databases that the daemon has set aside as damaged."""
    return sorted(str(path) for path in Path(home.path).rglob("*.damaged"))


def ended(home: Home) -> None:
    """Wait until nothing runs in a home."""
    wait_until(lambda: not home.daemons, 10, f"no daemon left in {os.path.basename(home.place)}")
