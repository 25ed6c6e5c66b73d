"""Cases of the kinds freshness and SQLite, end to end: a paused, an idle, a rebuilding daemon and a damaged index."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import psutil
import pytest

from tests.cases.room import state_of, wait_until_quiet
from tests.home import Home
from tests.link import Link
from tests.processes import wait_until
from tests.tree import Tree

QUEUE = Path("/proc/sys/fs/inotify/max_queued_events")


@pytest.mark.skipif(
    not QUEUE.exists() or int(QUEUE.read_text()) > 20_000, reason="needs inotify with a queue of 16,384"
)
def test_a_full_event_queue_is_noticed(ctx: Home, repo: Tree) -> None:
    """B045: stopped, flooded with more than the kernel keeps, continued: the next answer is right."""
    for number in range(50):
        repo.write(f"old/{number}.py", f"def before_{number}(): pass\n")
    os.mkdir(repo.path("flood"))
    assert ctx.run("update", cwd=repo.root).returncode == 0
    pid = ctx.pid

    os.kill(pid, signal.SIGSTOP)
    try:
        for number in range(int(QUEUE.read_text()) // 2):
            repo.path(f"flood/{number}.txt").touch()
        for number in range(50):
            repo.write(f"old/{number}.py", f"def after__{number}(): pass\n")
    finally:
        os.kill(pid, signal.SIGCONT)
    with Link(ctx.path) as link:
        after = link.symbols(repo.root, "after__*", limit=100, fresh_within_ms=60_000)
        before = link.symbols(repo.root, "before_*", limit=100)
    status = ctx.json("status", cwd=repo.root)

    assert (len(after["results"]), after["fresh"], before["results"]) == (50, True, [])
    assert status["watching"]["overflows"] == 1


def test_an_idle_daemon_does_nothing(ctx: Home, repo: Tree) -> None:
    """B047: with an uncommitted file beside, while files are only read: no scan, no write, no time."""
    for number in range(200):
        repo.write(f"m{number}.py", f"def f_{number}(): pass\n")
    repo.commit()
    repo.write("dirty.py", "def dirty(): pass\n")
    assert ctx.run("find", "dirty", cwd=repo.root).returncode == 0
    daemon = psutil.Process(ctx.pid)
    wait_until_quiet(ctx.path)
    generation = ctx.json("status", cwd=repo.root)["generation"]
    cpu_s, before = sum(daemon.cpu_times()[:2]), state_of(ctx.path)
    for number in range(200):
        repo.path(f"m{number}.py").read_bytes()
    time.sleep(4)

    assert sum(daemon.cpu_times()[:2]) - cpu_s < 0.1
    assert state_of(ctx.path) == before
    assert ctx.json("status", cwd=repo.root)["generation"] == generation


def test_a_rebuild_is_never_seen(ctx: Home, repo: Tree) -> None:
    """B087: asked all the time during it, each answer is whole; a kill leaves the old index; edits are in the new."""
    for number in range(1_500):
        repo.write(f"d{number % 30}/m{number}.py", f"def f_{number}():\n    return {number}\n")
    assert ctx.run("update", cwd=repo.root).returncode == 0
    seen: list[tuple[int, int]] = []
    done = threading.Event()

    def ask() -> None:
        with Link(ctx.path) as link:
            while not done.is_set():
                answer = link.symbols(repo.root, "f_*", limit=2_000)
                seen.append((len(answer["results"]), answer["stats"]["files_indexed"]))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        rebuilding = threading.Thread(target=ctx.run, args=("update", "--full"), kwargs={"cwd": repo.root})
        rebuilding.start()
        for number in range(10):
            repo.write(f"d{number}/m{number}.py", f"def f_edited_{number}(): pass\n")
        rebuilding.join()
    finally:
        done.set()
        asking.join()
    killed = threading.Thread(target=ctx.run, args=("update", "--full"), kwargs={"cwd": repo.root})
    killed.start()
    time.sleep(0.15)  # anywhere in the middle
    ctx.kill()
    killed.join()
    rows = ctx.json("symbols", "f_*", "--limit", "2000", cwd=repo.root)["results"]

    assert len(seen) > 3 and set(seen) == {(1_500, 1_500)}
    assert len(rows) == 1_500 and sum("edited" in row["name"] for row in rows) == 10


def index_file(home: Home) -> Path:
    """Return the one index file of a home."""
    [found] = Path(home.path, "indexes").glob("*/index-*.db")
    return found


DAMAGE = {
    "a hole in the middle": lambda data: data[: len(data) // 2] + b"\xa5" * 4096 + data[len(data) // 2 + 4096 :],
    "cut short": lambda data: data[:100],
    "emptied": lambda data: data[:0],
    "text": lambda data: data[:0] + b"this is no database\n" * 100,
    "a broken header": lambda data: b"\0" * 100 + data[100:],
    "zeroes": lambda data: b"\0" * len(data),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_index_is_replaced_without_help(ctx: Home, repo: Tree, damage: str) -> None:
    """B082: the next answers are right, whatever was done to the file while the daemon was away."""
    for number in range(120):
        repo.write(f"m{number}.py", f"def f_{number}():\n    return 'some words of the body {number}'\n" * 3)
    assert ctx.run("update", cwd=repo.root).returncode == 0
    ctx.run("daemon", "stop", cwd="/")
    wait_until(lambda: not ctx.daemons, 10, "the daemon ends")
    file = index_file(ctx)
    file.write_bytes(DAMAGE[damage](file.read_bytes()))

    rows = ctx.json("symbols", "f_*", "--limit", "500", cwd=repo.root)["results"]
    found = ctx.json("find", "some words of the body 77", cwd=repo.root)
    status = ctx.run("status", cwd=repo.root)

    assert len(rows) == 360
    assert found["results"] and found["fresh"]
    assert status.returncode == 0 and "Traceback" not in status.stderr
