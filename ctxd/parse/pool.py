"""The parse workers as the daemon sees them. Owned by the loop: no threads, no file reads, no decoding."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence

from ctxd.parse.desk import Desk, PoolStats
from ctxd.parse.job import Job, Lookup
from ctxd.parse.job import Parsed as Parsed
from ctxd.parse.pipe import ParseSettings as ParseSettings
from ctxprotocol.errors import Internal

# Files of one job: enough to keep a worker busy while the next is looked up, few enough to share out the end
# of a tree.
_JOB_FILES, _LEAST_FILES = 64, 8
# Lists of results that wait for a slow consumer; then the workers wait.
_WAITING_LISTS = 4
# More paths than this, and saves are shared with the bulk workers.
_FOR_ONE = 32

_Results = asyncio.Queue[list[Parsed] | Exception | None]


class Pool:
    """Parses files in child processes: one warm for what was just saved, `workers` niced ones for bulk."""

    def __init__(
        self,
        settings: ParseSettings,
        *,
        workers: int,
        budget_s: float = 2.0,
        idle_s: float = 30.0,
        command: Sequence[str] = (),
    ) -> None:
        """`budget_s` bounds the time of one file; bulk workers end after `idle_s`; `command` replaces the
        worker."""
        self._workers = workers
        self._desk = Desk(settings, workers=workers, budget_s=budget_s, idle_s=idle_s, command=command)
        self._feeders: set[asyncio.Task[None]] = set()
        self._closed = False

    async def start(self) -> None:
        """Start the urgent worker, so that the first save finds it warm. Optional."""
        await self._desk.warm()

    async def parse(
        self, root: str, paths: Sequence[str], *, lookup: Lookup, urgent: bool
    ) -> AsyncGenerator[list[Parsed], None]:
        """Yield what the paths below `root` are, in lists as they become ready and in no order.

        Who may leave the iteration early wraps it in `contextlib.aclosing`, so that its workers are free at once.
        `lookup` is asked which cache keys need no parsing; what it raises ends the iteration. Raises OSError
        when no worker can be started, Internal when workers do not answer or the pool was closed.
        """
        if self._closed:
            raise Internal("the parse pool is closed")
        results: _Results = asyncio.Queue(_WAITING_LISTS)
        lanes = 2 if urgent and len(paths) <= _FOR_ONE else 2 * self._workers + 2 * urgent
        size = max(_LEAST_FILES, min(_JOB_FILES, -(-len(paths) // (2 * lanes))))
        slices = (paths[at : at + size] for at in range(0, len(paths), size))
        runners = [self._run(root, slices, lookup, urgent, results) for _ in range(min(lanes, -(-len(paths) // size)))]
        feeder = asyncio.get_running_loop().create_task(self._feed(runners, results))
        self._feeders.add(feeder)
        try:
            while (ready := await results.get()) is not None:
                if isinstance(ready, Exception):
                    raise ready
                yield ready
        finally:
            feeder.cancel()
            await asyncio.gather(feeder, return_exceptions=True)
            self._feeders.discard(feeder)

    async def digests(self, root: str, paths: Sequence[str]) -> list[Parsed]:
        """Read and hash `paths` at one bulk worker and parse nothing: what has a key comes as if it were cached.

        Raises OSError, Internal.
        """
        if self._closed:
            raise Internal("the parse pool is closed")
        found: list[Parsed] = []

        async def put(some: list[Parsed]) -> None:
            found.extend(some)

        seat = await self._desk.take(urgent=False)
        try:
            await Job(self._desk, seat, root, _every, put).run(paths)
        finally:
            self._desk.give_back(seat)
        return found

    async def _run(
        self, root: str, slices: Iterator[Sequence[str]], lookup: Lookup, urgent: bool, results: _Results
    ) -> None:
        for paths in slices:
            seat = await self._desk.take(urgent=urgent)
            try:
                await Job(self._desk, seat, root, lookup, results.put).run(paths)
            finally:
                self._desk.give_back(seat)

    async def _feed(self, runners: Sequence[Coroutine[None, None, None]], results: _Results) -> None:
        """Run the lanes of one call; whatever ends them, the consumer is told."""
        tasks = [asyncio.ensure_future(runner) for runner in runners]
        try:
            await asyncio.gather(*tasks)
        except asyncio.CancelledError:
            if self._closed:
                while not results.empty():
                    results.get_nowait()
                results.put_nowait(Internal("the parse pool is closed"))
            raise
        except Exception as error:
            await results.put(error)
        else:
            await results.put(None)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def stats(self) -> PoolStats:
        """Return the pool's counts."""
        return self._desk.stats()

    async def retire(self) -> None:
        """End all workers once the iterations that run are at their end; nobody may begin another."""
        try:
            if self._feeders:
                await asyncio.wait(tuple(self._feeders))
        finally:
            await self.close()

    async def close(self) -> None:
        """End all workers. `parse` iterations that still run raise Internal."""
        self._closed = True
        for feeder in tuple(self._feeders):
            feeder.cancel()
        await asyncio.gather(*self._feeders, return_exceptions=True)
        await self._desk.close()


async def _every(keys: Sequence[bytes]) -> frozenset[bytes]:
    return frozenset(keys)
