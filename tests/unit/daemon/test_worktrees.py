"""Opening and closing worktrees: the surplus goes, nothing is opened twice, nothing stays behind."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path

import pytest

from ctxd import pipeline
from ctxd.config import Config
from ctxd.store import catalog
from ctxd.worktree import Worktree
from ctxprotocol.errors import RootGone, RootRefused
from ctxprotocol.messages import Status
from tests.unit.daemon.works import ENOUGH_MS, Works, silent, trees, works

ONE = Config(daemon_workers=1, daemon_max_worktrees_open=1)
OTHER = Config(daemon_workers=1, index_max_chunk_tokens=400)


def test_many_at_once_close_the_surplus_together(tmp_path: Path) -> None:
    """Requests about many worktrees each close what is too much: none closes what another closes already."""

    async def main() -> int:
        async with works(tmp_path / "state") as found:
            roots = trees(tmp_path, 8)
            await asyncio.gather(*(found.fresh(root) for root in roots))
            found.config = ONE
            await asyncio.gather(*(found.fresh(root) for root in roots[:6]))
            await found.fresh(roots[7])
            return len(found.open)

    assert asyncio.run(main()) == 1


def test_a_worktree_that_cannot_be_indexed_is_surplus_too(tmp_path: Path) -> None:
    """Agents make and remove worktrees all day; a removed one is never settled again, and must not stay open."""

    async def removed(found: Works, root: str) -> None:
        worktree = await found.fresh(root)
        shutil.rmtree(root)
        with pytest.raises(RootGone):
            await worktree.fresh(100, 100, silent)
        worktree.ask()
        while not worktree.trouble:
            await asyncio.sleep(0.01)

    async def main() -> list[str]:
        async with works(tmp_path / "state", ONE) as found:
            first, second, last = trees(tmp_path, 3)
            await removed(found, first)
            await removed(found, second)
            await found.fresh(last)
            return [Path(root).name for root in found.open]

    assert asyncio.run(main()) == ["tree2"]


def test_what_nobody_asks_for_is_watched_no_more(tmp_path: Path) -> None:
    """R24: being opened by the daemon itself is not being asked for; who is inside or asks again has it open."""

    async def main() -> tuple[list[str], list[str]]:
        async with works(tmp_path / "state") as found:
            asked, unasked, inside = trees(tmp_path, 3)
            for root in (unasked, inside, asked):
                await found.fresh(root)
            worktree = await found.enter(inside)
            entry = found.machinery.registry.get(unasked)
            assert entry is not None and worktree.idle()
            before_ns = time.time_ns()
            for root in (asked, unasked):
                await found.enter(root, asked=root is asked)
                found.leave(root)
            await found.close_unasked(before_ns)
            left = [Path(root).name for root in found.open]
            assert found.machinery.registry.get(unasked) == entry
            found.leave(inside)
            await found.fresh(unasked)
            return left, [Path(root).name for root in found.open]

    assert asyncio.run(main()) == (["tree2", "tree0"], ["tree2", "tree0", "tree1"])


def test_who_waited_for_a_forget_opens_the_worktree_once(tmp_path: Path) -> None:
    """Two worktrees on one index file would write it both, and only one of them would ever be closed."""

    async def main() -> set[Worktree]:
        async with works(tmp_path / "state") as found:
            (root,) = trees(tmp_path, 1)
            await found.fresh(root)
            forgetting = asyncio.create_task(found.forget(root))
            await asyncio.sleep(0)
            first = asyncio.create_task(found.fresh(root))
            await forgetting
            return set(await asyncio.gather(first, found.fresh(root)))

    assert len(asyncio.run(main())) == 1


def test_a_close_that_is_cut_short_gives_the_watcher_back(tmp_path: Path) -> None:
    """The request that closes the surplus may be cancelled at any await."""

    async def main() -> int:
        async with works(tmp_path / "state") as found:
            (root,) = trees(tmp_path, 1)
            worktree = await found.fresh(root)
            closing = asyncio.create_task(found.open.pop(root).close())
            await asyncio.sleep(0)
            closing.cancel()
            await asyncio.wait({closing})
            return worktree.watcher.fileno()

    assert asyncio.run(main()) == -1


def test_what_changes_while_a_worktree_is_opened_counts_for_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is in no list yet when the others get the new pool; with the old one, now closed, it would fail for ever."""

    async def main() -> list[str]:
        async with works(tmp_path / "state") as found:
            (root,) = trees(tmp_path, 1)
            inspect = pipeline.inspect

            def slow(path: str, maker: str) -> object:
                makers.append(maker)
                if len(makers) == 1:
                    loop.call_soon_threadsafe(found.renew, found.machinery_for(OTHER))
                    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), loop).result(10)
                return inspect(path, maker)

            makers: list[str] = []
            loop = asyncio.get_running_loop()
            monkeypatch.setattr(pipeline, "inspect", slow)
            old = found.machinery.pool
            worktree = await found.enter(root)
            await old.close()
            assert (await worktree.fresh(ENOUGH_MS, ENOUGH_MS, silent)).fresh
            found.leave(root)
            return makers

    makers = asyncio.run(main())

    assert len(makers) == 2 and "max_chunk_tokens=400" in makers[1]


@pytest.mark.parametrize("name", ["state", "a [b] !#*"])
def test_what_we_write_ourselves_is_not_indexed(tmp_path: Path, name: str) -> None:
    """A state directory inside a worktree: its database and log would be news after each batch, for ever."""

    async def main() -> tuple[set[str], int]:
        (root,) = trees(tmp_path, 1)
        async with works(Path(root, name)) as found:
            worktree = await found.fresh(root)
            for number in range(3):
                Path(root, f"b{number}.py").write_text("def b(): pass\n")
                await found.fresh(root)
            inside = os.fsencode(Path(root, name, "indexes"))
            with pytest.raises(RootRefused):
                await found.locate(Status(directory=inside, root=inside))
            exported = os.fsencode(Path(root, name, "bench", "some", "tree"))
            os.makedirs(exported)
            assert (await found.locate(Status(directory=exported, root=exported))).root == os.fsdecode(exported)
            return set(await worktree.pipeline.read(catalog.known_files, 10)), worktree.pipeline.generation

    assert asyncio.run(main()) == ({"a.py", "b0.py", "b1.py", "b2.py"}, 4)
