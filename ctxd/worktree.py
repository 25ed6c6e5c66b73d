"""One attached worktree: its watcher, its batches, its barrier, and what is true of its index.

Owned by worktrees; runs on the loop. The watcher's descriptor is read here; scanning, parsing, writing happen where
their owners run. One batch is in work at a time; what comes meanwhile is the next.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence

import msgspec

from ctxd.inode import inode
from ctxd.lookout import Lookout, OpenWatcher
from ctxd.looks import Looks
from ctxd.model import Batch, FileEvent, Freshness, Overflow
from ctxd.pipeline import Pipeline
from ctxd.state import Audited
from ctxd.store.driver import IndexDamaged
from ctxd.watch.barrier import Barrier
from ctxd.watch.debounce import STORM, Debouncer
from ctxd.watch.watcher import Watcher
from ctxprotocol.errors import CtxError, IndexUnusable, RootGone
from ctxprotocol.messages import Progress

log = logging.getLogger("ctxd.worktree")

Report = Callable[[Progress], None]

PROGRESS_S = 0.1
# After a failure (disk full, root unreadable) the batch is tried again by the next request, or after this.
RETRY_S = 5.0


def _now_ms() -> float:
    return time.monotonic() * 1e3


class Worktree:
    """See the module. `pipeline` does the work of a batch; `open_watcher` makes the event source."""

    def __init__(self, root: str, pipeline: Pipeline, open_watcher: OpenWatcher, looks: Looks) -> None:
        self.root = root
        self._looks = looks
        self.pipeline = pipeline
        self.overflows = 0
        self.trouble = ""
        self.last_error = ""
        self.lost_reason = ""
        self.last_batch = 0.0
        self.last_event = 0.0
        self.audited = Audited()
        self.told = Freshness(fresh=True)
        self._identity = inode(root)
        self._debouncer = Debouncer()
        self._loop = asyncio.get_running_loop()
        self._barrier = Barrier(self._loop.create_future)
        self._failures = 0
        self._rebuilds: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._hurried = False
        self._lost = False
        self.closed = False
        self._not_before_ms = 0.0
        self._lookout = Lookout(root, open_watcher, self._take_in)
        # What happened while nobody watched is found by comparing: the first batch of every worktree.
        self.ask()
        self._task = self._loop.create_task(self._run(), name=f"worktree {root}")

    @property
    def watcher(self) -> Watcher:
        """Return the event source of the moment."""
        return self._lookout.watcher

    def settled(self) -> bool:
        """Say whether everything that was seen is in the index."""
        return self._barrier.passed(self._barrier.seen)

    def idle(self) -> bool:
        """Say whether closing it would interrupt nothing: all is in the index, or cannot be brought there."""
        return self.settled() or bool(self.trouble)

    def standing(self) -> Freshness:
        """Return how the index stands now, without asking the kernel for more."""
        if not self.pipeline.complete:
            return Freshness(fresh=False, reason="indexing", pending=self.pending())
        if not self.settled():
            reason = self.trouble or self.lost_reason or "catching up"
            return Freshness(fresh=False, reason=reason, pending=self.pending())
        return Freshness(fresh=True)

    def pending(self) -> int:
        """Return how many paths have been seen and are not committed."""
        return self.pipeline.pending() + len(self._debouncer)

    async def fresh(self, within_ms: int, index_wait_ms: int, report: Report) -> Freshness:
        """Take in all that the kernel has queued, commit it, and say what that proves.

        Waits `within_ms` at most; for a first index `index_wait_ms` (-1 = until it is done, with progress reports).
        Raises RootGone, IndexUnusable.
        """
        await self._check_root()
        await self._lookout.drain()
        if self._lookout.retry() or not self.watcher.trusted:
            self.ask()
        number, failures = self._barrier.seen, self._failures
        if not self._barrier.passed(number):
            self._hurried = True
            self._wake.set()
            first = not self.pipeline.complete
            wait_ms = index_wait_ms if first else within_ms
            await self._wait(number, wait_ms, report)
        if not self.pipeline.complete and self._failures > failures:
            raise IndexUnusable(f"{self.root} cannot be indexed: {self.trouble}")
        if not self.pipeline.complete:
            return self.standing()
        if not self._barrier.passed(number):
            return Freshness(fresh=False, reason=self.trouble or "catching up", pending=self.pending())
        return Freshness(fresh=True)

    async def rebuild(self, report: Report) -> None:
        """Fill a new index beside the current one and switch to it; requests are served meanwhile."""
        task = self._loop.create_task(self.pipeline.rebuild(self._lookout.watch()))
        self._rebuilds.add(task)
        task.add_done_callback(self._rebuilds.discard)
        try:
            while not (await asyncio.wait({task}, timeout=PROGRESS_S))[0]:
                report(self.pipeline.progress())
        finally:
            task.cancel()
        if task.cancelled():
            raise IndexUnusable(f"{self.root} was closed during the rebuild", "ask again")
        task.result()
        # Whatever changed during the rebuild went into the old index: compare once more.
        self.ask()

    def damaged(self, reason: str) -> None:
        """Note that the index file turned out to be broken."""
        log.error("%s: %s", self.root, reason)
        self.pipeline.feed.tell(self.root, "damaged", reason)
        self.last_error = reason

    async def mend(self, path: str) -> None:
        """Replace the damaged index file at `path`; the next barrier waits until the new one is filled.

        Raises IndexUnusable for a worktree that was closed meanwhile: its file is another's, or rightly gone.
        """
        if self.closed:
            raise IndexUnusable(f"{self.root} was closed meanwhile", "ask again")
        if await self.pipeline.replace_damaged(path):
            self.ask()

    def ask(self) -> None:
        """Have the whole tree compared by its stats; the next answer waits for it."""
        self._debouncer.ask_reconcile(_now_ms())
        self._barrier.see()
        self._wake.set()

    def lose(self, reason: str) -> None:
        """Treat the worktree's events as incomplete: the next answer waits for a checksum scan."""
        self._take_in(Overflow(reason))

    def seen(self) -> int:
        """Return a number that every event makes larger."""
        return self._barrier.seen

    async def take_in_all(self) -> None:
        """Take in all that the kernel has queued."""
        await self._lookout.drain()

    async def compare(self) -> None:
        """Have the whole tree compared by its stats, and wait for it."""
        self.ask()
        await self._wait(self._barrier.seen, -1, _silent)

    async def unlike(self) -> tuple[str, ...]:
        """Return the paths that came or went against the index; all directories are watched afterwards."""
        return await self.pipeline.unlike(self._lookout.watch())

    async def take_found(self, paths: Sequence[str], *, new: int) -> bool:
        """Look at what the audit found, `new` files of it for the first time; say whether that is in the index now."""
        self.audited = msgspec.structs.replace(self.audited, found=self.audited.found + new)
        if new:
            self.pipeline.feed.tell(self.root, "audited", count=new)
        if len(paths) >= STORM:  # such a number only comes or goes, which a listing shows
            self.ask()
        for path in paths if len(paths) < STORM else ():
            self._debouncer.add(FileEvent(path, "file"), _now_ms())
            self._barrier.see()
        number = self._barrier.seen
        self._hurried = True
        self._wake.set()
        await self._wait(number, -1, _silent)
        return self._barrier.passed(number)

    def audited_whole(self) -> None:
        """Take note that a cycle of the audit is at its end."""
        self.audited = msgspec.structs.replace(self.audited, cycles=self.audited.cycles + 1, ended_s=time.time())

    async def close(self) -> None:
        """Stop watching and working. What was not committed is found again by the next open."""
        self.closed = True
        working = {self._task, *self._rebuilds}
        for task in working:
            task.cancel()
        # Before anything is awaited: whoever waits for the end may be cancelled, and the watcher must not stay.
        self._lookout.close()
        self._barrier.release()
        await asyncio.wait(working)

    def _take_in(self, event: FileEvent | Overflow) -> None:
        if isinstance(event, Overflow):
            self._note_loss(event.reason)
        self.last_event = time.monotonic()
        self._debouncer.add(event, _now_ms())
        self._barrier.see()
        self._wake.set()

    def _note_loss(self, reason: str) -> None:
        """Count a loss, but once: a daemon that slept sees the gap in time and the full queue that came of it."""
        log.warning("%s: events lost: %s", self.root, reason)
        self.lost_reason = reason
        if not self._lost:
            self._lost = True
            self.overflows += 1
            self.pipeline.feed.tell(self.root, "lost", reason)

    async def _check_root(self) -> None:
        # A file system whose events count is a local one, which answers.
        trusted = self.watcher.trusted
        found = inode(self.root) if trusted else await self._looks.ask(self.root, lambda: inode(self.root))
        if found is None:
            raise RootGone(f"{self.root} does not exist any more", "ctx forget deletes what was indexed of it")
        if found != self._identity:
            self._identity = found
            self.lose("another directory stands at the root")

    async def _wait(self, number: int, wait_ms: int, report: Report) -> None:
        """Wait until `number` is committed or its batch failed, at most `wait_ms`."""
        future = self._barrier.wait(number)
        ends = None if wait_ms < 0 else self._loop.time() + wait_ms / 1e3
        while not future.done():
            step = PROGRESS_S if ends is None else min(PROGRESS_S, ends - self._loop.time())
            if step <= 0:
                future.cancel()
                return
            await asyncio.wait({future}, timeout=step)
            if not future.done():
                report(self.pipeline.progress())

    async def _run(self) -> None:
        while True:
            await self._until_due()
            number = self._barrier.seen
            batch = self._debouncer.take()
            began_s, before = time.perf_counter(), self.pipeline.committed
            try:
                await self._process(batch)
            except (CtxError, OSError) as error:
                self._failed(batch, error)
            except Exception as error:
                log.exception("%s: a batch failed", self.root)
                self._failed(batch, error)
            else:
                self.trouble = ""
                self.lost_reason = self.lost_reason if self._lost else ""
                self.last_batch = time.time()
                self.pipeline.nudge()
                self._barrier.commit(number)
                if batch.reconcile:
                    count = self.pipeline.committed - before
                    self.pipeline.feed.tell(self.root, "compared", began_s=began_s, count=count)
            self._tell_standing()

    def _tell_standing(self) -> None:
        """Tell those who watch when this became fresh, or is so no more."""
        now = self.standing()
        if (now.fresh, now.reason) != (self.told.fresh, self.told.reason):
            self.told = now
            self.pipeline.feed.stands(self.root, now)

    async def _until_due(self) -> None:
        """Wait until the debouncer has a batch whose time has come, or which a request asks for."""
        while True:
            self._wake.clear()
            due_ms = self._debouncer.due_ms()
            if due_ms is None:
                self._hurried = False
            elif self._hurried or _now_ms() >= max(due_ms, self._not_before_ms):
                self._hurried = False
                return
            wait_s = None if due_ms is None else (max(due_ms, self._not_before_ms) - _now_ms()) / 1e3
            try:
                async with asyncio.timeout(wait_s):
                    await self._wake.wait()
            except TimeoutError:
                continue

    async def _process(self, batch: Batch) -> None:
        if self._lost:
            self._lost = False
            self._lookout.renew()
        path, watcher = self.pipeline.index_path, self.watcher
        try:
            await self.pipeline.process(batch, self._lookout.watch())
            if batch.reconcile:
                self._lookout.proved(watcher)
        except IndexDamaged as damage:
            self.damaged(damage.message)
            await self.pipeline.replace_damaged(path)
            await self.pipeline.process(Batch(reconcile=True, checksums=batch.checksums), self._lookout.watch())

    def _failed(self, batch: Batch, error: Exception) -> None:
        """Owe the batch: the index is as before it, so comparing the whole tree makes up for it.

        The next request tries again at once; by itself it happens after RETRY_S.
        """
        self.trouble = error.message if isinstance(error, CtxError) else f"{type(error).__name__}: {error}"
        self.last_error = self.trouble
        self._failures += 1
        self.pipeline.feed.tell(self.root, "failed", self.trouble)
        self._not_before_ms = _now_ms() + RETRY_S * 1e3
        self._debouncer.ask_reconcile(_now_ms(), checksums=batch.checksums)
        self._barrier.release()


def _silent(_progress: Progress) -> None:
    """Report nothing."""
