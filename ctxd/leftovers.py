"""Indexes of worktrees that are gone: forgotten after a month. Owned by the daemon; runs on the loop, once a day.

A directory that is not there may be on a disk that is not mounted. Then its mount point is empty or gone, too; so a
worktree counts as gone only where the nearest directory above it that exists holds something, and is no place where
disks come and go. Nothing but time is lost where that is wrong: its next question indexes it again.
"""

from __future__ import annotations

import asyncio
import logging
import os
import time

from ctxd.worktrees import Worktrees
from ctxprotocol.errors import CtxError

log = logging.getLogger("ctxd.leftovers")

UNASKED_NS = 30 * 86_400 * 1_000_000_000
# The first look waits until the daemon has opened what is in use.
FIRST_S, EVERY_S = 600.0, 86_400.0
# Where removable disks and network shares are mounted, each below a directory of its own.
MOUNTED = ("/media", "/run/media", "/mnt", "/net", "/misc", "/afs", "/Volumes", "/Network")


async def collect_daily(worktrees: Worktrees) -> None:
    """Look once a day, for as long as the daemon lives."""
    await asyncio.sleep(FIRST_S)
    while True:
        await collect(worktrees, time.time_ns())
        await asyncio.sleep(EVERY_S)


async def collect(worktrees: Worktrees, now_ns: int) -> None:
    """Forget what nobody has asked for in a month and whose directory is gone."""
    for entry in worktrees.machinery.registry.entries():
        if entry.last_used_ns > now_ns - UNASKED_NS or entry.root in worktrees.open:
            continue
        try:
            if await worktrees.looks.ask(entry.root, lambda root=entry.root: is_gone(root)):  # type: ignore[misc]
                await worktrees.forget(entry.root)
                log.info("%s is gone and was not asked for in a month: its index is removed", entry.root)
        except CtxError as error:  # a mount that does not answer, a full disk: there is another day
            log.warning("%s: not looked at: %s", entry.root, error.message)


def is_gone(root: str) -> bool:
    """Say whether the directory was removed, as far as can be told from one that is not mounted."""
    above = root
    try:
        while not os.path.lexists(above):
            above = os.path.dirname(above)
        if above == root or above == os.path.dirname(above):
            return False
        return not f"{above}/".startswith(tuple(f"{place}/" for place in MOUNTED)) and bool(os.listdir(above))
    except OSError:
        return False
