"""A file system that does not answer holds up whoever asks about it, and nobody else."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ctxd import roots
from ctxd.looks import FILE_S, HELD_S, Looks
from ctxd.search import run
from ctxd.visit import Services, visit
from ctxprotocol.errors import RootGone
from ctxprotocol.messages import Find, Status
from tests.unit.daemon.works import silent, trees, works


@pytest.fixture
def dead() -> Iterator[threading.Event]:
    """What a look at a dead place waits for; set when the test is over, so that its threads end."""
    event = threading.Event()
    yield event
    event.set()


def held() -> int:
    """Return how many threads look."""
    return sum(thread.name.startswith("ctxd-look") for thread in threading.enumerate())


def test_a_dead_place_holds_only_who_asks_for_it(dead: threading.Event) -> None:
    """Others are answered meanwhile; the next one who asks for it is told at once; once it is back it is asked."""

    async def main() -> None:
        looks = Looks(deadline_s=0.3)
        waiting = asyncio.create_task(looks.ask("/dead", dead.wait))
        await asyncio.sleep(0)
        began = time.perf_counter()
        assert await looks.ask("/good", lambda: "seen") == "seen"
        assert time.perf_counter() - began < 2 * HELD_S
        with pytest.raises(RootGone, match="/dead does not answer"):
            await waiting
        began = time.perf_counter()
        with pytest.raises(RootGone, match="/dead does not answer"):
            await looks.ask("/dead", dead.wait)
        assert time.perf_counter() - began < HELD_S
        dead.set()
        while looks._overdue:
            await asyncio.sleep(0.01)
        assert await looks.ask("/dead", dead.wait)
        looks.close()

    asyncio.run(main())


def test_threads_are_few_and_go(dead: threading.Event) -> None:
    """Twenty dead places hold as many threads as are allowed; when they are back, one is left."""

    async def main() -> None:
        looks = Looks(deadline_s=0.3, most=4)
        asked = [looks.ask(f"/dead{number}", dead.wait) for number in range(20)]
        told = await asyncio.gather(*asked, return_exceptions=True)
        assert all(isinstance(each, RootGone) for each in told)
        assert held() == 4
        dead.set()
        while held() > 1:
            await asyncio.sleep(0.01)
        assert await looks.ask("/good", lambda: 1) == 1
        looks.close()

    asyncio.run(main())


def test_what_a_look_raises_is_raised() -> None:
    """The thread goes on."""

    async def main() -> None:
        looks = Looks()

        def fail() -> None:
            raise RootGone("no such directory")

        with pytest.raises(RootGone, match="no such"):
            await looks.ask("/x", fail)
        assert await looks.ask("/x", lambda: 1) == 1
        looks.close()

    asyncio.run(main())


def test_a_request_about_a_dead_mount_does_not_stop_the_loop(
    tmp_path: Path, dead: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While one caller's directory does not answer, questions about other worktrees do."""
    real = roots.resolve

    def resolve(path: bytes) -> str:
        if path == b"/dead":
            dead.wait()
        return real(path)

    monkeypatch.setattr(roots, "resolve", resolve)

    async def main() -> None:
        async with works(tmp_path / "s") as found:
            found.looks = Looks(deadline_s=0.5)
            (root,) = trees(tmp_path, 1)
            stuck = asyncio.create_task(found.locate(Status(directory=b"/dead")))
            place = await found.locate(Status(directory=os.fsencode(root)))
            assert (place.root, place.prefix) == (root, "")
            assert not stuck.done()
            await found.fresh(root)
            with pytest.raises(RootGone, match="/dead"):
                await stuck

    asyncio.run(main())


@pytest.fixture
def dead_files(dead: threading.Event, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Whoever looks at a file `a.py` of the trees does not come back."""
    real = os.lstat

    def lstat(path: Any, *, dir_fd: int | None = None) -> os.stat_result:
        if str(path).startswith(str(tmp_path)) and str(path).endswith("/a.py"):
            dead.wait()
        return real(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "lstat", lstat)
    return dead


def test_a_file_on_a_dead_mount_is_waited_for_once(tmp_path: Path, dead_files: threading.Event) -> None:
    """The next file of that worktree is not; those of another are looked at; once it is back it is asked."""
    (root, other) = trees(tmp_path, 2)
    Path(other, "b.py").write_text("1234")
    looks = Looks()
    with pytest.raises(RootGone, match=r"a\.py does not answer"):
        looks.stat(root, "a.py", within_s=0.2)
    began = time.perf_counter()
    with pytest.raises(RootGone):
        looks.stat(root, "a.py")
    assert time.perf_counter() - began < FILE_S / 2
    assert looks.stat(other, "b.py").size_bytes == 4
    dead_files.set()
    while looks._overdue:
        time.sleep(0.01)
    assert looks.stat(root, "a.py").size_bytes == len("def a(): pass\n")
    looks.close()


def test_a_dead_mount_holds_no_reader(
    tmp_path: Path, dead_files: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More questions than there are readers find places on it; all are answered, and say what nobody knows."""
    monkeypatch.setattr("ctxd.watch.mounts.file_system", lambda _: "nfs4")
    told: list[dict[str, Any]] = []

    async def main() -> None:
        async with works(tmp_path / "s") as found:
            (root,) = trees(tmp_path, 1)
            request = Find(directory=os.fsencode(root), text="a", output="json", timeout_ms=5_000)
            config = SimpleNamespace(current=lambda: found.config)
            rest: Any = [None, None, (), SimpleNamespace(meaning=None), None]
            services = Services(found, config, *rest)  # type: ignore[arg-type]
            for _ in range(3):
                async with visit(services, request, silent) as here:
                    answer = await here.read(lambda snapshot, view: run.find(snapshot, request, view))
                    told.append(json.loads(answer.out))

    asyncio.run(main())
    reason = "the file system of a.py does not answer"
    assert [(each["fresh"], each["fresh_reason"]) for each in told] == [(False, reason)] * 3
    assert [each["results"][0]["verified"] for each in told] == [False] * 3


def test_a_dead_root_is_not_opened_by_the_loop(
    tmp_path: Path, dead: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At start the daemon opens by itself what was used lately: one on a dead mount is left, and the others come."""
    (gone, root) = trees(tmp_path, 2)
    real = os.stat

    def stat(path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
        if path == gone:
            dead.wait(20)
        return real(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "stat", stat)

    async def main() -> None:
        async with works(tmp_path / "s") as found:
            found.looks = Looks(deadline_s=0.5)
            opening = asyncio.create_task(found.enter(gone, asked=False))
            began = time.perf_counter()
            await found.fresh(root)
            assert time.perf_counter() - began < 10
            with pytest.raises(RootGone, match="does not answer"):
                await opening
            dead.set()

    asyncio.run(main())
