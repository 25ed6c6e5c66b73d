"""Proof that all earlier events were seen: who waits for which number. Pure apart from the futures it resolves.

Every event that a worktree takes in gets the next number. A batch that is taken covers all numbers so far; once it
is committed, every waiter of a covered number may answer. Requests that arrive together wait for the same number,
so they share one batch. Runs on the loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable


class Barrier:
    """Counts events seen and events committed, and wakes whoever waits in between."""

    def __init__(self, make_future: Callable[[], asyncio.Future[None]]) -> None:
        self._make_future = make_future
        self._waiters: list[tuple[int, asyncio.Future[None]]] = []
        self.seen = 0
        self.committed = 0

    def see(self) -> int:
        """Count one event and return its number."""
        self.seen += 1
        return self.seen

    def passed(self, number: int) -> bool:
        """Say whether everything up to `number` is committed."""
        return self.committed >= number

    def wait(self, number: int) -> asyncio.Future[None]:
        """Return a future that is done once everything up to `number` is committed."""
        future = self._make_future()
        if self.passed(number):
            future.set_result(None)
        else:
            self._waiters.append((number, future))
        return future

    def commit(self, number: int) -> None:
        """Everything up to `number` is in the index."""
        self.committed = max(self.committed, number)
        still: list[tuple[int, asyncio.Future[None]]] = []
        for waited, future in self._waiters:
            if future.done():
                continue
            if waited <= self.committed:
                future.set_result(None)
            else:
                still.append((waited, future))
        self._waiters = still

    def release(self) -> None:
        """Let all who wait go without what they wait for; `passed` tells them so."""
        waiters, self._waiters = self._waiters, []
        for _, future in waiters:
            if not future.done():
                future.set_result(None)
