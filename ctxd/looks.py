"""Looks at the file system that may never end: a dead network mount holds whoever asks, and must hold nobody else.

Owned by the worktrees; asked on the loop, done in threads of its own that end with the process, come what may. A
place whose look is overdue is not asked again until that look has come back.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

from ctxprotocol.errors import RootGone

T = TypeVar("T")

# Longer than a sleeping disk needs to wake, and as long as a question waits for freshness.
LOOK_S = 5.0
# After this the thread counts as held, and another one goes on with the others' looks.
HELD_S = 0.1
# As many places as this may be dead at once.
MOST_THREADS = 8


class Looks:
    """The threads: one, and more only while that one is held."""

    def __init__(self, deadline_s: float = LOOK_S, most: int = MOST_THREADS) -> None:
        self._deadline_s = deadline_s
        self._most = most
        self._overdue: set[str] = set()
        self._condition = threading.Condition()
        self._jobs: deque[Callable[[], None]] = deque()
        self._threads = 0
        self._idle = 0
        self._ended = False

    async def ask(self, place: str, look: Callable[[], T]) -> T:
        """Return what `look` returns or raise what it raises; RootGone when it does not come back in time."""
        if place in self._overdue:
            raise self._dead(place)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._put(lambda: _run(look, loop, future))
        try:
            if not (await asyncio.wait({future}, timeout=HELD_S))[0]:
                self._reinforce()
                await asyncio.wait({future}, timeout=self._deadline_s - HELD_S)
        except asyncio.CancelledError:
            future.cancel()
            raise
        if not future.done():
            self._overdue.add(place)
            future.add_done_callback(lambda late: self._came_back(place, late))
            raise self._dead(place)
        return future.result()

    def close(self) -> None:
        """Let the threads end that are not held; the others end with the process."""
        with self._condition:
            self._ended = True
            self._condition.notify_all()

    def threads(self) -> int:
        """Return how many threads there are."""
        return self._threads

    def _dead(self, place: str) -> RootGone:
        return RootGone(
            f"{place} does not answer: the file system was asked and has said nothing for {self._deadline_s:g} s",
            "is it a network file system whose server is away? Others are not held up by it",
        )

    def _came_back(self, place: str, late: asyncio.Future[T]) -> None:
        self._overdue.discard(place)
        if not late.cancelled():
            late.exception()  # nobody waits for it any more

    def _put(self, job: Callable[[], None]) -> None:
        with self._condition:
            self._jobs.append(job)
            if not self._threads:
                self._start()
            self._condition.notify()

    def _reinforce(self) -> None:
        with self._condition:
            if self._jobs and not self._idle and self._threads < self._most:
                self._start()

    def _start(self) -> None:
        self._threads += 1
        threading.Thread(target=self._work, name="ctxd-look", daemon=True).start()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            job()

    def _next(self) -> Callable[[], None] | None:
        """Return the next job; None for a thread that is not needed any more."""
        with self._condition:
            if self._idle and not self._jobs:
                self._threads -= 1
                return None
            self._idle += 1
            self._condition.wait_for(lambda: self._jobs or self._ended)
            self._idle -= 1
            if not self._jobs:
                self._threads -= 1
                return None
            return self._jobs.popleft()


def _run(look: Callable[[], T], loop: asyncio.AbstractEventLoop, future: asyncio.Future[T]) -> None:
    """Do one look and hand over how it ended; in a look's thread."""
    conclude: Callable[[Any], None]
    value: object
    try:
        conclude, value = future.set_result, look()
    except BaseException as error:  # every outcome belongs to whoever waits
        conclude, value = future.set_exception, error
    with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
        loop.call_soon_threadsafe(_unless_done, future, conclude, value)


def _unless_done(future: asyncio.Future[Any], conclude: Callable[[Any], None], value: object) -> None:
    if not future.done():
        conclude(value)
