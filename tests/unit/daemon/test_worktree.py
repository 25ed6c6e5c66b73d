"""One worktree's batches: whatever ends one, the next is tried, and who asks is told how it stands now."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from ctxd.model import Freshness
from ctxd.store.driver import IndexDamaged
from ctxprotocol.errors import IndexUnusable
from tests.unit.daemon.works import ENOUGH_MS, indexes, silent, trees, works

DAMAGE = IndexDamaged("index file damaged")
FULL = IndexUnusable("disk full, writes paused")


def failing(function: Callable[..., Awaitable[object]], *errors: Exception) -> Callable[..., Awaitable[object]]:
    """Return `function`, which raises each of `errors` first."""
    left = list(errors)

    async def attempt(*args: object) -> object:
        if left:
            raise left.pop(0)
        return await function(*args)

    return attempt


def test_damage_that_cannot_be_mended_at_once_is_mended_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The disk is full when the damage is met; the next question is answered from a new index."""

    async def main() -> list[Freshness]:
        async with works(tmp_path / "state") as found:
            (root,) = trees(tmp_path, 1)
            worktree = await found.fresh(root)
            pipeline = worktree.pipeline
            monkeypatch.setattr(pipeline, "process", failing(pipeline.process, DAMAGE, DAMAGE))
            monkeypatch.setattr(pipeline, "replace_damaged", failing(pipeline.replace_damaged, FULL))
            worktree.ask()
            return [await worktree.fresh(ENOUGH_MS, ENOUGH_MS, silent) for _ in range(2)]

    first, second = asyncio.run(main())

    assert (first.fresh, first.reason) == (False, FULL.message)
    assert second.fresh


def test_damage_that_stays_is_not_mended_in_a_circle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that gives back something else than was written: one new index for each try, then a pause."""

    async def main() -> int:
        async with works(tmp_path / "state") as found:
            (root,) = trees(tmp_path, 1)
            worktree = await found.fresh(root)
            monkeypatch.setattr(worktree.pipeline, "process", failing(worktree.pipeline.process, *[DAMAGE] * 100))
            worktree.ask()
            for _ in range(2):
                with pytest.raises(IndexUnusable, match="damaged"):
                    await worktree.fresh(ENOUGH_MS, ENOUGH_MS, silent)
            return worktree.pipeline.rebuilds

    assert asyncio.run(main()) == 2


def test_a_first_index_that_failed_once_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The failure is told to those who saw it; who comes later hears that the index is being made."""

    async def main() -> Freshness:
        async with works(tmp_path / "state") as found:
            (root,) = trees(tmp_path, 1)
            worktree = await found.enter(root)
            go = asyncio.Event()
            process = worktree.pipeline.process

            async def slow(*args: object) -> None:
                await go.wait()
                await process(*args)  # type: ignore[arg-type]

            monkeypatch.setattr(worktree.pipeline, "process", failing(slow, FULL))
            with pytest.raises(IndexUnusable, match="disk full"):
                await worktree.fresh(ENOUGH_MS, ENOUGH_MS, silent)
            meanwhile = await worktree.fresh(50, 50, silent)
            go.set()
            assert (await worktree.fresh(ENOUGH_MS, ENOUGH_MS, silent)).fresh
            found.leave(root)
            return meanwhile

    assert asyncio.run(main()).reason == "indexing"


def test_a_forgotten_worktree_is_not_mended(tmp_path: Path) -> None:
    """A question that was under way finds no file, and must not make one that belongs to nobody."""

    async def main() -> list[str]:
        async with works(tmp_path / "state") as found:
            (root,) = trees(tmp_path, 1)
            worktree = await found.fresh(root)
            await found.forget(root)
            with pytest.raises(IndexUnusable, match="closed meanwhile"):
                await worktree.mend(worktree.pipeline.index_path)
            return indexes(tmp_path / "state")

    assert asyncio.run(main()) == []


def test_one_loss_is_counted_once(tmp_path: Path) -> None:
    """A daemon that slept sees the gap in time and the full queue that came of it; the next loss is another one."""

    async def main() -> tuple[int, int]:
        async with works(tmp_path / "state") as found:
            (root,) = trees(tmp_path, 1)
            worktree = await found.fresh(root)
            worktree.lose("the clock jumped by 31 s")
            worktree.lose("the kernel's event queue overflowed")
            slept = (await found.fresh(root)).overflows
            worktree.lose("the kernel's event queue overflowed")
            return slept, (await found.fresh(root)).overflows

    assert asyncio.run(main()) == (1, 2)
