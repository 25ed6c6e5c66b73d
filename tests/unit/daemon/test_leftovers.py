"""Indexes of removed worktrees go after a month; those that may only be unmounted stay."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from pathlib import Path

import pytest

from ctxd import leftovers
from ctxd.leftovers import UNASKED_NS, collect, is_gone
from tests.tree import Tree
from tests.unit.daemon.works import works


def test_a_removed_worktree_is_forgotten_after_a_month(tmp_path: Path, repo: Tree) -> None:
    """Not before, and not one that is there: its index and its entry go."""

    async def main() -> None:
        repo.write("a.py", "def f(): pass\n")
        other = Tree(f"{repo.root}-other")
        async with works(tmp_path / "state") as found:
            for root in (str(repo.root), str(other.root)):
                await found.fresh(root)
            path = found.open[str(repo.root)].pipeline.index_path
            await found.close_unasked(time.time_ns() + 1)
            shutil.rmtree(repo.root)
            await collect(found, time.time_ns())
            early = len(found.machinery.registry.entries())
            await collect(found, time.time_ns() + UNASKED_NS)

            assert early == 2
            assert [entry.root for entry in found.machinery.registry.entries()] == [str(other.root)]
            assert not os.path.exists(path)

    asyncio.run(main())


def test_what_is_not_mounted_is_not_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty mount point, one that is not there, and whatever lies where disks come and go."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full/file").touch()
    monkeypatch.setattr(leftovers, "MOUNTED", (str(tmp_path / "media"),))
    (tmp_path / "media/other").mkdir(parents=True)

    kept = ["empty/project", "media/disk/project", "media/other/project", "full", "full/file"]
    assert [is_gone(str(tmp_path / name)) for name in kept] == [False] * len(kept)
    assert not is_gone("/nowhere-at-all/project")
    assert is_gone(str(tmp_path / "full/project")) and is_gone(str(tmp_path / "full/deep/project"))
