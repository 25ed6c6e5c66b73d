"""Batch -> survey -> parse -> write, for one worktree and its current index file.

Owned by the worktree; runs on the loop. One batch is in work at a time (`_lock`); a rebuild fills another file beside
it, one at a time (`_rebuilding`), and takes the lock only to compare once more and to move the pointer.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Generator, Sequence
from concurrent.futures import Executor, Future
from typing import TypeVar

import msgspec

from ctxd.feed import Feed
from ctxd.model import Batch, Listing
from ctxd.parse.pool import Parsed, Pool
from ctxd.scan.rules import Rules
from ctxd.store import catalog
from ctxd.store.cache import Cache
from ctxd.store.driver import WriterConnection
from ctxd.store.integrity import create_index, inspect, remove_index, set_aside
from ctxd.store.marks import is_complete, mark_complete
from ctxd.store.readers import Readers
from ctxd.store.registry import Registry
from ctxd.store.sibling import copy_index
from ctxd.store.snapshot import Snapshot
from ctxd.store.write import Applied, Change, Put, Remove, Skip, Touch, apply
from ctxd.store.writer import Writer
from ctxd.survey import READ_S, Survey, Surveyor, Watch
from ctxd.writes import Writes, changes_for
from ctxprotocol.messages import Progress

log = logging.getLogger("ctxd.pipeline")

T = TypeVar("T")

# Batches up to this size go before bulk work of other worktrees, to the warm worker.
URGENT_FILES = 32
# A log that a foreign snapshot has kept from being emptied for so long: a copy takes a second for 100 MB.
PINNED_BYTES = 16 << 20


class Machinery(msgspec.Struct, frozen=True, eq=False):
    """The owners that all worktrees share. `maker` names what decides the rows besides content."""

    pool: Pool
    writer: Writer
    readers: Readers
    registry: Registry
    cache: Cache
    scan: Executor
    maker: str
    feed: Feed = msgspec.field(default_factory=Feed)
    # Told that an index is another than before: whoever adds to it looks again.
    nudge: Callable[[], None] = lambda: None
    # Awaited before a rebuilt index takes the place of the current one.
    prepare: Callable[[str], Awaitable[None]] | None = None


class Pipeline:
    """See the module. `rules` is asked anew for each batch, so a changed configuration counts from the next."""

    def __init__(self, root: str, machinery: Machinery, rules: Callable[[], Rules]) -> None:
        self.root = root
        self.complete = False
        self.rebuilds = 0
        self.generation = 0
        self.committed = 0
        self.index_path = ""
        self.feed = machinery.feed
        self.nudge = machinery.nudge
        self._machinery = machinery
        self._surveyor = Surveyor(root, machinery.scan, machinery.readers, rules)
        self._lock = asyncio.Lock()
        self._rebuilding = asyncio.Lock()
        self._paths: set[str] = set()
        self._reading: Counter[str] = Counter()
        self._retired: dict[str, Callable[[str], object]] = {}
        self._alone = False
        self._total = 0
        self._parsed = 0
        self._committed = 0
        self._began_s = 0.0

    def use(self, machinery: Machinery) -> None:
        """Work with other machinery from the next step on."""
        self._machinery = machinery

    async def open(self) -> None:
        """Find the current index file, or begin a new one where there is none that can be used."""
        registry = self._machinery.registry
        entry = registry.get(self.root)
        path = registry.index_path(entry) if entry is not None else ""
        verdict = await self._in_scan(lambda: inspect(path, self._machinery.maker))
        if verdict.state != "good":
            end_file = set_aside if verdict.state == "damaged" else remove_index
            await self._switch(await self._new_file(), path, end_file)
            return
        self.index_path = path
        await self._begin()

    async def read(self, function: Callable[[Snapshot], T], deadline_s: float) -> T:
        """Run `function` on a snapshot of the current index; the file stays until it is done."""
        path = self.index_path
        self._reading[path] += 1
        try:
            return await self._machinery.readers.run(path, function, deadline_s=deadline_s)
        finally:
            self._reading[path] -= 1
            self._end_retired(path)

    async def unlike(self, watch: Watch) -> tuple[str, ...]:
        """Return the paths that came or went against the index; nothing is written."""
        return await self._surveyor.unlike(self.index_path, watch)

    async def digests(self, paths: Sequence[str]) -> list[Parsed]:
        """Read and hash files; nothing is parsed or written."""
        return await self._machinery.pool.digests(self.root, paths)

    @property
    def listing(self) -> Listing | None:
        """Return the last listing of the whole tree: nested repositories, what rules left out."""
        return self._surveyor.listing

    def pending(self) -> int:
        """Return how many files of the batch in work are not committed."""
        return max(0, self._total - self._committed)  # a rebuild counts here too

    def progress(self) -> Progress:
        """Return how far the batch in work is."""
        return Progress(phase="indexing", done=self._parsed, total=self._total)

    async def process(self, batch: Batch, watch: Watch) -> None:
        """Bring the index to what the batch's paths are now; committed when it returns."""
        async with self._lock:
            self._began_s = time.perf_counter()
            if batch.reconcile and not self.complete and await self._begin_as_sibling(batch, watch):
                return
            survey = await self._surveyor.survey(batch, self.index_path, self._paths, watch)
            await self._bring_up(survey, self.index_path, in_parts=not self.complete)
            if batch.reconcile and not self.complete:
                await self._write_job(self.index_path, mark_complete)
                self.complete = True
            if self._machinery.writer.pinned_bytes(self.index_path) > PINNED_BYTES:
                await self._leave_pinned_log()

    async def _leave_pinned_log(self) -> None:
        """Go on with a copy: another program's snapshot keeps the log of this file from being emptied."""
        old, name = self.index_path, self._machinery.registry.next_index_file(self.root)
        path = self._machinery.registry.absolute(name)
        if await self._in_scan(functools.partial(copy_index, old, path, self._machinery.maker, same_worktree=True)):
            log.info("%s: another program pins the log of %s; going on with a copy", self.root, old)
            await self._switch(name, old)

    async def rebuild(self, watch: Watch) -> None:
        """Fill a new file from the sources alone, compare it once more, and move the pointer to it.

        A rebuild that fails or is cancelled leaves no file.
        """
        async with self._rebuilding:
            began_s = time.perf_counter()
            self.feed.tell(self.root, "rebuilding")
            name = self._machinery.registry.next_index_file(self.root)
            path = self._machinery.registry.absolute(name)
            whole = Batch(reconcile=True)
            try:
                await self._create(path)
                survey = await self._surveyor.survey(whole, path, self._paths, watch)
                await self._bring_up(survey, path, in_parts=True, reuse=False)
                if self._machinery.prepare is not None:
                    await self._machinery.prepare(path)
                async with self._lock:
                    survey = await self._surveyor.survey(whole, path, self._paths, watch)
                    await self._bring_up(survey, path, in_parts=False)
                    await self._write_job(path, mark_complete)
                    await self._switch(name, self.index_path)
            finally:
                if self.index_path != path:
                    await self._retire(path, remove_index)
            self.rebuilds += 1
            self.feed.tell(self.root, "rebuilt", began_s=began_s)

    async def _begin_as_sibling(self, batch: Batch, watch: Watch) -> bool:
        """Fill a copy of a sibling's index and move the pointer to it; False: there is no sibling, or it is of no use.

        Until then nobody sees it: what the sibling holds is another worktree's.
        """
        registry, maker = self._machinery.registry, self._machinery.maker
        for sibling in () if self._alone else registry.siblings(self.root):
            name = registry.next_index_file(self.root)
            path = registry.absolute(name)
            try:
                if not await self._in_scan(functools.partial(copy_index, sibling, path, maker)):
                    continue
                survey = await self._surveyor.survey(batch, path, self._paths, watch)
                await self._bring_up(survey, path, in_parts=True)
                await self._write_job(path, mark_complete)
                await self._switch(name, self.index_path)
                return True
            finally:
                if self.index_path != path:
                    await self._retire(path, remove_index)
        return False

    async def replace_damaged(self, path: str) -> bool:
        """Set the damaged file at `path` aside and begin anew; False when another request has done so already.

        The caller asks for the batch that fills the new file.
        """
        async with self._lock:
            if self.index_path != path:
                return False
            # What is broken may have come from a sibling, and would come again.
            self._alone = True
            await self._switch(await self._new_file(), path, set_aside)
        self.rebuilds += 1
        return True

    async def _new_file(self) -> str:
        """Make the next empty index file; return its name relative to the state directory."""
        name = self._machinery.registry.next_index_file(self.root)
        await self._create(self._machinery.registry.absolute(name))
        return name

    async def _create(self, path: str) -> None:
        await self._in_scan(lambda: create_index(path, self._machinery.maker))

    async def _switch(self, name: str, old: str, end_file: Callable[[str], object] = remove_index) -> None:
        """Move the pointer to the index file `name`; the one at `old` ends when its last reader is done."""

        async def move() -> None:
            await self._machinery.registry.set_index(self.root, name)
            self.index_path = self._machinery.registry.absolute(name)
            await self._begin()
            if old:
                await self._retire(old, end_file)

        await _to_the_end(move())

    async def _retire(self, path: str, end_file: Callable[[str], object]) -> None:
        await asyncio.wrap_future(self._machinery.writer.close(path))
        self._retired[path] = end_file
        self._end_retired(path)

    async def _begin(self) -> None:
        """Read what the current index file says of itself."""
        self.complete = await self.read(is_complete, READ_S)
        self.generation = await self.read(lambda snapshot: snapshot.generation, READ_S)
        self._paths = set(await self.read(catalog.known_files, READ_S))

    def _end_retired(self, path: str) -> None:
        if path in self._retired and not self._reading[path]:
            end_file = self._retired.pop(path)
            del self._reading[path]
            self._machinery.readers.forget(path)
            self._machinery.scan.submit(end_file, path)

    async def _bring_up(self, survey: Survey, path: str, *, in_parts: bool, reuse: bool = True) -> None:
        """Read and parse the suspects, and write what they are; one transaction, or many when `in_parts`."""
        self._parsed, self._committed, self._total = 0, 0, len(survey.suspects)
        urgent = self._total <= URGENT_FILES
        writes = Writes(lambda changes: self._apply(path, changes, urgent), self._advance, in_parts=in_parts)
        try:
            await self._work_off(survey, writes, urgent=urgent, reuse=reuse)
        except asyncio.CancelledError:
            writes.cancel()
            raise
        finally:
            await writes.settle()
        self._parsed = self._committed = self._total

    async def _work_off(self, survey: Survey, writes: Writes, *, urgent: bool, reuse: bool) -> None:
        await writes.add(survey.changes)
        lookup = self._machinery.cache.have if reuse else _nothing
        known = survey.known
        suspects: Sequence[str] = survey.suspects
        while suspects:
            parsing = self._machinery.pool.parse(self.root, suspects, lookup=lookup, urgent=urgent)
            async with contextlib.aclosing(parsing):
                async for results in parsing:
                    self._parsed += len(results)
                    changes = [change for parsed in results for change in changes_for(parsed, known)]
                    await writes.add(changes, files=len(results))
            # The cache may have dropped an entry between its promise and the write, or a row was not as believed.
            suspects = await writes.finish()
            lookup, known = _nothing, {}
        await writes.finish()

    async def _apply(self, path: str, changes: Sequence[Change], urgent: bool) -> tuple[str, ...]:
        """Commit `changes` as one transaction; return the paths that must be parsed anew."""
        cache = self._machinery.cache

        def job(connection: WriterConnection) -> Generator[None, None, Applied]:
            return apply(connection, changes, cache)

        queued: Future[Applied] = self._machinery.writer.submit(path, job, urgent=urgent)
        applied = await asyncio.wrap_future(queued)
        if path == self.index_path:
            self._note(changes)
            self.generation = applied.generation
        self.committed += applied.files
        if path == self.index_path and self.feed.watched(self.root):
            self._tell(changes, applied)
        return applied.missing

    def _tell(self, changes: Sequence[Change], applied: Applied) -> None:
        changed = {change.path for change in changes if isinstance(change, Put | Skip)} - set(applied.missing)
        removed = {change.path for change in changes if isinstance(change, Remove)}
        if changed or removed:
            self.feed.committed(self.root, changed, removed, self._began_s, applied.generation)
        self._began_s = time.perf_counter()

    def _advance(self, files: int) -> None:
        self._committed += files

    def _note(self, changes: Sequence[Change]) -> None:
        for change in changes:
            if isinstance(change, Remove):
                self._paths.discard(change.path)
            elif isinstance(change, Put | Skip | Touch):
                self._paths.add(change.path)

    async def _write_job(self, path: str, job: Callable[[WriterConnection], None]) -> None:
        queued: Future[None] = self._machinery.writer.submit(path, job, urgent=True)
        await asyncio.wrap_future(queued)

    async def _in_scan(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._machinery.scan, function)


async def _to_the_end(work: Coroutine[object, object, None]) -> None:
    """Await `work`; whoever is cancelled meanwhile is so once it is done."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait({task})
        raise


async def _nothing(_keys: Sequence[bytes]) -> frozenset[bytes]:
    return frozenset()
