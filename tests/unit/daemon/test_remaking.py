"""A rebuild that a changed configuration asks for is owed until it is done, and status says what is in its way."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ctxd.condition import state_of
from ctxd.remaking import FIRST_S, LONGEST_S, remake
from ctxd.store import driver
from ctxprotocol.errors import IndexUnusable
from tests.tree import Tree
from tests.unit.daemon.works import works


def test_it_is_tried_until_it_succeeds(tmp_path: Path, repo: Tree, monkeypatch) -> None:
    """Each pause is longer; status tells the reason, and no more once it is done."""

    async def main() -> None:
        repo.write("a.py", "def f(): pass\n")
        pauses: list[float] = []
        told: list[str] = []
        async with works(tmp_path / "state") as found:
            worktree = await found.fresh(str(repo.root))
            real = driver.create
            monkeypatch.setattr("ctxd.store.integrity.create", full)

            async def sleep(pause_s: float) -> None:
                pauses.append(pause_s)
                told.append(state_of(worktree).last_error)
                if len(pauses) == 3:
                    monkeypatch.setattr("ctxd.store.integrity.create", real)

            await remake(worktree, lambda: True, sleep)

            assert pauses == [FIRST_S, 2 * FIRST_S, 4 * FIRST_S] and pauses[-1] < LONGEST_S
            assert all("former configuration" in each and "disk full" in each for each in told)
            assert (worktree.pipeline.rebuilds, state_of(worktree).last_error) == (1, "")

    asyncio.run(main())


def full(_path: str, _schema: str, _version: int) -> None:
    raise IndexUnusable("disk full, writes paused")


def test_what_is_not_wanted_any_more_is_let_go(tmp_path: Path, repo: Tree, monkeypatch) -> None:
    """The worktree was closed, or the configuration has changed again."""

    async def main() -> None:
        repo.write("a.py", "def f(): pass\n")
        wanted = [True, True, False]
        pauses: list[float] = []

        async def sleep(pause_s: float) -> None:
            pauses.append(pause_s)

        async with works(tmp_path / "state") as found:
            worktree = await found.fresh(str(repo.root))
            with monkeypatch.context() as broken:
                broken.setattr("ctxd.store.integrity.create", full)
                await remake(worktree, lambda: wanted.pop(0), sleep)

            assert len(pauses) == 2 and worktree.pipeline.rebuilds == 0

    asyncio.run(main())
