"""A rebuild beside the index in use: one at a time, and one that does not come to its end leaves nothing."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from ctxd.model import FileStat
from ctxd.parse.pool import Pool
from ctxd.store import readers
from ctxd.store.schema import SCHEMA_VERSION
from ctxd.store.write import Change, Put
from ctxd.writes import PART_BYTES, Writes
from ctxprotocol.errors import IndexUnusable
from tests.unit.daemon.works import Works, indexes, silent, trees, works


def open_files(name: str) -> list[str]:
    """Return the open files of this process whose path holds `name`."""
    found = (os.path.realpath(f"/proc/self/fd/{number}") for number in os.listdir("/proc/self/fd"))
    return [path for path in found if name in path]


async def until(holds: Callable[[], bool]) -> None:
    """Wait until `holds`, ten seconds at most."""
    async with asyncio.timeout(10):
        while not holds():
            await asyncio.sleep(0.01)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Hold every parse from here on until the event is set."""
    go = asyncio.Event()
    parse = Pool.parse

    async def slow(self: Pool, *args: object, **more: object):
        await go.wait()
        async for ready in parse(self, *args, **more):  # type: ignore[arg-type]
            yield ready

    go.set()
    monkeypatch.setattr(Pool, "parse", slow)
    return go


def test_two_rebuilds_at_once_come_one_after_the_other(tmp_path: Path) -> None:
    """Both are answered, and one index file is left."""
    state = tmp_path / "state"

    async def main() -> list[str]:
        async with works(state) as found:
            (root,) = trees(tmp_path, 1)
            worktree = await found.fresh(root)
            await asyncio.gather(*(worktree.rebuild(silent) for _ in range(3)))
            await until(lambda: len(indexes(state)) == 1)
            return indexes(state)

    assert asyncio.run(main()) == [f"index-{SCHEMA_VERSION}-4.db"]


@pytest.mark.parametrize("ending", ["hang up", "close", "forget", "failure"])
def test_a_rebuild_that_is_cut_short_leaves_no_file(
    tmp_path: Path, held: asyncio.Event, ending: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No half index on the disk, no connection to one; who still waits is told."""
    state = tmp_path / "state"
    monkeypatch.setattr(readers, "IDLE_S", 0.05)

    async def end(found: Works, root: str, asked: asyncio.Task[None]) -> None:
        worktree = found.open[root]
        if ending == "hang up":
            asked.cancel()
        elif ending == "close":
            del found.open[root]
            await worktree.close()
        elif ending == "forget":
            await found.forget(root)
        else:
            await found.machinery.pool.close()
            held.set()

    async def main() -> BaseException | None:
        async with works(state) as found:
            (root,) = trees(tmp_path, 1)
            worktree = await found.fresh(root)
            held.clear()
            asked = asyncio.create_task(worktree.rebuild(silent))
            await until(lambda: len(indexes(state)) == 2)
            await end(found, root, asked)
            await asyncio.wait({asked})
            left = [] if ending == "forget" else [f"index-{SCHEMA_VERSION}-1.db"]
            await until(lambda: indexes(state) == left)
            await until(lambda: not open_files(f"index-{SCHEMA_VERSION}-2.db"))
            return None if asked.cancelled() else asked.exception()

    told = asyncio.run(main())

    assert (told is None) == (ending == "hang up")
    assert ending not in ("close", "forget") or isinstance(told, IndexUnusable)


def test_a_failed_batch_leaves_no_transaction_behind() -> None:
    """A part of it that came after the next attempt would bring old content back."""
    done: list[str] = []
    go = asyncio.Event()

    async def commit(changes: Collection[Change]) -> tuple[str, ...]:
        await go.wait()
        done.extend(change.path for change in changes if isinstance(change, Put))
        return ()

    async def main() -> list[str]:
        writes = Writes(commit, lambda _files: None, in_parts=True)
        await writes.add([Put("a.py", FileStat(PART_BYTES, 0, 0, 0), b"d", 0, b"k")], files=1)
        asyncio.get_running_loop().call_later(0.05, go.set)
        await writes.settle()
        return list(done)

    assert asyncio.run(main()) == ["a.py"]
