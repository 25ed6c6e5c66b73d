"""The parse workers as the daemon sees them. Owned by the loop: no threads, no file reads, no decoding."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

import msgspec

from ctxd.model import FileStat, SkipReason
from ctxd.parse.pipe import ParseSettings as ParseSettings

Lookup = Callable[[Sequence[bytes]], Awaitable[frozenset[bytes]]]


class Parsed(msgspec.Struct, frozen=True):
    """What one path turned out to be.

    Exactly one of these holds: `gone` (nothing readable is there), `skip` (recorded, not indexed), `cached`
    (the caller has an entry under `key`), or `blob` is an encoded ParsedFile. `digest` is empty when the
    file was not read.
    """

    path: str
    stat: FileStat
    digest: bytes = b""
    hashed_ns: int = 0
    key: bytes = b""
    skip: SkipReason = ""
    gone: bool = False
    cached: bool = False
    blob: bytes = b""
    note: str = ""


class PoolStats(msgspec.Struct, frozen=True):
    """Counts since the pool was made; `workers` and `pids` are those alive now."""

    workers: int
    pids: tuple[int, ...]
    started: int
    crashes: int
    timeouts: int


class Pool:
    """Parses files in child processes: one warm for what was just saved, `workers` niced ones for bulk."""

    def __init__(
        self,
        settings: ParseSettings,
        *,
        workers: int,
        budget_s: float = 2.0,
        idle_s: float = 60.0,
        command: Sequence[str] = (),
    ) -> None:
        raise NotImplementedError

    async def start(self) -> None:
        """Start the urgent worker, so that the first save finds it warm. Optional."""
        raise NotImplementedError

    def parse(
        self, root: str, paths: Sequence[str], *, lookup: Lookup, urgent: bool
    ) -> AsyncIterator[list[Parsed]]:
        """Yield what the paths below `root` are, in lists as they become ready and in no order.

        `lookup` is asked which cache keys need no parsing.
        """
        raise NotImplementedError

    def stats(self) -> PoolStats:
        """Return the pool's counts."""
        raise NotImplementedError

    async def close(self) -> None:
        """End all workers. Running `parse` iterations end by CancelledError."""
        raise NotImplementedError
