"""A request's stay in a worktree: found, entered, brought up to date, read. Runs on the loop.

What differs between requests is in handlers.py; here is what they share.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TypeVar

import msgspec

from ctxd import roots
from ctxd.condition import Condition
from ctxd.config import ConfigFile
from ctxd.embed.tier import Tier
from ctxd.model import View
from ctxd.remote.providers import Remote
from ctxd.search import run
from ctxd.search.sent import Sessions
from ctxd.steer.lately import Lately
from ctxd.store.driver import IndexDamaged
from ctxd.store.snapshot import Snapshot
from ctxd.worktree import Report, Worktree
from ctxd.worktrees import Worktrees
from ctxprotocol.messages import InWorktree
from ctxprotocol.providers import Target

Read = TypeVar("Read")


class Services(msgspec.Struct, frozen=True, eq=False):
    """What handlers work with. `resolve` turns a name, alias or suffix into canonical language names, () if unknown.

    `remote` gives the way to a provider; `lately` is how the ones for steering did.
    """

    worktrees: Worktrees
    config: ConfigFile
    condition: Condition
    resolve: Callable[[str], tuple[str, ...]]
    languages: tuple[str, ...]
    tier: Tier
    remote: Callable[[Target], Remote]
    lately: Lately = msgspec.field(default_factory=Lately)
    sessions: Sessions = msgspec.field(default_factory=Sessions)


class Visit(msgspec.Struct, frozen=True, eq=False):
    """One request's stay in one worktree, after its barrier."""

    worktree: Worktree
    view: View
    deadline_s: float
    fresh_within_ms: int
    worktrees: Worktrees

    async def relative(self, directory: bytes, file: bytes) -> str:
        """Return the path below the root of a file that the caller named. Raises UsageFailed when it lies outside."""
        look = partial(roots.relative, self.view.root, directory, file)
        return await self.worktrees.looks.ask(os.fsdecode(directory), look)

    async def read(self, function: Callable[[Snapshot, View], Read]) -> Read:
        """Run `function` on a snapshot; once more when a file was written meanwhile or the index is damaged."""
        path = self.worktree.pipeline.index_path
        wait_ms = int(self.deadline_s * 1e3)
        try:
            return await self.worktree.pipeline.read(lambda s: function(s, self.view), self.deadline_s)
        except run.Overtaken:
            freshness = await self.worktree.fresh(self.fresh_within_ms, wait_ms, _silent)
        except IndexDamaged as damage:
            self.worktree.damaged(damage.message)
            await self.worktree.mend(path)
            freshness = await self.worktree.fresh(wait_ms, wait_ms, _silent)
        view = msgspec.structs.replace(self.view, freshness=freshness, again=False)
        return await self.worktree.pipeline.read(lambda s: function(s, view), self.deadline_s)


def _silent(_progress: object) -> None:
    """Report nothing."""


@contextlib.asynccontextmanager
async def visit(
    services: Services, request: InWorktree, report: Report, *, root: str = "", explicit: bool = False
) -> AsyncIterator[Visit]:
    """Enter the worktree that a request means and pass its barrier."""
    began = time.perf_counter_ns()
    config = services.config.current()
    place = await services.worktrees.locate(request, root)
    root = place.root
    worktree = await services.worktrees.enter(root, explicit=explicit)
    try:
        freshness = await worktree.fresh(request.fresh_within_ms, request.index_wait_ms, report)
        listing = worktree.pipeline.listing
        view = View(
            root=root,
            freshness=freshness,
            started_ns=began,
            passed_ns=time.perf_counter_ns(),
            again=True,
            prefix=place.prefix,
            limit=config.search_limit,
            budget=config.search_budget,
            ignored=listing.ignored if listing is not None else 0,
            ignored_by=listing.ignored_by if listing is not None else "",
            meaning=services.tier.meaning,
            # What lies on a local disk alone is looked at where it is needed: a thread costs more than the look.
            look=None if worktree.watcher.trusted else partial(services.worktrees.looks.stat, root),
        )
        yield Visit(worktree, view, request.timeout_ms / 1e3, request.fresh_within_ms, services.worktrees)
    finally:
        services.worktrees.leave(root)
