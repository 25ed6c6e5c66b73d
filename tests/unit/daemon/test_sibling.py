"""A second worktree of a repository begins with its sibling's index, and is what a new index would be."""

from __future__ import annotations

import asyncio
import contextlib
import os
import stat
from pathlib import Path

import pytest

from ctxd import pipeline
from ctxd.store import dump
from ctxd.store.driver import IndexDamaged, open_writer
from ctxd.store.sibling import copy_index
from ctxd.worktree import Worktree
from tests.tree import Tree
from tests.unit.daemon.works import ENOUGH_MS, Works, indexes, silent, works


@pytest.fixture
def first(tmp_path: Path) -> Tree:
    """A repository with a few files of every kind that is treated differently."""
    tree = Tree(os.path.realpath(tmp_path) + "/first")
    for name in ("same", "edited", "gone"):
        tree.write(f"lib/{name}.py", f"def {name}_here(): pass\n")
    tree.write("logo.png", b"\x89PNG\r\n\0")
    tree.write("yarn.lock", "x\n")
    tree.commit()
    return tree


def second(first: Tree) -> Tree:
    """Another worktree of it, on a branch that differs."""
    root = f"{first.root.parent}/second"
    first.git("worktree", "add", "-q", "-b", "side", root)
    tree = Tree(root, git=False)
    tree.write("lib/edited.py", "def edited_there(): pass\n")
    tree.write("lib/new.py", "def new_there(): pass\n")
    tree.path("lib/gone.py").unlink()
    return tree


async def dumped(worktree: Worktree) -> list[str]:
    return await worktree.pipeline.read(lambda snapshot: list(dump.dump(snapshot)), 10)


async def from_scratch(found: Works, root: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the dump of an index of `root` that begins with nothing."""
    await found.forget(root)
    monkeypatch.setattr(type(found.machinery.registry), "siblings", lambda *_: ())
    return await dumped(await found.fresh(root))


def test_only_what_differs_is_parsed_and_the_index_is_that_of_a_new_one(
    tmp_path: Path, first: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rest is read, and nothing but its stat is written."""

    async def main() -> None:
        async with works(tmp_path / "state") as found:
            await found.fresh(str(first.root))
            root = str(second(first).root)
            before = found.machinery.pool.stats().parsed
            worktree = await found.fresh(root)
            assert found.machinery.pool.stats().parsed - before == 2
            mode = os.stat(worktree.pipeline.index_path).st_mode
            assert (stat.S_IMODE(mode), worktree.pipeline.committed) == (0o600, 3)
            async with asyncio.timeout(10):
                while len(indexes(tmp_path / "state")) > 2:  # the empty one goes by itself
                    await asyncio.sleep(0.01)
            assert await dumped(worktree) == await from_scratch(found, root, monkeypatch)

    asyncio.run(main())


def test_what_the_sibling_holds_is_nobodys_answer(tmp_path: Path, first: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until every file was compared the new worktree has an empty index, not another's."""

    async def main() -> tuple[list[str], str]:
        async with works(tmp_path / "state") as found:
            await found.fresh(str(first.root))
            root = str(second(first).root)
            go = asyncio.Event()
            bring_up = pipeline.Pipeline._bring_up

            async def slow(*args: object, **more: object) -> None:
                await go.wait()
                await bring_up(*args, **more)  # type: ignore[arg-type]

            monkeypatch.setattr(pipeline.Pipeline, "_bring_up", slow)
            worktree = await found.enter(root)
            meanwhile = await worktree.fresh(0, 300, silent)
            rows = await dumped(worktree)
            go.set()
            assert (await worktree.fresh(ENOUGH_MS, ENOUGH_MS, silent)).fresh
            found.leave(root)
            return [row for row in rows if "here" in row], meanwhile.reason

    assert asyncio.run(main()) == ([], "indexing")


@pytest.mark.parametrize("fault", ["text", "gone", "half"])
def test_a_sibling_of_no_use_is_passed_over(
    tmp_path: Path, first: Tree, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    """Damaged, removed or not complete: the worktree is indexed from its files."""

    async def main() -> None:
        async with works(tmp_path / "state") as found:
            sibling = (await found.fresh(str(first.root))).pipeline.index_path
            root = str(second(first).root)
            copied = []

            def copy(source: str, target: str, maker: str) -> bool:
                assert source == sibling
                odd = f"{tmp_path}/odd.db"
                if fault == "text":
                    Path(odd).write_text("no database")
                elif fault == "half":
                    assert copy_index(source, odd, maker)  # a copy is not complete
                copied.append(copy_index(odd, target, maker))
                return copied[-1]

            monkeypatch.setattr(pipeline, "copy_index", copy)
            worktree = await found.fresh(root)
            lived = await dumped(worktree)
            assert copied == [False] and not list((tmp_path / "state").glob("indexes/*/*.new"))
            assert lived == await from_scratch(found, root, monkeypatch)

    asyncio.run(main())


def test_damage_that_came_from_a_sibling_comes_once(
    tmp_path: Path, first: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing shows before a question: the index is then built from the files, not copied again."""

    async def main() -> int:
        async with works(tmp_path / "state") as found:
            await found.fresh(str(first.root))
            root = str(second(first).root)
            copies = []

            def copy(source: str, target: str, maker: str) -> bool:
                copies.append(target)
                assert copy_index(source, target, maker)
                with contextlib.closing(open_writer(target)) as connection:
                    connection.execute("UPDATE fts_data SET block=x'00' WHERE id>10").fetchall()
                return True

            monkeypatch.setattr(pipeline, "copy_index", copy)
            worktree = await found.fresh(root)
            with pytest.raises(IndexDamaged):
                await dumped(worktree)
            await worktree.mend(worktree.pipeline.index_path)
            await found.fresh(root)
            assert await dumped(worktree) == await from_scratch(found, root, monkeypatch)
            return len(copies)

    assert asyncio.run(main()) == 1


def test_other_repositories_are_no_siblings(tmp_path: Path, first: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor are directories without one."""
    monkeypatch.setattr(pipeline, "copy_index", None)

    async def main() -> list[str]:
        async with works(tmp_path / "state") as found:
            await found.fresh(str(first.root))
            for git in (True, False):
                tree = Tree(f"{first.root.parent}/other{git}", git=git)
                tree.write("a.py", "def a(): pass\n")
                await found.fresh(str(tree.root))
            return indexes(tmp_path / "state")

    assert len(asyncio.run(main())) == 3
