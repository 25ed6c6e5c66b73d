"""The writer thread: every read-write connection of the process, one bounded queue, slices of 50 ms at
most."""

from __future__ import annotations

from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TypeVar

from ctxd.store.cache import Cache
from ctxd.store.driver import WriterConnection

T = TypeVar("T")


class Writer:
    """The thread. `cache` is its companion: used by its jobs, flushed when idle, closed at the end."""

    cache: Cache

    def __init__(self, cache: Cache) -> None:
        raise NotImplementedError

    def submit(
        self, path: str, job: Callable[[WriterConnection], T | Generator[None, None, T]], *, urgent: bool
    ) -> Future[T]:
        """Queue `job` as one transaction on the existing file at `path`; await by asyncio.wrap_future.

        A generator yields between slices. Raises Busy when the queue is full or the writer stops.
        """
        raise NotImplementedError

    def close(self, path: str) -> Future[None]:
        """Queue the end of the connection to `path`, after what is queued there: checkpoint, mark clean,
        close."""
        raise NotImplementedError

    def stop(self, drain_s: float = 10.0) -> None:
        """Do what is queued, checkpoint, close everything, join; blocks. What is left after the time
        fails."""
        raise NotImplementedError
