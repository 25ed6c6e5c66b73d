"""A request's stay in a worktree: what makes it look a second time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from ctxd.model import Freshness, View
from ctxd.search.run import Overtaken
from ctxd.store.driver import IndexDamaged
from ctxd.visit import Visit
from ctxprotocol.messages import Answer


class Stand:
    """Takes the place of a worktree and its pipeline; `passes` counts barriers, `mended` names replaced files."""

    index_path = "old.db"

    def __init__(self) -> None:
        self.pipeline = self
        self.passes = 0
        self.mended: list[str] = []

    async def read(self, function: Callable[[object], Answer], deadline_s: float) -> Answer:
        return function(object())

    async def fresh(self, within_ms: int, index_wait_ms: int, report: object) -> Freshness:
        self.passes += 1
        return Freshness(fresh=True, reason="", pending=self.passes)

    def damaged(self, reason: str) -> None:
        """It is told."""

    async def mend(self, path: str) -> None:
        self.mended.append(path)


def visit(stand: Stand) -> Visit:
    view = View(root="/r", freshness=Freshness(fresh=True), started_ns=1, again=True)
    return Visit(stand, view, 1.0, 5_000, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(("trouble", "mended"), [(Overtaken("a file changed"), []), (IndexDamaged("bad"), ["old.db"])])
def test_trouble_is_met_by_one_more_barrier_and_one_more_look(trouble: Exception, mended: list[str]) -> None:
    """The second look is the last: it may not ask for a third."""
    stand, seen = Stand(), list[View]()

    def function(snapshot: object, view: View) -> Answer:
        seen.append(view)
        if len(seen) == 1:
            raise trouble
        return Answer(out="second")

    answer = asyncio.run(visit(stand).read(function))

    assert (answer.out, stand.passes, stand.mended) == ("second", 1, mended)
    assert [view.again for view in seen] == [True, False]
    assert seen[1].freshness.pending == 1
