"""Who works where: the seats at which jobs meet workers. Owned by the loop.

A seat is one worker's process, started when a job first needs it. Two jobs may hold a seat at a time: while
one waits for the cache, the other's files are parsed; `lock` says who talks to the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import count

import msgspec

from ctxd.parse.child import Child, ChildDied
from ctxd.parse.pipe import ParseSettings, Setup
from ctxprotocol.errors import Internal

_JOBS_PER_SEAT = 2
_BULK_NICENESS = 10
# The largest file needs 4 MB of text, 120 MB of tree and the process itself.
_MEMORY_BYTES = 2 << 30
# Content that crashed or outlived its budget is not given to a grammar again as long as the daemon lives.
_MAX_FAILED = 10_000
# A worker that dies before its first answer may have had a bad first file; this many in a row cannot work
# here at all.
_MAX_SILENT = 3


class PoolStats(msgspec.Struct, frozen=True):
    """Counts since the pool was made; `workers` and `pids` are those alive now. `parsed` are files, whatever the cache
    held of others."""

    workers: int
    pids: tuple[int, ...]
    started: int
    crashes: int
    timeouts: int
    parsed: int


class Seat:
    """A worker's place. `child` is None before its first job, after a crash, and when it was idle for
    long."""

    def __init__(self, *, urgent: bool) -> None:
        self.urgent = urgent
        self.lock = asyncio.Lock()
        self.child: Child | None = None


class Desk:
    """All seats of a pool, who is free, and what the workers have failed at."""

    def __init__(
        self, settings: ParseSettings, *, workers: int, budget_s: float, idle_s: float, command: Sequence[str]
    ) -> None:
        self.budget_s = budget_s
        self.failed: dict[bytes, str] = {}
        self.parsed = 0
        self._settings = settings
        self._idle_s = idle_s
        self._command = tuple(command)
        self._urgent = Seat(urgent=True)
        self._seats = [self._urgent, *(Seat(urgent=False) for _ in range(max(1, workers)))]
        self._free_urgent: asyncio.Queue[Seat] = asyncio.Queue()
        self._free_bulk: asyncio.Queue[Seat] = asyncio.Queue()
        for _ in range(_JOBS_PER_SEAT):
            for seat in self._seats:
                self._queue(seat).put_nowait(seat)
        self._batches = count()
        self._idle: asyncio.TimerHandle | None = None
        self._retiring: set[asyncio.Task[None]] = set()
        self._started = self._crashes = self._timeouts = self._silent = 0
        self._closed = False

    def _queue(self, seat: Seat) -> asyncio.Queue[Seat]:
        return self._free_urgent if seat.urgent else self._free_bulk

    async def take(self, *, urgent: bool) -> Seat:
        """Wait for a seat. Urgent jobs have one of their own, and a bulk seat when that is taken and one is
        free."""
        if not urgent:
            seat = await self._free_bulk.get()
        elif self._free_urgent.empty() and not self._free_bulk.empty():
            seat = self._free_bulk.get_nowait()
        else:
            seat = await self._free_urgent.get()
        if not seat.urgent and self._idle is not None:
            self._idle.cancel()
            self._idle = None
        return seat

    def give_back(self, seat: Seat) -> None:
        """Free a seat; when all bulk seats are free, their workers end after a while."""
        self._queue(seat).put_nowait(seat)
        bulk = len(self._seats) - 1
        if self._free_bulk.qsize() == bulk * _JOBS_PER_SEAT and self._idle is None and not self._closed:
            self._idle = asyncio.get_running_loop().call_later(self._idle_s, self._retire)

    def _retire(self) -> None:
        self._idle = None
        for seat in self._seats:
            if not seat.urgent and seat.child is not None:
                child, seat.child = seat.child, None
                task = asyncio.get_running_loop().create_task(child.end())
                self._retiring.add(task)
                task.add_done_callback(self._retiring.discard)

    async def warm(self) -> None:
        """Start the urgent worker if it does not run."""
        async with self._urgent.lock:
            await self.child(self._urgent)

    async def child(self, seat: Seat) -> Child:
        """Return the seat's worker, started if need be; to be called under its lock. Raises OSError."""
        if seat.child is not None and seat.child.ended():
            # Between two exchanges: no file is to blame.
            await self.discard(seat)
        if seat.child is None:
            niceness = 0 if seat.urgent else _BULK_NICENESS
            setup = Setup(self._settings, niceness, _MEMORY_BYTES, self.budget_s)
            seat.child = await Child.open(self._command, setup)
            self._started += 1
        return seat.child

    def batch(self) -> int:
        """Return a number for a batch that no other has."""
        return next(self._batches)

    async def lost(self, seat: Seat, died: ChildDied, *, answers: int) -> None:
        """Take note that the seat's worker died after `answers` answers in this exchange, and clear the seat.

        Raises Internal when worker after worker dies without a word.
        """
        await self.discard(seat)
        if died.timed_out:
            self._timeouts += 1
        else:
            self._crashes += 1
        self._silent = 0 if answers else self._silent + 1
        if self._silent > _MAX_SILENT:
            raise Internal(f"parse workers do not work here: {died}")

    def answered(self) -> None:
        """Take note that a worker answered."""
        self._silent = 0

    async def discard(self, seat: Seat) -> None:
        """End the seat's worker: it is dead, or in the middle of an exchange that nobody will finish."""
        child, seat.child = seat.child, None
        if child is not None:
            await child.end()

    def remember(self, key: bytes, note: str) -> None:
        """Keep from now on the content with this cache key away from grammars."""
        if len(self.failed) >= _MAX_FAILED:
            del self.failed[next(iter(self.failed))]
        self.failed[key] = note

    def stats(self) -> PoolStats:
        """Return the counts."""
        pids = tuple(seat.child.pid for seat in self._seats if seat.child is not None)
        return PoolStats(len(pids), pids, self._started, self._crashes, self._timeouts, self.parsed)

    async def close(self) -> None:
        """End all workers."""
        self._closed = True
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None
        await asyncio.gather(*self._retiring, *(self.discard(seat) for seat in self._seats))
