"""One database file as the writer thread sees it: its connection, its one open transaction, its log.

Everything here runs in the writer thread and knows nothing of queues.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Generator
from concurrent.futures import Future
from types import GeneratorType
from typing import Any

import apsw

from ctxd.store.driver import BUSY_MS, WriterConnection, open_writer, translate
from ctxd.store.seals import seal, unseal
from ctxprotocol.errors import IndexUnusable

# A lock of another program that lasts longer is told to whoever waits; the next job tries again.
LOCKED_S = 60.0
# After a BUSY (250 ms in SQLite) other files get as long before this one is tried again.
_BUSY_PAUSE_S = 0.25
# Pages in the log before a checkpoint copies them into the file: 4 MB.
_LOG_PAGES = 1000
_PAGE_BYTES = 4096
# Calm before the truncating checkpoint, and the pause after one that a reader's snapshot held up.
_CALM_S = 1.0
_PINNED_PAUSE_S = 5.0
# The registry is written by others, too, before this thread has it.
_SEALED = "index-"


class Job:
    """One transaction to be; `generator` is set once it runs in slices."""

    __slots__ = ("future", "generator", "locked_since", "run", "started", "urgent")

    def __init__(self, run: Callable[[WriterConnection], Any], urgent: bool) -> None:
        self.run = run
        self.urgent = urgent
        self.future: Future[Any] = Future()
        self.generator: Generator[None, None, Any] | None = None
        self.started = False
        self.locked_since = 0.0


class Lane:
    """The connection to `path`, opened by the first job. `not_before` is when a lock is worth another try.

    `pinned_bytes` is how much of the log a checkpoint had to leave, since a snapshot needs what is below it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.not_before = 0.0
        self.pinned_bytes = 0
        self._connection: WriterConnection | None = None
        self._log_pages = 0
        self._to_empty = False  # the log holds something since the last truncating checkpoint
        self._look_at = 0.0

    def slice(self, job: Job) -> bool:
        """Run one slice of `job`, the only one with a transaction here; True when its future is done."""
        if not job.started and not job.future.set_running_or_notify_cancel():
            return True
        job.started = True
        try:
            connection = self._begin()
        except (apsw.BusyError, apsw.LockedError) as error:
            return self._locked(job, error)
        except BaseException as error:  # every outcome belongs to whoever waits
            return self._fail(job, error)
        try:
            if job.generator is None:
                result = job.run(connection)
                if isinstance(result, GeneratorType):
                    job.generator = result
            if job.generator is not None:
                try:
                    next(job.generator)
                    return False
                except StopIteration as finished:
                    result = finished.value
            connection.execute("COMMIT")
        except BaseException as error:
            return self._fail(job, error)
        self._to_empty = True
        self._look_at = time.monotonic() + _CALM_S
        job.future.set_result(result)
        return True

    def abandon(self, job: Job, error: BaseException) -> None:
        """Roll `job` back, begun or not, and fail it; one that has ended keeps its outcome."""
        if job.future.done():
            return
        if job.started or job.future.set_running_or_notify_cancel():
            self._fail(job, error)

    def checkpoint_if_long(self) -> None:
        """Copy a long log into the file; between transactions only."""
        if self._log_pages > _LOG_PAGES:
            self._checkpoint(apsw.SQLITE_CHECKPOINT_PASSIVE)

    def settle(self, now: float) -> float | None:
        """Empty the log after a time of calm; return the seconds until this wants another look, None = never."""
        if not self._to_empty or self._connection is None:
            return None
        if now < self._look_at:
            return self._look_at - now
        if not self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE):
            self._look_at = now + _PINNED_PAUSE_S
            return _PINNED_PAUSE_S
        self._to_empty = False
        self._connection.names.clear()
        with contextlib.suppress(apsw.Error):
            self._connection.execute("PRAGMA shrink_memory")
        return None

    def close(self) -> None:
        """Empty the log, close, and seal the file: that is how integrity.inspect knows a clean end."""
        if self._connection is None:
            return
        emptied = not self._to_empty or self._checkpoint(apsw.SQLITE_CHECKPOINT_TRUNCATE)
        self._drop()
        if emptied and os.path.basename(self.path).startswith(_SEALED):
            seal(self.path)

    def _begin(self) -> WriterConnection:
        if self._connection is None:
            unseal(self.path)
            self._connection = open_writer(self.path)
            # Instead of SQLite's own checkpoint, which would be part of somebody's COMMIT.
            self._connection.set_wal_hook(self._on_commit)
        if not self._connection.in_transaction:
            self._connection.execute("BEGIN IMMEDIATE")
        return self._connection

    def _on_commit(self, _connection: apsw.Connection, _name: str, pages: int) -> int:
        self._log_pages = pages
        return apsw.SQLITE_OK

    def _locked(self, job: Job, error: apsw.Error) -> bool:
        now = time.monotonic()
        job.locked_since = job.locked_since or now
        self.not_before = now + _BUSY_PAUSE_S
        if now - job.locked_since < LOCKED_S:
            return False
        return self._fail(job, IndexUnusable(f"{self.path} is locked by another program: {error}"))

    def _fail(self, job: Job, error: BaseException) -> bool:
        if job.generator is not None:
            job.generator.close()
        self._roll_back()
        if isinstance(error, apsw.Error):
            translated = translate(error, self.path)
            translated.__cause__ = error
            error = translated
        job.future.set_exception(error)
        return True

    def _roll_back(self) -> None:
        connection = self._connection
        if connection is None:
            return
        connection.names.clear()
        if connection.in_transaction:
            try:
                connection.execute("ROLLBACK")
            except apsw.Error:
                self._drop()  # takes the transaction along; the next job opens another connection

    def _drop(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(apsw.Error):
                self._connection.close(True)
            self._connection = None

    def _checkpoint(self, mode: int) -> bool:
        """Copy the log into the file; False when a snapshot, a lock or a full disk was in the way.

        Then the log keeps what was not copied, and the next job meets the same trouble and reports it.
        """
        assert self._connection is not None
        self._log_pages = 0
        self._connection.set_busy_timeout(0)
        try:
            log, copied = self._connection.wal_checkpoint(mode=mode)
            self.pinned_bytes = (log - copied) * _PAGE_BYTES
            return log == copied
        except apsw.Error:
            return False
        finally:
            self._connection.set_busy_timeout(BUSY_MS)
