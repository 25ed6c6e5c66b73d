"""What happens in the worktrees, told to whoever watches: `ctx watch`.

Owned by the machinery; runs on the loop, as those who report do. Nobody waits for a follower: each has a bounded
backlog, and one that reads too slowly is told how much it missed. Where nobody follows, a report costs one look-up.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from ctxd.model import Freshness
from ctxd.state import Happening, HappeningKind

# Some minutes of a busy build; with the paths below about a megabyte at most.
MAX_BACKLOG = 500
# Paths that one happening names; beyond that there are counts.
MAX_PATHS = 100


class Follower:
    """One watcher's backlog."""

    def __init__(self) -> None:
        self._backlog: deque[Happening] = deque()
        self._missed = 0
        self._ended = False
        self._news = asyncio.Event()

    def take(self, happening: Happening) -> None:
        """Add to the backlog; the oldest goes when it is full."""
        if len(self._backlog) >= MAX_BACKLOG:
            self._backlog.popleft()
            self._missed += 1
        self._backlog.append(happening)
        self._news.set()

    def end(self) -> None:
        """There will be no more."""
        self._ended = True
        self._news.set()

    async def next(self) -> Happening | None:
        """Return the oldest happening, waiting for one if need be; None when there will be no more."""
        while not self._backlog:
            if self._ended:
                return None
            self._news.clear()
            await self._news.wait()
        if self._missed:
            missed, self._missed = self._missed, 0
            first = self._backlog[0]
            return Happening(kind="missed", root=first.root, at_s=first.at_s, count=missed)
        return self._backlog.popleft()


class Feed:
    """The followers of each worktree."""

    def __init__(self) -> None:
        self._followers: dict[str, set[Follower]] = {}

    def watched(self, root: str) -> bool:
        """Say whether somebody follows: whether it is worth while to gather what to report."""
        return root in self._followers

    @contextmanager
    def follow(self, root: str) -> Iterator[Follower]:
        """Return a follower of what happens in the worktree at `root` from now on."""
        follower = Follower()
        self._followers.setdefault(root, set()).add(follower)
        try:
            yield follower
        finally:
            left = self._followers[root]
            left.discard(follower)
            if not left:
                del self._followers[root]

    def tell(self, root: str, kind: HappeningKind, reason: str = "", *, began_s: float = 0.0, count: int = 0) -> None:
        """Report something; `began_s` is the time.perf_counter() of its beginning."""
        if root in self._followers:
            took_ms = (time.perf_counter() - began_s) * 1e3 if began_s else 0.0
            self._send(Happening(kind=kind, root=root, at_s=time.time(), reason=reason, took_ms=took_ms, count=count))

    def committed(
        self, root: str, changed: Collection[str], removed: Collection[str], began_s: float, generation: int
    ) -> None:
        """Report a transaction: the paths whose rows it replaced, and those that it removed."""
        happening = Happening(
            kind="committed",
            root=root,
            at_s=time.time(),
            took_ms=(time.perf_counter() - began_s) * 1e3,
            changed=tuple(sorted(changed)[:MAX_PATHS]),
            removed=tuple(sorted(removed)[:MAX_PATHS]),
            changed_files=len(changed),
            removed_files=len(removed),
            generation=generation,
        )
        self._send(happening)

    def stands(self, root: str, freshness: Freshness) -> None:
        """Report that the worktree has become fresh, or is so no more."""
        if root in self._followers:
            self._send(Happening(kind="freshness", root=root, at_s=time.time(), freshness=freshness))

    def end(self, root: str | None = None) -> None:
        """Tell the followers of one worktree, or all, that there will be no more."""
        for each, followers in self._followers.items():
            if root is None or each == root:
                for follower in followers:
                    follower.end()

    def _send(self, happening: Happening) -> None:
        for follower in self._followers.get(happening.root, ()):
            follower.take(happening)
