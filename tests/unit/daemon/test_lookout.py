"""Where events could not be had another watcher is tried: after a pause, and without reading every file again."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxd import lookout
from ctxd.lookout import Lookout
from ctxd.model import FileEvent, Overflow
from ctxd.watch.opening import open_watcher
from tests.unit.daemon.works import trees, works

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")


@pytest.fixture
def limit(monkeypatch: pytest.MonkeyPatch) -> Callable[[int | None], None]:
    """Set how many watches the system gives from now on; None: as many as it has."""
    from ctxd.watch import kernel

    real, left = kernel.Queue.add, [sys.maxsize]

    def add(self: kernel.Queue, path: bytes) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return real(self, path)

    def give(count: int | None) -> None:
        left[0] = sys.maxsize if count is None else count

    monkeypatch.setattr(kernel.Queue, "add", add)
    return give


def test_a_worktree_is_watched_again_when_the_limit_is_raised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: Callable[[int | None], None]
) -> None:
    """The next question tries; from then on events count, and a loss is no loss while scans decide."""
    monkeypatch.setattr(lookout, "RETRY_S", 0.0)

    async def main() -> list[tuple[bool, int]]:
        (root,) = trees(tmp_path, 1)
        Path(root, "d").mkdir()
        Path(root, "d", "b.py").write_text("def b(): pass\n")
        seen: list[tuple[bool, int]] = []
        async with works(tmp_path / "state") as found:
            limit(1)
            worktree = await found.fresh(root)
            for count in (1, 1, None):
                limit(count)
                await found.fresh(root)
                seen.append((worktree.watcher.trusted, worktree.overflows))
            return seen

    assert asyncio.run(main()) == [(False, 1), (False, 1), (True, 1)]


def test_tries_are_rare_and_become_rarer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: Callable[[int | None], None]
) -> None:
    """A system that has no watches to give is asked after a minute, two, four, and at last each hour."""
    now = [1_000.0]
    monkeypatch.setattr("ctxd.lookout.time.monotonic", lambda: now[0])

    async def main() -> list[float]:
        limit(0)
        events: list[FileEvent | Overflow] = []
        here = Lookout(str(tmp_path), open_watcher, events.append)
        tried = []
        while len(tried) < 8:
            here.watch().add("")
            await here.drain()
            if here.retry():
                tried.append(now[0] - 1_000)
            now[0] += 30
        here.close()
        assert events == [Overflow("inotify watches exhausted")]
        return tried

    tried = asyncio.run(main())

    gaps = [after - before for before, after in zip([0.0, *tried], tried, strict=False)]
    assert gaps == sorted(gaps) and gaps[0] == 60 and gaps[1] >= 120 and 3_600 <= gaps[-1] <= 3_660


def test_a_file_system_that_tells_nothing_is_not_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It will not change by waiting."""
    monkeypatch.setattr(lookout, "RETRY_S", 0.0)
    monkeypatch.setattr("ctxd.watch.mounts.file_system", lambda _: "nfs4")

    async def main() -> bool:
        here = Lookout(str(tmp_path), open_watcher, lambda _event: None)
        try:
            return here.retry()
        finally:
            here.close()

    assert not asyncio.run(main())
