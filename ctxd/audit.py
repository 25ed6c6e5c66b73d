"""The quiet audit: when nothing happens, everything is hashed again, for a watcher may have kept silent.

Owned by the composition root; runs on the loop, one worktree at a time. It begins after two idle minutes, works in
slices of a few files at one niced worker, and gives way to any request or event; its place in the tree stays in memory.
It compares and writes nothing: what it finds is handed to the worktree like an event, and counted.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from weakref import WeakKeyDictionary

from ctxd.model import Known
from ctxd.parse.pool import Parsed
from ctxd.scan.reconcile import LISTING_SKIPS
from ctxd.store import catalog
from ctxd.worktree import Worktree
from ctxd.worktrees import Worktrees
from ctxprotocol.errors import CtxError

log = logging.getLogger("ctxd.audit")

# Nobody asked and nothing changed for so long: people and agents think, builds do not.
IDLE_S = 120.0
# From the end of one cycle to the beginning of the next, after something has changed, and when nothing has: 5,000
# files cost half a second of one core, which an idle machine gives four times a day.
AFTER_CHANGES_S, AFTER_NOTHING_S = 3_600.0, 6 * 3_600.0
# Files of one slice: some 20 ms, which is how long a request may find the worker taken.
SLICE_FILES = 64
READ_S = 60.0
NAMED = 5


class Auditor:
    """Audits the open worktrees while `enabled` says so. `clock` is monotonic."""

    def __init__(
        self, worktrees: Worktrees, enabled: Callable[[], bool], clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._worktrees = worktrees
        self._enabled = enabled
        self._clock = clock
        self._audits: WeakKeyDictionary[Worktree, Audit] = WeakKeyDictionary()

    async def run(self) -> None:
        """Audit whenever it is time, until cancelled."""
        while True:
            await asyncio.sleep(self.pause_s())
            await self.work()

    def pause_s(self) -> float:
        """Return how long there is nothing to do: a quiet daemon is woken once in two minutes at most."""
        if not self._enabled():
            return IDLE_S
        now = self._clock()
        due = min((self._audit(each).due_at(now) for each in self._worktrees.open.values()), default=now + IDLE_S)
        return max(IDLE_S / 12, self._worktrees.last_activity() + IDLE_S - now, min(due - now, IDLE_S))

    async def work(self) -> None:
        """Audit what is due, as long as nothing else happens."""
        for worktree in list(self._worktrees.open.values()):
            audit = self._audit(worktree)
            if audit.due_at(self._clock()) > self._clock():
                continue
            while self._is_quiet() and not worktree.closed:
                if await audit.advance():
                    audit.end(self._clock())
                    break

    def _audit(self, worktree: Worktree) -> Audit:
        return self._audits.setdefault(worktree, Audit(worktree))

    def _is_quiet(self) -> bool:
        idle = self._clock() - self._worktrees.last_activity() >= IDLE_S
        return idle and self._enabled() and all(each.idle() for each in self._worktrees.open.values())


class Audit:
    """One worktree's cycle: the paths that came or went, then the content of all others by their order."""

    def __init__(self, worktree: Worktree) -> None:
        self._worktree = worktree
        self._ended_at: float | None = None
        self._seen = 0
        self._listed = False
        self._place = ""
        self._counted: set[str] = set()

    def due_at(self, now: float) -> float:
        """Return when the next slice may begin: at once inside a cycle, and for a worktree that had none."""
        if self._ended_at is None or self._listed:
            return now
        changed = self._worktree.seen() != self._seen
        return self._ended_at + (AFTER_CHANGES_S if changed else AFTER_NOTHING_S)

    def end(self, now: float) -> None:
        """The cycle is at its end, or failed: begin anew another time."""
        self._ended_at, self._seen = now, self._worktree.seen()
        self._listed, self._place = False, ""
        self._counted.clear()

    async def advance(self) -> bool:
        """Do one slice; True when the cycle is at its end. What an event tells meanwhile is nothing found: the slice
        is done again another time."""
        worktree = self._worktree
        try:
            await worktree.take_in_all()
            seen = worktree.seen()
            if not worktree.settled():
                return bool(worktree.trouble)
            place = self._place
            found = await (self._differing() if self._listed else self._unlike())
            await worktree.take_in_all()
            if worktree.seen() != seen:
                self._place = place
                return False
            if found and not await self._hand_over(found):
                self._place = place
                return bool(worktree.trouble)
        except (CtxError, OSError) as error:
            log.info("%s: the audit was broken off: %s", worktree.root, error)
            return True
        except Exception:
            log.exception("%s: the audit failed", worktree.root)
            return True
        done = self._listed and self._place == place
        self._listed = True
        if done:
            worktree.audited_whole()
        return done

    async def _unlike(self) -> list[str]:
        """Return the paths that are there or not, against what the index believes; directories are watched anew."""
        if not self._worktree.watcher.trusted:
            # Here nobody promised to tell: what a scan by stats sees is no find.
            await self._worktree.compare()
        return list(await self._worktree.unlike())

    async def _differing(self) -> list[str]:
        """Hash the next files; return those whose content is not what the index holds."""
        pipeline, after = self._worktree.pipeline, self._place
        known = await pipeline.read(lambda snapshot: catalog.known_after(snapshot, after, SLICE_FILES), READ_S)
        if not known:
            return []
        self._place = max(known)
        # What is left out by its name is not opened; what could not be read once may end a worker again.
        paths = [path for path, one in known.items() if one.skip not in LISTING_SKIPS and one.skip != "unreadable"]
        return [one.path for one in await pipeline.digests(paths) if _differs(known[one.path], one)]

    async def _hand_over(self, paths: list[str]) -> bool:
        """Have the worktree look at what was found; False when it could not be brought into the index now."""
        new = [path for path in paths if path not in self._counted]
        self._counted.update(new)
        if new:
            named = ", ".join(new[:NAMED])
            log.warning("%s: the audit found %d files that no event told of: %s", self._worktree.root, len(new), named)
        return await self._worktree.take_found(paths, new=len(new))


def _differs(known: Known, found: Parsed) -> bool:
    if found.note:
        return False  # the worker ended: that says nothing of the file
    return found.gone or (found.digest, found.skip) != (known.digest, known.skip)
