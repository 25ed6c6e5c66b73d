"""The writer thread: every read-write connection of the process, one bounded queue, slices of 50 ms at most.

A job is one transaction; a generator job spreads it over many slices, and slices for other files run between.
Files with a save in their queue go before files with bulk work only: a save behind a bulk job of its own
worktree pulls that job along. A file that another program has locked waits by the side. Checkpoints belong to
this thread too: between jobs while it is busy, truncating ones when it is idle.
"""

from __future__ import annotations

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TypeVar

from ctxd.store.cache import Cache
from ctxd.store.driver import WriterConnection
from ctxd.store.lane import Job, Lane
from ctxprotocol.errors import Busy, IndexUnusable

log = logging.getLogger("ctxd.store")

T = TypeVar("T")

# Jobs in the queue; the pipeline has a handful per worktree, so this many means that somebody does not wait.
MAX_JOBS = 10_000
# After a fault of this module itself: long enough that one that comes again and again costs nothing but lines in the
# log.
FAULT_PAUSE_S = 1.0


class _Queue:
    """What waits for one file. `active` has the file's transaction."""

    def __init__(self, path: str) -> None:
        self.lane = Lane(path)
        self.active: Job | None = None
        self.urgent: deque[Job] = deque()
        self.bulk: deque[Job] = deque()
        self.closing: list[Future[None]] = []

    def has_work(self) -> bool:
        return bool(self.active or self.urgent or self.bulk or self.closing)

    def is_urgent(self) -> bool:
        return bool(self.urgent) or (self.active is not None and self.active.urgent)

    def take(self) -> Job | None:
        if self.active is None and (self.urgent or self.bulk):
            self.active = (self.urgent or self.bulk).popleft()
        return self.active


class Writer:
    """The thread. `cache` is its companion: used by its jobs, flushed when idle, closed at the end."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache
        self._condition = threading.Condition()
        self._queues: dict[str, _Queue] = {}  # least recently served first
        self._count = 0
        self._stop_by: float | None = None
        self._thread = threading.Thread(target=self._work, name="ctxd-writer", daemon=True)
        self._thread.start()

    def submit(
        self, path: str, job: Callable[[WriterConnection], T | Generator[None, None, T]], *, urgent: bool
    ) -> Future[T]:
        """Queue `job` as one transaction on the existing file at `path`; await by asyncio.wrap_future.

        A generator yields between slices. Raises Busy when the queue is full or the writer stops. The future
        fails with what the job raised, or with IndexUnusable (disk full, locked for a minute) or
        IndexDamaged; the transaction is then rolled back, and later jobs are tried as if nothing had been.
        """
        queued = Job(job, urgent)
        with self._condition:
            if self._stop_by is not None:
                raise Busy("the daemon is stopping")
            if self._count >= MAX_JOBS:
                raise Busy(f"{MAX_JOBS} writes are waiting")
            queue = self._queues.setdefault(path, _Queue(path))
            (queue.urgent if urgent else queue.bulk).append(queued)
            self._count += 1
            self._condition.notify()
        return queued.future

    def close(self, path: str) -> Future[None]:
        """Queue the end of the connection to `path`, after what is queued there: empty the log, close."""
        done: Future[None] = Future()
        with self._condition:
            self._queues.setdefault(path, _Queue(path)).closing.append(done)
            self._condition.notify()
        return done

    def queued(self) -> int:
        """Return how many jobs wait or run."""
        return self._count

    def pinned_bytes(self, path: str) -> int:
        """Return how much of a file's log the last checkpoint had to leave for somebody's snapshot."""
        queue = self._queues.get(path)
        return queue.lane.pinned_bytes if queue is not None else 0

    def stop(self, drain_s: float = 10.0) -> None:
        """Do what is queued, empty the logs, close everything, join; blocks. What is left after `drain_s`
        fails."""
        with self._condition:
            self._stop_by = time.monotonic() + drain_s
            self._condition.notify()
        self._thread.join()

    def _work(self) -> None:
        more = True
        while more:
            try:
                more = self._turn()
            except BaseException:  # a thread that ends silently would have every save wait for ever
                self._begin_anew()
        for queue in self._queues.values():
            self._end(queue)
        self.cache.close()

    def _turn(self) -> bool:
        """Serve one file, or settle and wait; False when it is time to end."""
        with self._condition:
            queue = self._choose()
            if queue is None and self._is_over():
                return False
        if queue is not None:
            self._serve(queue)
            return True
        wait_s = self._settle()
        with self._condition:
            if self._choose() is None and not self._is_over():
                self._condition.wait(wait_s)
        return True

    def _begin_anew(self) -> None:
        """Fail all that waits, close everything, and go on: what was not committed is owed and comes again."""
        name = secrets.token_hex(4)
        log.exception("unexpected failure %s of the writer", name)
        with self._condition:
            queues, self._queues = self._queues, {}
        for queue in queues.values():
            self._end(queue, f"unexpected failure {name}: the log has it")
        with self._condition:
            if self._stop_by is None:
                self._condition.wait(FAULT_PAUSE_S)

    def _is_over(self) -> bool:
        if self._stop_by is None:
            return False
        return time.monotonic() >= self._stop_by or not any(q.has_work() for q in self._queues.values())

    def _choose(self) -> _Queue | None:
        """Return the file to serve next; None when none can be served now."""
        now = time.monotonic()
        if self._stop_by is not None and now >= self._stop_by:
            return None
        ready = [q for q in self._queues.values() if q.has_work() and q.lane.not_before <= now]
        return next((q for q in ready if q.is_urgent()), ready[0] if ready else None)

    def _serve(self, queue: _Queue) -> None:
        with self._condition:
            path = queue.lane.path
            self._queues[path] = self._queues.pop(path)
            job = queue.take()
            if job is None:
                del self._queues[path]
        if job is None:
            self._end(queue)
        elif queue.lane.slice(job):
            with self._condition:
                queue.active = None
                self._count -= 1
            queue.lane.checkpoint_if_long()

    def _settle(self) -> float | None:
        """Use a time of nothing to do; return the seconds until there is something again, None = when
        asked."""
        with self._condition:
            queues = list(self._queues.values())
        now = time.monotonic()
        waits = [q.lane.not_before - now if q.has_work() else q.lane.settle(now) for q in queues]
        waits.append(self.cache.settle(now))
        if self._stop_by is not None:
            waits.append(self._stop_by - now)
        known = [wait for wait in waits if wait is not None]
        return max(0.0, min(known)) if known else None

    def _end(self, queue: _Queue, reason: str = "the daemon is stopping") -> None:
        """Close a file; jobs are left only when the time to stop has run out, or after a fault."""
        for job in [queue.active, *queue.urgent, *queue.bulk]:
            if job is not None:
                queue.lane.abandon(job, IndexUnusable(reason))
                self._count -= 1
        queue.lane.close()
        for done in queue.closing:
            if done.set_running_or_notify_cancel():
                done.set_result(None)
