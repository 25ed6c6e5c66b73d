"""The quiet audit: it finds what no event told of, counts it, writes nothing else, and gives way."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxd import audit
from ctxd.audit import AFTER_CHANGES_S, AFTER_NOTHING_S, IDLE_S, Auditor
from ctxd.store import catalog
from ctxd.worktree import Worktree
from tests.unit.daemon.works import Works, trees, works

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="a watcher that promises to tell all is Linux")


class Clock:
    """Monotonic time that jumps as far as a test says."""

    def __init__(self) -> None:
        self.ahead_s = 0.0

    def __call__(self) -> float:
        return asyncio.get_running_loop().time() + self.ahead_s


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[bool]]:
    """While the list is not empty, the watcher keeps what happens in the tree to itself."""
    from ctxd.watch.inotify import InotifyWatcher

    silent: list[bool] = []
    real = InotifyWatcher._emit
    monkeypatch.setattr(InotifyWatcher, "_emit", lambda *args: None if silent else real(*args))
    yield silent


async def audited(found: Works, clock: Clock, after_s: float = IDLE_S + 1) -> Auditor:
    """Let so much time pass and audit."""
    auditor = Auditor(found, lambda: True, clock)
    clock.ahead_s += after_s
    await auditor.work()
    return auditor


async def held(worktree: Worktree) -> dict[str, str]:
    """Return what the index holds: paths with the first bytes of their digests."""
    known = await worktree.pipeline.read(catalog.known_files, 10)
    return {path: one.digest.hex()[:8] for path, one in known.items()}


def change_all(root: str) -> None:
    """An edit of the same size and times, a new file in a new folder, one that goes, one that becomes a link."""
    path = Path(root, "a.py")
    before = path.stat()
    path.write_text("def z(): pass\n")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    Path(root, "new").mkdir()
    Path(root, "new", "n.py").write_text("def n(): pass\n")
    Path(root, "gone.py").unlink()
    Path(root, "link.py").unlink()
    Path(root, "link.py").symlink_to("a.py")


def test_what_no_event_told_of_is_found_and_counted(tmp_path: Path, silence: list[bool]) -> None:
    """One cycle finds everything; a new folder is watched from then on; the index is that of a new one."""

    async def main() -> None:
        (root,) = trees(tmp_path, 1)
        for name in ("gone.py", "link.py", "same.py"):
            Path(root, name).write_text(f"def {name[0]}(): pass\n")
        async with works(tmp_path / "state") as found:
            worktree = await found.fresh(root)
            silence.append(True)
            change_all(root)
            await worktree.take_in_all()
            silence.clear()
            await audited(found, Clock())
            assert (worktree.audited.cycles, worktree.audited.found) == (1, 4)
            lived = await held(worktree)
            Path(root, "new", "n.py").write_text("def later(): pass\n")
            await worktree.take_in_all()
            assert not worktree.settled()
            await found.forget(root)
            worktree = await found.fresh(root)
            assert {**lived, "new/n.py": ""} == {**await held(worktree), "new/n.py": ""}

    asyncio.run(main())


def test_a_quiet_tree_costs_no_write_and_is_left_alone_for_hours(tmp_path: Path) -> None:
    """R29: no generation, no row; the next cycle comes after six hours, or one after a change."""

    async def main() -> list[int]:
        (root,) = trees(tmp_path, 1)
        async with works(tmp_path / "state") as found:
            clock = Clock()
            worktree = await found.fresh(root)
            database = Path(worktree.pipeline.index_path + "-wal")
            before = (worktree.pipeline.generation, database.stat().st_size)
            auditor = await audited(found, clock)
            assert (worktree.pipeline.generation, database.stat().st_size) == before
            cycles = [worktree.audited.cycles]
            for pass_s in (AFTER_CHANGES_S, AFTER_NOTHING_S - AFTER_CHANGES_S + 1):
                clock.ahead_s += pass_s
                await auditor.work()
                cycles.append(worktree.audited.cycles)
            Path(root, "a.py").write_text("def b(): pass\n")
            await found.fresh(root)
            clock.ahead_s += AFTER_CHANGES_S + 1
            await auditor.work()
            return [*cycles, worktree.audited.cycles]

    assert asyncio.run(main()) == [1, 1, 2, 3]


def test_a_request_holds_the_audit_and_it_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its place stays in memory: no file is hashed twice in a cycle."""
    monkeypatch.setattr(audit, "SLICE_FILES", 1)

    async def main() -> list[str]:
        (root,) = trees(tmp_path, 1)
        for name in "bcd":
            Path(root, f"{name}.py").write_text("")
        async with works(tmp_path / "state") as found:
            clock, hashed = Clock(), []
            worktree = await found.fresh(root)
            digests = worktree.pipeline.digests

            async def watched(paths: list[str]) -> object:
                hashed.extend(paths)
                if paths == ["b.py"]:
                    clock.ahead_s = 0
                return await digests(paths)

            monkeypatch.setattr(worktree.pipeline, "digests", watched)
            auditor = await audited(found, clock)
            assert hashed == ["a.py", "b.py"] and not worktree.audited.cycles
            assert auditor.pause_s() > IDLE_S / 2
            clock.ahead_s = IDLE_S + 1
            await auditor.work()
            assert worktree.audited.cycles == 1
            return hashed

    assert asyncio.run(main()) == ["a.py", "b.py", "c.py", "d.py"]


def test_what_an_event_tells_meanwhile_is_no_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that is written while it is audited is news, not a loss."""

    async def main() -> tuple[int, int]:
        (root,) = trees(tmp_path, 1)
        async with works(tmp_path / "state") as found:
            worktree = await found.fresh(root)
            digests = worktree.pipeline.digests

            async def written(paths: list[str]) -> object:
                Path(root, "a.py").write_text("def written(): pass\n")
                monkeypatch.setattr(worktree.pipeline, "digests", digests)
                return await digests(paths)

            monkeypatch.setattr(worktree.pipeline, "digests", written)
            clock = Clock()
            auditor = await audited(found, clock)
            await found.fresh(root)
            clock.ahead_s += IDLE_S + 1
            await auditor.work()
            return worktree.audited.found, worktree.audited.cycles

    assert asyncio.run(main()) == (0, 1)


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    """`index.audit = false`: and then it does not even look whether it is time."""

    async def main() -> tuple[int, float]:
        (root,) = trees(tmp_path, 1)
        async with works(tmp_path / "state") as found:
            worktree = await found.fresh(root)
            clock = Clock()
            auditor = Auditor(found, lambda: False, clock)
            clock.ahead_s += 2 * IDLE_S
            await auditor.work()
            return worktree.audited.cycles, auditor.pause_s()

    assert asyncio.run(main()) == (0, IDLE_S)
