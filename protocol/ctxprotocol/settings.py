"""The configuration: which keys there are, their defaults, what a value must be, where the user's file is.

Values and pure functions, used by the daemon, which reads the file, and by `ctx config`, which edits it: both hold a
file to the same table.
"""

from __future__ import annotations

import difflib
import os
import sys
import tomllib
from collections.abc import Mapping, Sequence

import msgspec

from ctxprotocol import providers
from ctxprotocol.errors import ConfigInvalid
from ctxprotocol.providers import Provider, Use

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
LOG_LEVELS = ("debug", "info", "warning", "error")

# What a key may hold; lists hold strings, or providers.
Value = bool | int | float | str | tuple[str, ...] | tuple[Provider, ...]


class Config(msgspec.Struct, frozen=True):
    """All values, by their key with `_` for `.`. Bytes and seconds as the names say."""

    search_limit: int = 5
    search_budget: int = 1200
    index_ignore: tuple[str, ...] = DEFAULT_IGNORE
    index_max_file_bytes: int = 1_000_000
    index_max_chunk_tokens: int = 500
    index_max_files: int = 200_000
    index_follow_symlinks: bool = False
    index_audit: bool = True
    embed_enabled: bool = True
    embed_model: str = ""
    embed_providers: tuple[Provider, ...] = ()
    embed_spend_cap_usd: float = 0
    llm_providers: tuple[Provider, ...] = ()
    llm_timeout_s: float = 8
    daemon_idle_exit_s: int = 10_800
    daemon_workers: int = 0
    daemon_max_worktrees_open: int = 16
    daemon_cache_bytes: int = 2_000_000_000
    daemon_log_level: str = "info"

    @property
    def workers(self) -> int:
        """Number of parse processes for bulk work; 0 in the file means one per core that we may use."""
        return self.daemon_workers or len(_cores())

    def value(self, key: str) -> Value:
        """Return the value of a known key."""
        found: Value = getattr(self, key.replace(".", "_"))
        return found


def _cores() -> set[int]:
    if sys.platform == "linux":
        return os.sched_getaffinity(0)
    return set(range(os.cpu_count() or 1))


class Key(msgspec.Struct, frozen=True):
    """One configuration key: the type of its value, the range of a number, the words that a text may be."""

    kind: type
    low: int = 0
    high: int = 0
    choices: tuple[str, ...] = ()
    # The list holds providers for this.
    use: Use | None = None
    # The caller's variable that counts for one request.
    variable: str = ""
    # Taken up when the daemon starts, not while it runs.
    at_start: bool = False

    @property
    def wanted(self) -> str:
        """What it takes, in words."""
        if self.kind in (int, float):
            return f"a number from {self.low} to {self.high}"
        if self.use:
            return f"a list of names ({', '.join(providers.KNOWN[self.use])}), or of tables with a name"
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        return {bool: "true or false", list: "a list of strings", str: "a string"}[self.kind]

    def allows(self, value: object) -> bool:
        """Say whether a value of the right type is one that it takes."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return self.low <= value <= self.high
        return not self.choices or value in self.choices


KEYS: dict[str, Key] = {
    "search.limit": Key(int, 1, 1000, variable="CTX_SEARCH_LIMIT"),
    "search.budget": Key(int, 100, 200_000, variable="CTX_SEARCH_BUDGET"),
    "index.ignore": Key(list),
    "index.max_file_bytes": Key(int, 1_000, 64_000_000),
    "index.max_chunk_tokens": Key(int, 50, 8_000),
    "index.max_files": Key(int, 1, 10_000_000),
    "index.follow_symlinks": Key(bool),
    "index.audit": Key(bool),
    "embed.enabled": Key(bool),
    "embed.model": Key(str),
    "embed.providers": Key(list, use="embed"),
    "embed.spend_cap_usd": Key(float, 0, 1_000_000),
    "llm.providers": Key(list, use="llm"),
    "llm.timeout_s": Key(float, 1, 120),
    "daemon.idle_exit_s": Key(int, 1, 31_536_000),
    "daemon.workers": Key(int, 0, 256),
    "daemon.max_worktrees_open": Key(int, 1, 1_000),
    "daemon.cache_bytes": Key(int, 1_000_000, 1_000_000_000_000, at_start=True),
    "daemon.log_level": Key(str, choices=LOG_LEVELS, at_start=True),
}


def config_path(state_directory: str, environ: Mapping[str, str]) -> str:
    """Return where the user's configuration file is: beside the state under CTX_HOME, else the platform's place."""
    if environ.get("CTX_HOME"):
        return os.path.join(state_directory, "config.toml")
    import platformdirs

    return os.path.join(platformdirs.user_config_dir("ctx", appauthor=False), "config.toml")


def nearest(key: str) -> str:
    """Return the known key that an unknown one may mean, "" when none is near."""
    same_end = [known for known in KEYS if known.rpartition(".")[2] == key]
    if len(same_end) == 1:
        return same_end[0]
    return next(iter(difflib.get_close_matches(key, KEYS, 1, 0.5)), "")


def parse(text: str, path: str) -> Config:
    """Return the configuration that a file's text gives. Raises ConfigInvalid with the key and the nearest name."""
    return Config(**{key.replace(".", "_"): value for key, value in read(text, path).items()})  # type: ignore[arg-type]


def read(text: str, path: str) -> dict[str, Value]:
    """Return what a file's text sets, by key in the file's order. Raises ConfigInvalid as `parse` does."""
    try:
        tables = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as fault:
        raise ConfigInvalid(f"{path}: {fault}", "mend the file or move it away") from None
    values: dict[str, Value] = {}
    for key, value in flatten(tables):
        known = KEYS.get(key)
        if known is None:
            near = nearest(key)
            raise ConfigInvalid(f"{path}: unknown key {key}", f"did you mean {near}?" if near else "")
        values[key] = _checked(known, key, value, path)
    return values


def flatten(tables: Mapping[str, object], prefix: str = "") -> list[tuple[str, object]]:
    """Return the values of nested tables by their dotted keys, in order."""
    found: list[tuple[str, object]] = []
    for name, value in tables.items():
        if isinstance(value, dict):
            found.extend(flatten(value, f"{prefix}{name}."))
        else:
            found.append((prefix + name, value))
    return found


def _checked(known: Key, key: str, value: object, path: str) -> Value:
    fits = type(value) is known.kind or (known.kind is float and type(value) is int)
    if not fits or not known.allows(value):
        raise ConfigInvalid(f"{path}: {key} is {value!r}", f"it takes {known.wanted}")
    if isinstance(value, list):
        if known.use:
            return listed(value, key, path)
        if not all(isinstance(item, str) for item in value):
            raise ConfigInvalid(f"{path}: {key} holds something that is not a string")
        return tuple(value)
    assert isinstance(value, bool | int | float | str)
    return value


def listed(items: Sequence[object], key: str, path: str) -> tuple[Provider, ...]:
    """Return the providers of a list, each a name or a table. Raises ConfigInvalid."""
    use = KEYS[key].use
    assert use is not None
    found = tuple(
        providers.read(item, use, f"{path}: {key}, number {number}") for number, item in enumerate(items, start=1)
    )
    for each in found:
        if sum(other.name == each.name for other in found) > 1:
            raise ConfigInvalid(f"{path}: {key} names {each.name} twice", "a second one of a kind needs another name")
    return found
