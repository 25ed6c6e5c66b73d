"""Where events prove nothing, a comparison that begins after the question decides: the barrier of macOS and Windows."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxd import lookout
from ctxd.model import Batch
from ctxd.pipeline import Pipeline
from ctxd.store import catalog
from ctxd.watch.native import NativeWatcher, Seen
from ctxd.watch.opening import open_native
from ctxd.worktree import Worktree
from tests.unit.daemon.works import ENOUGH_MS, silent, trees, works


class Deaf:
    """A stream of which no event ever comes by itself; `take` and `lose` say what a test wants said."""

    take: Callable[[Seen], None]
    lose: Callable[[str], None]
    living = True

    def open(self, root: str, take: Callable[[Seen], None], lose: Callable[[str], None]) -> Deaf:
        self.take, self.lose = take, lose
        return self

    def alive(self) -> bool:
        return self.living

    def close(self) -> None:
        """There is nothing to end."""

    def watcher(self, root: str) -> NativeWatcher:
        return NativeWatcher(root, "late", self.open)


async def files(worktree: Worktree) -> set[str]:
    """Return the paths in the index."""
    return set(await worktree.pipeline.read(catalog.known_files, 10))


async def digest(worktree: Worktree) -> bytes:
    return (await worktree.pipeline.read(catalog.known_files, 10))["a.py"].digest


def test_an_edit_that_no_event_told_of_is_in_the_next_answer(tmp_path: Path) -> None:
    """Made before the question, with the same size and the old time: the comparison sees it by its ctime."""

    async def main() -> tuple[bytes, bytes, bytes]:
        (root,) = trees(tmp_path, 1)
        async with works(tmp_path / "state", open_watcher=Deaf().watcher) as found:
            worktree = await found.fresh(root)
            before, file = await digest(worktree), Path(root, "a.py")
            times = file.stat()
            file.write_text("def b(): pass\n")
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
            unasked = await digest(worktree)
            await found.fresh(root)
            return before, unasked, await digest(worktree)

    before, unasked, asked = asyncio.run(main())

    assert before == unasked != asked


def test_a_comparison_under_way_does_not_answer_a_later_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have passed the file by already: who asks meanwhile waits for the next one."""

    async def main() -> set[str]:
        (root,) = trees(tmp_path, 1)
        async with works(tmp_path / "state", open_watcher=Deaf().watcher) as found:
            worktree = await found.fresh(root)
            listed, go = asyncio.Event(), asyncio.Event()
            process = Pipeline.process

            async def slow(self: Pipeline, *args: object) -> None:
                await process(self, *args)  # type: ignore[arg-type]
                listed.set()
                await go.wait()

            monkeypatch.setattr(Pipeline, "process", slow)
            first = asyncio.create_task(worktree.fresh(ENOUGH_MS, ENOUGH_MS, silent))
            await listed.wait()
            Path(root, "late.py").write_text("def late(): pass\n")
            second = asyncio.create_task(worktree.fresh(ENOUGH_MS, ENOUGH_MS, silent))
            await asyncio.wait({second}, timeout=0.2)
            go.set()
            assert (await first).fresh and (await second).fresh
            return await files(worktree)

    assert "late.py" in asyncio.run(main())


def test_an_event_brings_the_index_up_before_anybody_asks(tmp_path: Path) -> None:
    """That is what events are for here: the system's own, through watchdog's observer and its thread."""

    async def main() -> set[str]:
        (root,) = trees(tmp_path, 1)
        async with works(tmp_path / "state", open_watcher=open_native) as found:
            worktree = await found.fresh(root)
            Path(root, "b.py").write_text("def b(): pass\n")
            async with asyncio.timeout(20):
                while "b.py" not in await files(worktree):
                    await asyncio.sleep(0.02)
            return await files(worktree)

    assert asyncio.run(main()) == {"a.py", "b.py"}


def test_a_loss_has_the_tree_compared_before_anybody_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its stats: what was lost had proved nothing, and hashing a large tree for each burst would take minutes."""

    async def main() -> tuple[int, list[Batch], set[str]]:
        (root,) = trees(tmp_path, 1)
        stream, batches = Deaf(), []
        async with works(tmp_path / "state", open_watcher=stream.watcher) as found:
            worktree = await found.fresh(root)
            process = worktree.pipeline.process

            async def noted(batch: Batch, *more: object) -> None:
                await process(batch, *more)  # type: ignore[arg-type]
                batches.append(batch)

            monkeypatch.setattr(worktree.pipeline, "process", noted)
            Path(root, "late.py").write_text("def late(): pass\n")
            await asyncio.to_thread(stream.lose, "the system dropped events")
            async with asyncio.timeout(20):
                while not batches:
                    await asyncio.sleep(0.01)
            return worktree.overflows, batches, await files(worktree)

    assert asyncio.run(main()) == (1, [Batch(reconcile=True)], {"a.py", "late.py"})


def test_a_stream_that_ended_is_followed_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparisons go on meanwhile; after a pause the system is asked for events again."""
    monkeypatch.setattr(lookout, "RETRY_S", 0.0)

    async def main() -> tuple[bool, int]:
        (root,) = trees(tmp_path, 1)
        streams: list[Deaf] = []

        def watcher(where: str) -> NativeWatcher:
            streams.append(Deaf())
            return streams[-1].watcher(where)

        async with works(tmp_path / "state", open_watcher=watcher) as found:
            worktree = await found.fresh(root)
            streams[0].living = False
            await found.fresh(root)
            await found.fresh(root)
            return worktree.watcher.passing, len(streams)

    assert asyncio.run(main()) == (False, 2)


def test_closing_a_worktree_ends_its_stream(tmp_path: Path) -> None:
    """No thread of the observer is left, and one that comes late wakes nobody."""

    async def main() -> object:
        (root,) = trees(tmp_path, 1)
        async with works(tmp_path / "state", open_watcher=open_native) as found:
            watcher = (await found.fresh(root)).watcher
            assert isinstance(watcher, NativeWatcher)
        watcher._wake()
        return watcher._stream

    stream = asyncio.run(main())

    assert not stream.alive()  # type: ignore[attr-defined]
