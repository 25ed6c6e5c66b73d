"""Configuration as the daemon sees it: defaults, then the user's file. The only reader of the environment in ctxd.

Owned by main; runs on the loop. The file is looked at (one stat) on each request, so a changed file is taken up
without a restart. A file that cannot be used makes requests fail with its place and fault; the daemon stays.
"""

from __future__ import annotations

import os
import sys

from ctxprotocol.errors import ConfigInvalid
from ctxprotocol.settings import KEYS as KEYS
from ctxprotocol.settings import Config as Config
from ctxprotocol.settings import config_path as config_path
from ctxprotocol.settings import parse as parse


class ConfigFile:
    """The user's file and the configuration it gave last."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._stamp: tuple[int, int, int] | None = (-1, -1, -1)
        self._config = Config()
        self._fault: ConfigInvalid | None = None

    def current(self) -> Config:
        """Return the configuration as the file is now. Raises ConfigInvalid while the file cannot be used."""
        stamp = self._look()
        if stamp != self._stamp:
            self._stamp = stamp
            self._read(stamp is not None)
        if self._fault is not None:
            raise self._fault
        return self._config

    def last_good(self) -> Config:
        """Return the configuration that was valid last: what the daemon itself goes on with."""
        try:
            return self.current()
        except ConfigInvalid:
            return self._config

    def _look(self) -> tuple[int, int, int] | None:
        try:
            found = os.stat(self.path)
        except OSError:
            return None
        return (found.st_mtime_ns, found.st_size, found.st_ino)

    def _read(self, exists: bool) -> None:
        self._fault = None
        if not exists:
            self._config = Config()
            return
        try:
            with open(self.path, encoding="utf-8") as file:
                self._config = parse(file.read(), self.path)
        except ConfigInvalid as fault:
            self._fault = fault
        except (OSError, UnicodeDecodeError) as fault:
            self._fault = ConfigInvalid(f"{self.path}: {fault}")


def platform() -> str:
    """Return sys.platform: named here so that a test can take its place."""
    return sys.platform
