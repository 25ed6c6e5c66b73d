"""The feed: what followers get, what a slow one misses, and that nobody is held up."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from ctxd import feed as feed_module
from ctxd.feed import Feed, Follower
from ctxd.model import Freshness
from ctxd.state import Happening


def run(scenario: Callable[[], Awaitable[object]]) -> object:
    async def main() -> object:
        async with asyncio.timeout(5):
            return await scenario()

    return asyncio.run(main())


async def rest(follower: Follower) -> list[Happening]:
    found = []
    while (happening := await follower.next()) is not None:
        found.append(happening)
    return found


def test_a_follower_gets_what_happens_in_its_worktree() -> None:
    """In order, from when it came, and nothing of another worktree; then the end."""

    async def scenario() -> object:
        feed = Feed()
        feed.tell("/a", "rebuilding")
        with feed.follow("/a") as follower:
            feed.tell("/a", "lost", "queue overflow")
            feed.tell("/b", "rebuilding")
            feed.committed("/a", ["x.py"], ["y.py"], 0.0, 7)
            feed.stands("/a", Freshness(fresh=False, reason="catching up"))
            feed.end()
            return await rest(follower)

    lost, committed, stands = run(scenario)  # type: ignore[misc]
    assert (lost.kind, lost.reason, lost.root) == ("lost", "queue overflow", "/a")
    assert (committed.kind, committed.changed, committed.removed, committed.generation) == (
        "committed",
        ("x.py",),
        ("y.py",),
        7,
    )
    assert (stands.kind, stands.freshness.reason) == ("freshness", "catching up")


def test_many_paths_are_counted_and_some_named() -> None:
    """A branch switch of thousands of files is one happening of bounded size."""

    async def scenario() -> object:
        feed = Feed()
        with feed.follow("/a") as follower:
            feed.committed("/a", [f"{n:04}.py" for n in range(5000)], [], 0.0, 1)
            feed.end()
            return await rest(follower)

    (committed,) = run(scenario)  # type: ignore[misc]
    assert committed.changed_files == 5000
    assert committed.changed == tuple(f"{n:04}.py" for n in range(feed_module.MAX_PATHS))


def test_a_slow_follower_is_told_how_much_it_missed() -> None:
    """The backlog is bounded: the oldest go, the newest stay, and their number is said first."""

    async def scenario() -> object:
        feed = Feed()
        with feed.follow("/a") as slow:
            for number in range(feed_module.MAX_BACKLOG + 30):
                feed.tell("/a", "compared", count=number)
            feed.end()
            return await rest(slow)

    missed, first, *_, last = run(scenario)  # type: ignore[misc]
    assert (missed.kind, missed.count) == ("missed", 30)
    assert (first.count, last.count) == (30, feed_module.MAX_BACKLOG + 29)


def test_nobody_watches_when_the_last_one_left() -> None:
    """Then there is nothing to gather."""
    feed = Feed()
    with feed.follow("/a"):
        with feed.follow("/a"):
            assert feed.watched("/a") and not feed.watched("/b")
        assert feed.watched("/a")
    assert not feed.watched("/a")


def test_a_waiting_follower_wakes() -> None:
    """What happens while one waits arrives; so does the end of one worktree alone."""

    async def scenario() -> object:
        feed = Feed()
        with feed.follow("/a") as here, feed.follow("/b") as there:
            waiting = [asyncio.create_task(rest(here)), asyncio.create_task(there.next())]
            await asyncio.sleep(0)
            feed.tell("/a", "forgotten")
            feed.end("/a")
            gone = await waiting[0]
            feed.tell("/b", "rebuilding")
            return gone[0].kind, (await waiting[1]).kind  # type: ignore[union-attr]

    assert run(scenario) == ("forgotten", "rebuilding")
