"""A file system that does not answer holds up whoever asks about it, and nobody else."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxd import roots
from ctxd.looks import HELD_S, Looks
from ctxprotocol.errors import RootGone
from ctxprotocol.messages import Status
from tests.unit.daemon.works import trees, works


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
