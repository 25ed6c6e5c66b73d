"""The reader threads: a bounded set of read-only connections, one read transaction per request, ended at its
deadline.

Owned by the composition root. `run` is called on the event loop; functions run in a thread `ctxd-reader-N`,
which alone touches its connections. A statement is interrupted by a progress handler that looks at the job's
deadline and at whether anybody still waits: `sqlite3_interrupt` could hit the next job instead.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import queue
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

import apsw

from ctxd.store.driver import IndexDamaged, open_reader, translate
from ctxd.store.snapshot import Snapshot
from ctxd.store.texts import shown
from ctxprotocol.errors import DeadlinePassed, IndexUnusable

T = TypeVar("T")

THREADS = 4
# Connections that one thread keeps open; each costs up to 2 MB of cache and three descriptors.
OPEN_PER_THREAD = 4
# A thread without work for this long closes its connections: an idle daemon holds no caches.
IDLE_S = 30.0
# Virtual machine steps between two looks at the clock: about 0.1 ms.
_STEPS = 2000
_BUSY_MS = 50


class _Job:
    """One function to run on one file; `abandoned` is set by the loop when nobody waits any more."""

    __slots__ = ("abandoned", "deadline", "function", "future", "path")

    def __init__(self, path: str, function: Callable[[apsw.Connection], Any], deadline: float) -> None:
        self.path = path
        self.function = function
        self.deadline = deadline
        self.future: Future[Any] = Future()
        self.abandoned = False

    def over(self) -> bool:
        return self.abandoned or time.monotonic() >= self.deadline


class _Opened:
    """A connection and the file that it was opened on, to notice when another file takes that name."""

    __slots__ = ("connection", "identity")

    def __init__(self, connection: apsw.Connection, identity: tuple[int, int]) -> None:
        self.connection = connection
        self.identity = identity


class Readers:
    """The pool. `forget` before a file is removed; `stop` at the end."""

    def __init__(self, threads: int = THREADS) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._forgotten: dict[str, int] = {}
        names = [f"ctxd-reader-{n}" for n in range(threads)]
        self._threads = [_Reader(name, self._jobs, self._forgotten, self._idle) for name in names]
        for thread in self._threads:
            thread.start()

    async def run(self, path: str, function: Callable[[Snapshot], T], *, deadline_s: float) -> T:
        """Run `function` on one snapshot of the index file at `path`; seconds from now.

        Raises DeadlinePassed, IndexUnusable (IndexDamaged when the file must be built anew), and what it
        raises.
        """

        def on_snapshot(connection: apsw.Connection) -> T:
            return function(Snapshot(connection, _generation(connection, path)))

        return await self.read(path, on_snapshot, deadline_s=deadline_s)

    async def read(self, path: str, function: Callable[[apsw.Connection], T], *, deadline_s: float) -> T:
        """Run `function` in one read transaction of any database file; like `run` without a generation."""
        job = _Job(path, function, time.monotonic() + deadline_s)
        self._jobs.put(job)
        try:
            async with asyncio.timeout(deadline_s):
                result: T = await asyncio.wrap_future(job.future)
                return result
        except TimeoutError:
            raise DeadlinePassed(f"no answer within {deadline_s:g} s") from None
        finally:
            job.abandoned = True

    def forget(self, path: str) -> None:
        """Have every thread close its connection to `path` before its next job, or when it is idle."""
        self._forgotten[path] = self._forgotten.get(path, 0) + 1

    def released(self) -> int:
        """Return how often a thread was idle and closed its connections: their memory may be given back since."""
        return sum(thread.released for thread in self._threads)

    def _idle(self) -> None:
        """One thread has closed its connections: when all have, nobody asks, and no text is kept for them."""
        if not any(thread.opened for thread in self._threads):
            shown.forget()

    def stop(self) -> None:
        """End the threads once they have done what is queued; blocks for at most 5 s each."""
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(5.0)


class _Reader(threading.Thread):
    """One thread and its connections, least recently used first."""

    def __init__(
        self,
        name: str,
        jobs: queue.SimpleQueue[_Job | None],
        forgotten: dict[str, int],
        idle: Callable[[], None],
    ) -> None:
        super().__init__(name=name, daemon=True)
        self._jobs = jobs
        self._idle = idle
        self._forgotten = forgotten
        self._seen: dict[str, int] = {}
        self.opened: OrderedDict[str, _Opened] = OrderedDict()
        self._job: _Job | None = None
        self.released = 0

    def run(self) -> None:
        try:
            while True:
                try:
                    job = self._jobs.get(timeout=IDLE_S if self.opened else None)
                except queue.Empty:
                    self._close_all()
                    self._idle()
                    self.released += 1
                    continue
                if job is None:
                    return
                self._serve(job)
                del job  # a result must not live until the next request
        finally:
            self._close_all()

    def _serve(self, job: _Job) -> None:
        if not job.future.set_running_or_notify_cancel():
            return
        self._job = job
        try:
            result = self._transaction(job)
        except BaseException as error:  # every outcome belongs to whoever waits
            job.future.set_exception(error)
        else:
            job.future.set_result(result)
        finally:
            self._job = None

    def _transaction(self, job: _Job) -> object:
        try:
            connection = self._connect(job)
            try:
                self._begin(connection, job)
                return job.function(connection)
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
        except (apsw.InterruptError, apsw.BusyError, apsw.LockedError) as error:
            raise DeadlinePassed("the time for this request is over") from error
        except apsw.Error as error:
            self._close(job.path)
            raise translate(error, job.path) from error
        except IndexDamaged:
            self._close(job.path)
            raise
        except (zlib.error, UnicodeDecodeError) as error:  # all that is stored was compressed or encoded by us
            self._close(job.path)
            raise IndexDamaged(f"index file damaged: {job.path}: {error}") from error

    def _begin(self, connection: apsw.Connection, job: _Job) -> None:
        # BEGIN reads nothing: the first SELECT takes the snapshot, and may meet a log in recovery.
        connection.execute("BEGIN")
        while True:
            try:
                connection.execute("SELECT 1 FROM sqlite_schema LIMIT 1").fetchall()
                return
            except (apsw.BusyError, apsw.LockedError):
                if job.over():
                    raise

    def _connect(self, job: _Job) -> apsw.Connection:
        path = job.path
        identity = _identity(path)
        self._close_forgotten()
        known = self.opened.get(path)
        if known is not None and known.identity == identity:
            self.opened.move_to_end(path)
            return known.connection
        self._close(path)
        while len(self.opened) >= OPEN_PER_THREAD:
            self._close(next(iter(self.opened)))
        # Read before it is opened: what is forgotten from here on is closed by the next job.
        self._seen[path] = self._forgotten.get(path, 0)
        connection = open_reader(path)
        connection.set_busy_timeout(_BUSY_MS)
        connection.set_progress_handler(self._over, _STEPS)
        self.opened[path] = _Opened(connection, identity)
        return connection

    def _close_forgotten(self) -> None:
        """Give up what has been forgotten since it was opened: a removed file keeps its room on disk until then."""
        for path in [path for path in self.opened if self._seen[path] != self._forgotten.get(path, 0)]:
            self._close(path)

    def _over(self) -> bool:
        return self._job is not None and self._job.over()

    def _close(self, path: str) -> None:
        opened = self.opened.pop(path, None)
        self._seen.pop(path, None)
        if opened is not None:
            with contextlib.suppress(apsw.Error):
                opened.connection.close()

    def _close_all(self) -> None:
        for path in list(self.opened):
            self._close(path)


def _identity(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise IndexDamaged(f"index file damaged: {path} is gone") from None
    except OSError as error:
        raise IndexUnusable(f"cannot open {path}: {error.strerror}") from error
    return found.st_dev, found.st_ino


def _generation(connection: apsw.Connection, path: str) -> int:
    try:
        value = connection.execute("SELECT value FROM meta WHERE key='generation'").get
    except apsw.SQLError as error:
        raise IndexDamaged(f"index file damaged: {path}: {error}") from error
    if not isinstance(value, int):
        raise IndexDamaged(f"index file damaged: {path}: no generation")
    return value
