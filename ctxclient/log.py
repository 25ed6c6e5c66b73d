"""The daemon's log as its readers see it: the last lines, and those that come; across the files that it rotates.

Runs in the client process; reads only, and needs no daemon.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import BinaryIO

# As many older files as the daemon keeps (ctxd/daemon.py).
OLDER_FILES = 2


class Log:
    """The log at `path`, which may not be there yet. Closed by `with`."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._cut = b""

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()

    def last(self, lines: int) -> list[str] | None:
        """Return the last `lines` lines, None when there is no log. Raises OSError."""
        found = self.news()
        if self._file is None:
            return None
        for number in range(1, OLDER_FILES + 1):
            if len(found) >= lines:
                break
            try:
                with open(f"{self._path}.{number}", "rb") as older:
                    found = _lines(older.read()) + found
            except FileNotFoundError:
                break
        return found[-lines:] if lines else []

    def news(self) -> list[str]:
        """Return the whole lines that were written since the last call. Raises OSError."""
        found: list[str] = []
        while True:
            if self._file is not None:
                *whole, self._cut = (self._cut + self._file.read()).split(b"\n")
                found += [line.decode("utf-8", "backslashreplace") for line in whole]
            if not self._renew():
                return found

    def _renew(self) -> bool:
        """Open the file if there is another one at the path than the open one, or if that was cut; say so."""
        try:
            now = os.stat(self._path)
        except FileNotFoundError:
            return False
        if self._file is not None:
            held = os.fstat(self._file.fileno())
            if (held.st_dev, held.st_ino) == (now.st_dev, now.st_ino) and now.st_size >= self._file.tell():
                return False
            self._file.close()
        self._file = open(self._path, "rb")  # noqa: SIM115  (held until the next one)
        self._cut = b""
        return True


def _lines(data: bytes) -> list[str]:
    return [line.decode("utf-8", "backslashreplace") for line in data.split(b"\n")[:-1]]
