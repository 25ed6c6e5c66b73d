"""Looks at the file system that may never end: a dead network mount holds whoever asks, and must hold nobody else.

Owned by the worktrees; asked on the loop and by reader threads, done in threads of its own. A place whose look is
overdue is not asked again until that look has come back.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from ctxd.model import FileStat
from ctxd.threads import Threads
from ctxprotocol.errors import RootGone

T = TypeVar("T")

# Longer than a sleeping disk needs to wake, and as long as a question waits for freshness.
LOOK_S = 5.0
# Whether one file is still what was indexed is not worth that long: the answer can say that nobody knows.
FILE_S = 1.0
# After this the thread counts as held, and another one goes on with the others' looks.
HELD_S = 0.1
# As many places as this may be dead at once.
MOST_THREADS = 8


class Looks:
    """One thread, and more only while that one is held."""

    def __init__(self, deadline_s: float = LOOK_S, most: int = MOST_THREADS) -> None:
        self._deadline_s = deadline_s
        self._threads = Threads("ctxd-look", places=1, slow_s=HELD_S, most=most)
        self._overdue: set[str] = set()

    async def ask(self, place: str, look: Callable[[], T]) -> T:
        """Return what `look` returns or raise what it raises; RootGone when it does not come back in time."""
        if place in self._overdue:
            raise self._dead(place)
        running = self._threads.submit(look)
        answer = asyncio.wrap_future(running)
        try:
            await asyncio.wait({answer}, timeout=self._deadline_s)
        except asyncio.CancelledError:
            answer.cancel()
            raise
        if not answer.done():
            answer.cancel()  # nobody waits for it any more; one that no thread has begun comes back at once
            self._give_up(place, running)
            raise self._dead(place)
        return answer.result()

    def stat(self, root: str, path: str, within_s: float = FILE_S) -> FileStat:
        """Return the stat of a file of the worktree at `root`, links not followed; waits: not for the loop.

        Raises OSError, and RootGone when it does not come back in time, or another file's there has not yet.
        """
        place = os.path.join(root, "*")  # a mount below the root may be dead, and the root itself answer
        if place in self._overdue:
            raise self._dead(path, within_s)
        running = self._threads.submit(os.lstat, os.path.join(root, path))
        try:
            found = running.result(within_s)
        except TimeoutError:
            if running.done():  # the file system's own
                raise
            running.cancel()
            self._give_up(place, running)
            raise self._dead(path, within_s) from None
        return FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)

    def close(self) -> None:
        """Let the threads end that are not held; the others end with the process."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _give_up(self, place: str, running: Future[T]) -> None:
        self._overdue.add(place)
        running.add_done_callback(lambda _: self._overdue.discard(place))

    def _dead(self, place: str, waited_s: float = 0.0) -> RootGone:
        waited_s = waited_s or self._deadline_s
        return RootGone(
            f"{place} does not answer: the file system was asked and has said nothing for {waited_s:g} s",
            "is it a network file system whose server is away? Others are not held up by it",
        )
