"""`ctx watch`: what a client is told of one worktree, from how it stands on. Runs on the loop.

Following is a stay in the worktree like any request's, so that it is not closed meanwhile; it ends when the client
hangs up, the worktree is forgotten or the daemon ends.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

from ctxd.render import happenings
from ctxd.render.style import Style
from ctxd.visit import Services
from ctxprotocol.errors import DaemonUnreachable
from ctxprotocol.messages import Watch


async def follow(services: Services, request: Watch) -> AsyncGenerator[str, None]:
    """Yield how the worktree stands, then each thing that happens there, in the form that was asked for.

    Raises what locating and entering a worktree does, and DaemonUnreachable when the daemon ends.
    """
    worktrees = services.worktrees
    place = await worktrees.locate(request)
    root = place.root
    style = Style(prefix=place.prefix, width=request.width, color=request.color)
    forgotten = False
    with worktrees.machinery.feed.follow(root) as follower:
        worktree = await worktrees.enter(root)
        try:
            worktree.told = worktree.standing()
            yield happenings.standing(services.condition.worktree(root), request.output, style)
            while (happening := await follower.next()) is not None:
                forgotten = happening.kind == "forgotten"
                yield happenings.line(happening, request.output, style)
        finally:
            worktrees.leave(root)
    if not forgotten:
        raise DaemonUnreachable("the daemon has ended", "the next command starts it again")
