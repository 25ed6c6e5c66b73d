"""Over `index.max_files`: which files are left out does not depend on how the tree came to be as it is."""

from __future__ import annotations

import asyncio
import os
import random
from pathlib import Path

import pytest

from ctxd.config import Config
from ctxd.store import catalog
from tests.unit.daemon.works import Works, trees, works

FEW = Config(daemon_workers=1, index_max_files=4)
NAMES = [f"{folder}{name}.py" for folder in ("", "d/", "e/f/") for name in "bcd"]


async def held(found: Works, root: str) -> dict[str, str]:
    """Return every path that the index knows, with the reason why it is left out."""
    worktree = await found.fresh(root)
    known = await worktree.pipeline.read(catalog.known_files, 10)
    return {path: one.skip for path, one in known.items()}


def step(root: str, chance: random.Random, number: int) -> None:
    """Write or remove one file, or move a whole folder."""
    path = Path(root, chance.choice(NAMES))
    folder = Path(root, "d")
    if chance.random() < 0.2 and folder.is_dir():
        os.rename(folder, Path(root, f"moved{number}"))
    elif chance.random() < 0.35:
        path.unlink(missing_ok=True)
    else:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"def f{number}(): pass\n")


@pytest.mark.parametrize("seed", range(3))
def test_files_past_the_limit_are_the_same_ones_as_from_scratch(tmp_path: Path, seed: int) -> None:
    """Files come and go around the limit; after each step the index holds what a new one would."""

    async def main() -> None:
        chance = random.Random(seed)
        (root,) = trees(tmp_path, 1)
        async with works(tmp_path / "state", FEW) as found:
            for number in range(12):
                step(root, chance, number)
                lived = await held(found, root)
                await found.forget(root)
                assert lived == await held(found, root), f"seed {seed}, step {number}"
                # The history goes on from a lived index again.
                Path(root, "a.py").write_text(f"def a{number}(): pass\n")
                await held(found, root)

    asyncio.run(main())


def test_an_edit_past_the_limit_lists_no_tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what comes or goes changes which files are too many."""

    async def main() -> dict[str, str]:
        (root,) = trees(tmp_path, 1)
        for name in "bcdefg":
            Path(root, f"{name}.py").write_text("")
        async with works(tmp_path / "state", FEW) as found:
            await held(found, root)
            monkeypatch.setattr("ctxd.survey._list_tree", None)
            Path(root, "a.py").write_text("def edited(): pass\n")
            return await held(found, root)

    left_out = asyncio.run(main())

    assert [path for path, skip in left_out.items() if skip] == ["e.py", "f.py", "g.py"]
