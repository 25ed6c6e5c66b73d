"""Configuration as the daemon sees it: defaults, then the user's file. The only reader of the environment in ctxd.

Owned by main; runs on the loop. The file is looked at (one stat) on each request, so a changed file is taken up
without a restart. A file that cannot be used makes requests fail with its place and fault; the daemon stays.
"""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import Callable, Mapping

import msgspec

from ctxprotocol.errors import ConfigInvalid

DEFAULT_IGNORE = (
    "node_modules/",
    "bower_components/",
    "dist/",
    ".next/",
    "__pycache__/",
    ".venv/",
    "venv/",
    ".tox/",
    ".nox/",
    ".eggs/",
    "*.egg-info/",
    ".mypy_cache/",
    ".pytest_cache/",
    ".ruff_cache/",
    ".hypothesis/",
    ".gradle/",
    ".cache/",
    ".parcel-cache/",
    ".turbo/",
)


class Config(msgspec.Struct, frozen=True):
    """All values, by their key with `_` for `.`. Bytes and seconds as the names say."""

    search_limit: int = 5
    search_budget: int = 1200
    index_ignore: tuple[str, ...] = DEFAULT_IGNORE
    index_max_file_bytes: int = 1_000_000
    index_max_chunk_tokens: int = 500
    index_max_files: int = 200_000
    index_follow_symlinks: bool = False
    daemon_idle_exit_s: int = 10_800
    daemon_workers: int = 0
    daemon_max_worktrees_open: int = 16
    daemon_cache_bytes: int = 2_000_000_000
    daemon_log_level: str = "info"

    @property
    def workers(self) -> int:
        """Number of parse processes for bulk work; 0 in the file means one per core that we may use."""
        return self.daemon_workers or len(_cores())


def _cores() -> set[int]:
    if hasattr(os, "sched_getaffinity"):
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


class Key(msgspec.Struct, frozen=True):
    """One configuration key: the type of its value, and the check that it must pass with what to say otherwise."""

    kind: type
    check: Callable[[int], bool] = lambda _value: True
    wanted: str = ""


def _between(low: int, high: int) -> Key:
    return Key(int, lambda value: low <= value <= high, f"a number from {low} to {high}")


KEYS: dict[str, Key] = {
    "search.limit": _between(1, 1000),
    "search.budget": _between(100, 200_000),
    "index.ignore": Key(list),
    "index.max_file_bytes": _between(1_000, 64_000_000),
    "index.max_chunk_tokens": _between(50, 8_000),
    "index.max_files": _between(1, 10_000_000),
    "index.follow_symlinks": Key(bool),
    "daemon.idle_exit_s": _between(1, 31_536_000),
    "daemon.workers": _between(0, 256),
    "daemon.max_worktrees_open": _between(1, 1_000),
    "daemon.cache_bytes": _between(1_000_000, 1_000_000_000_000),
    "daemon.log_level": Key(str),
}
LOG_LEVELS = ("debug", "info", "warning", "error")


def config_path(state_directory: str, environ: Mapping[str, str]) -> str:
    """Return where the user's configuration file is: beside the state under CTX_HOME, else the platform's place."""
    if environ.get("CTX_HOME"):
        return os.path.join(state_directory, "config.toml")
    import platformdirs

    return os.path.join(platformdirs.user_config_dir("ctx", appauthor=False), "config.toml")


def parse(text: str, path: str) -> Config:
    """Return the configuration that a file's text gives. Raises ConfigInvalid with the key and the nearest name."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as fault:
        raise ConfigInvalid(f"{path}: {fault}", "mend the file or move it away") from None
    values: dict[str, object] = {}
    for key, value in _flatten(tables):
        known = KEYS.get(key)
        if known is None:
            near = difflib.get_close_matches(key, KEYS, 1, 0.5)
            raise ConfigInvalid(f"{path}: unknown key {key}", f"did you mean {near[0]}?" if near else "")
        values[key.replace(".", "_")] = _checked(known, key, value, path)
    return Config(**values)  # type: ignore[arg-type]


def _flatten(tables: Mapping[str, object], prefix: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, value in tables.items():
        if isinstance(value, dict):
            found.extend(_flatten(value, f"{prefix}{name}."))
        else:
            found.append((prefix + name, value))
    return found


def _checked(known: Key, key: str, value: object, path: str) -> object:
    if type(value) is not known.kind:
        raise ConfigInvalid(f"{path}: {key} is {value!r}", f"it takes {_kind_name(known)}")
    if isinstance(value, int) and not known.check(value):
        raise ConfigInvalid(f"{path}: {key} is {value}", f"it takes {known.wanted}")
    if isinstance(value, list):
        if not all(isinstance(item, str) for item in value):
            raise ConfigInvalid(f"{path}: {key} holds something that is not a string")
        return tuple(value)
    if key == "daemon.log_level" and value not in LOG_LEVELS:
        raise ConfigInvalid(f"{path}: {key} is {value!r}", f"it takes one of {', '.join(LOG_LEVELS)}")
    return value


def _kind_name(known: Key) -> str:
    return known.wanted or {bool: "true or false", list: "a list of strings", str: "a string"}[known.kind]


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


def own_environment() -> Mapping[str, str]:
    """Return the environment that the daemon was started with."""
    return os.environ


def platform() -> str:
    """Return sys.platform: named here so that a test can take its place."""
    return sys.platform
