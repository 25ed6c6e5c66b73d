"""A lock that the system takes back when its holder ends, however it ends. Both sides use it; it never waits long.

On POSIX it lies on an open descriptor, of a directory too: a lock file could be unlinked and taken twice. On Windows
it is a file that is open and shared with nobody, which cannot be removed or renamed while it is so, nor can its
directory.
"""

from __future__ import annotations

import os
import sys
import time

from ctxprotocol import endpoint, files, windows

# A virus scanner, or somebody who asks whether it is free, may have the file open for a moment.
TRIES, PAUSE_S = 5, 0.02


class Flock:
    """A lock on what `flags` open at a path. Raises OSError when it cannot be opened."""

    def __init__(self, path: str, flags: int) -> None:
        self.descriptor = os.open(path, flags | files.OWN | files.NO_FOLLOW, 0o600)

    def take(self, *, shared: bool = False) -> bool:
        """Take it, and say whether it could be had."""
        if sys.platform == "win32":
            return False
        import fcntl

        try:
            fcntl.flock(self.descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def close(self) -> None:
        """Let go of it, if it was taken."""
        os.close(self.descriptor)


class Exclusive:
    """The same on Windows. `shared` only asks whether it is free, and makes no file."""

    def __init__(self, path: str, asked: windows.Calls) -> None:
        self._path = path
        self._asked = asked
        self._handle: int | None = None

    def take(self, *, shared: bool = False) -> bool:
        """Take it, and say whether it could be had. Raises OSError when the file cannot be opened at all."""
        for left in reversed(range(TRIES)):
            try:
                self._handle = self._asked.open_file(self._path, *(windows.PROBE if shared else windows.HOLD))
            except OSError as error:
                number = windows.code(error)
                if shared and number == windows.FILE_NOT_FOUND:
                    return True
                if number != windows.SHARING_VIOLATION:
                    raise
                if left:
                    time.sleep(PAUSE_S)
            else:
                return True
        return False

    def close(self) -> None:
        """Let go of it, if it was taken."""
        if self._handle is not None:
            self._asked.close(self._handle)
            self._handle = None


def daemon_lock(state_dir: str) -> Flock | Exclusive:
    """Return the lock that a daemon holds for life, not taken. Raises OSError where there is no state directory."""
    path = endpoint.daemon_lock_path(state_dir)
    if sys.platform == "win32":
        return Exclusive(path, windows.calls())
    return Flock(path, os.O_RDONLY | os.O_DIRECTORY)


def file_lock(path: str) -> Flock | Exclusive:
    """Return a lock on a file of ours, not taken; the file is made when it is missing. Raises OSError."""
    return Exclusive(path, windows.calls()) if sys.platform == "win32" else Flock(path, os.O_RDWR | os.O_CREAT)
