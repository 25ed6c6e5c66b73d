"""One job: some paths of one worktree, read, looked up and parsed at one seat. Owned by the loop.

A worker that crashes or hangs costs the file it was at: the rest of the job is read again by the next worker,
and that file is made into chunks of text with a note. No file is tried a third time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence

import msgspec

from ctxd.model import FileStat, SkipReason
from ctxd.parse.child import Child, ChildDied
from ctxd.parse.desk import Desk, Seat
from ctxd.parse.pipe import NO_STAT, Outcome, Parse, Read

Lookup = Callable[[Sequence[bytes]], Awaitable[frozenset[bytes]]]

# Reading waits for disks and networks; one that answers nothing for so long has to be left out.
_READ_S = 10.0
# A list of results is handed on at this size; a file of 4 MB makes one by itself.
_LIST_BYTES = 1 << 20
_MAX_TRIES = 3


class Parsed(msgspec.Struct, frozen=True):
    """What one path turned out to be.

    Exactly one of these holds: `gone` (nothing readable is there), `skip` (recorded, not indexed), `cached`
    (the caller has an entry under `key`), or `blob` is an encoded ParsedFile. `digest` is empty when the file
    was not read. `note` tells of a crash or a time-out.
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


class Job:
    """Works its paths off at one seat; results go to `put` in lists."""

    def __init__(
        self, desk: Desk, seat: Seat, root: str, lookup: Lookup, put: Callable[[list[Parsed]], Awaitable[None]]
    ) -> None:
        self._desk = desk
        self._seat = seat
        self._root = root.encode("utf-8", "surrogateescape")
        self._lookup = lookup
        self._put = put
        self._ready: list[Parsed] = []
        self._ready_bytes = 0
        self._tries: Counter[str] = Counter()

    async def run(self, paths: Sequence[str]) -> None:
        """Give one result for each path. Raises what the lookup raises, OSError, Internal."""
        todo = list(paths)
        while todo:
            todo = await self._once(todo)
        if self._ready:
            await self._hand_over()

    async def _once(self, todo: list[str]) -> list[str]:
        """Read and parse; return the paths that a dying worker left undone."""
        batch = self._desk.batch()
        async with self._seat.lock:
            child = await self._desk.child(self._seat)
            outcomes = await self._read(child, batch, todo)
        if len(outcomes) < len(todo):
            failed = todo.pop(len(outcomes))
            await self._add(Parsed(failed, NO_STAT, skip="unreadable", note="reading it ended a worker"))
            return todo
        parsing = False
        try:
            wanted = await self._sort_out(todo, outcomes)
            async with self._seat.lock:
                if self._seat.child is not child or child.ended():
                    # It died at the hands of the seat's other job, or of the system, and our bytes with it.
                    return [todo[index] for index in wanted]
                parsing = True
                return await self._parse(child, batch, todo, outcomes, wanted)
        except BaseException:
            if not parsing and self._seat.child is child and not child.ended():
                # Whoever waited for us has gone: the worker need not keep the bytes. It answers nothing to this.
                child.send(Parse(batch, ()))
            raise

    async def _sort_out(self, todo: Sequence[str], outcomes: Sequence[Outcome]) -> list[int]:
        """Give a result for each path that needs no parsing; return the indices of the others."""
        cached = await self._cached(outcomes)
        wanted = [index for index, outcome in enumerate(outcomes) if outcome.key and outcome.key not in cached]
        skipped = set(range(len(todo))).difference(wanted)
        for index in sorted(skipped):
            await self._add(_result(todo[index], outcomes[index], cached=bool(outcomes[index].key)))
        return wanted

    async def _cached(self, outcomes: Sequence[Outcome]) -> frozenset[bytes]:
        keys = list(dict.fromkeys(outcome.key for outcome in outcomes if outcome.key))
        return await self._lookup(keys) if keys else frozenset()

    async def _read(self, child: Child, batch: int, todo: Sequence[str]) -> list[Outcome]:
        """Return the outcome of each path; fewer when the worker died at the one after them."""
        outcomes: list[Outcome] = []
        try:
            child.send(Read(batch, self._root, tuple(todo)))
            for _ in todo:
                outcomes.append(await child.receive(_READ_S))  # noqa: PERF401
            self._desk.answered()
        except ChildDied as died:
            await self._desk.lost(self._seat, died, answers=len(outcomes))
        except BaseException:
            await self._desk.discard(self._seat)
            raise
        return outcomes

    async def _parse(
        self,
        child: Child,
        batch: int,
        todo: Sequence[str],
        outcomes: Sequence[Outcome],
        wanted: Sequence[int],
    ) -> list[str]:
        """Add the results of `wanted`; return the paths that are left when the worker dies."""
        notes = tuple(self._desk.failed.get(outcomes[index].key, "") for index in wanted)
        at = 0
        try:
            child.send(Parse(batch, tuple(wanted), notes if any(notes) else ()))
            for index in wanted:
                await self._add(_result(todo[index], await child.receive(self._desk.budget_s)))
                self._desk.parsed += 1
                at += 1
        except ChildDied as died:
            await self._desk.lost(self._seat, died, answers=1)
            path, outcome = todo[wanted[at]], outcomes[wanted[at]]
            note = "parse timed out" if died.timed_out else "parser crashed"
            self._desk.remember(outcome.key, note)
            self._tries[path] += 1
            rest = [todo[index] for index in wanted[at + 1 :]]
            if notes[at] or self._tries[path] >= _MAX_TRIES:
                # Not even its lines can be cut: there is no third way.
                await self._add(_result(path, msgspec.structs.replace(outcome, skip="unreadable", note=note)))
                return rest
            return [path, *rest]
        except BaseException:
            await self._desk.discard(self._seat)
            raise
        return []

    async def _add(self, parsed: Parsed) -> None:
        self._ready.append(parsed)
        self._ready_bytes += len(parsed.blob)
        if self._ready_bytes >= _LIST_BYTES:
            await self._hand_over()

    async def _hand_over(self) -> None:
        ready, self._ready, self._ready_bytes = self._ready, [], 0
        await self._put(ready)


def _result(path: str, outcome: Outcome, *, cached: bool = False) -> Parsed:
    return Parsed(
        path=path,
        stat=outcome.stat,
        digest=outcome.digest,
        hashed_ns=outcome.hashed_ns,
        key=outcome.key,
        skip=outcome.skip,
        gone=outcome.gone,
        cached=cached,
        blob=outcome.blob,
        note=outcome.note,
    )
