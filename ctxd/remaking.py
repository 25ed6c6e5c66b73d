"""Rebuilds that a changed configuration asks for. Owned by the daemon; runs on the loop, one task per worktree.

Until one has succeeded the index is that of the former configuration: status says so, and it is tried again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from ctxd.worktree import Worktree
from ctxprotocol.errors import CtxError

log = logging.getLogger("ctxd.remaking")

# A full disk or a lock may be gone soon; what lasts longer is not hurried by trying.
FIRST_S, LONGEST_S = 5.0, 600.0


async def remake(
    worktree: Worktree, wanted: Callable[[], bool], sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
) -> None:
    """Rebuild until it has succeeded or is not `wanted` any more: the worktree was closed, or all has changed again."""
    pause_s, told = FIRST_S, ""
    while wanted():
        try:
            await worktree.rebuild(lambda _progress: None)
        except Exception as fault:
            if not isinstance(fault, CtxError | OSError):
                log.exception("%s: a rebuild failed", worktree.root)
            reason = fault.message if isinstance(fault, CtxError) else str(fault)
            told = worktree.last_error = f"the index is that of the former configuration, its rebuild failed: {reason}"
            log.warning("%s: %s; trying again in %.0f s", worktree.root, told, pause_s)
            await sleep(pause_s)
            pause_s = min(2 * pause_s, LONGEST_S)
        else:
            if worktree.last_error == told:
                worktree.last_error = ""
            return
