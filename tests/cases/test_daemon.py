"""Cases of the kinds IPC and daemon life: one daemon, whoever comes and goes, for as long as it lives."""

from __future__ import annotations

import concurrent.futures
import json
import os
import signal
import subprocess
import time

import psutil
import pytest

from ctxprotocol import endpoint, framing
from ctxprotocol.messages import Failure, Files, Hello, Welcome
from tests.cases.room import state_of, wait_until_quiet
from tests.home import BIN, Home
from tests.link import Link
from tests.processes import wait_until
from tests.tree import Tree
from tests.unit.client.conftest import FakeDaemon

LARGE = 4_000


@pytest.fixture
def indexed(ctx: Home, repo: Tree) -> Tree:
    """A tree of one function, indexed by a daemon that runs."""
    repo.write("a.py", "def here(): pass\n")
    assert ctx.run("update", cwd=repo.root).returncode == 0
    return repo


JUNK = {
    "nothing": b"",
    "half a header": b"\0\0",
    "a length of 4 GB": b"\xff" * 4,
    "a length of 0": b"\0" * 4,
    "text": b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    "garbage of a right length": b"\0\0\0\x08garbage!",
    "half a frame": b"\0\0\x10\0" + b"x" * 10,
    "deep nesting": b"\0\0\x03\xe8" + b"\x91" * 1000,
    "an array of 4 billion": b"\0\0\0\x05\xdd\xff\xff\xff\xff",
    "a request before hello": framing.pack(Files(directory=b"/")),
    "two hellos": framing.pack(Hello(protocol=1, version="0.1.0")) * 2,
    "a hello of another century": framing.pack(Hello(protocol=9999, version="99.0")),
    "a reply": framing.pack(Failure(error="x", message="y", code=1)),
}


@pytest.mark.parametrize("junk", JUNK.values(), ids=JUNK)
def test_no_bytes_end_the_daemon_or_hold_up_others(ctx: Home, indexed: Tree, junk: bytes) -> None:
    """B049: sent and hung up, sent and left hanging: same pid, and the next answer is right in under a second."""
    pid = ctx.pid
    with Link(ctx.path, greet=False) as gone:
        gone.socket.sendall(junk)
    with Link(ctx.path, greet=False) as silent, Link(ctx.path) as link:
        silent.socket.sendall(junk)
        began = time.monotonic()
        rows = link.symbols(indexed.root, "here")["results"]
        took_s = time.monotonic() - began

    assert [row["file"] for row in rows] == ["a.py"] and took_s < 1
    assert ctx.pid == pid


def test_a_client_that_is_killed_in_mid_reply(ctx: Home, indexed: Tree) -> None:
    """B049: the reply is larger than any buffer; whoever asked for it dies reading, again and again."""
    for number in range(LARGE):
        indexed.write(f"some/directory/with/a/long/name/file_{number}.txt", "x\n")
    assert ctx.run("update", cwd=indexed.root).returncode == 0
    pid = ctx.pid
    request = Files(directory=os.fsencode(indexed.root), output="json", limit=LARGE * 2)

    for _ in range(5):
        link = Link(ctx.path)
        link.send(request)
        assert len(link.socket.recv(100)) == 100
        link.close()
    with subprocess.Popen(
        [BIN / "ctx", "files", "--json"], cwd=indexed.root, env=ctx.env, stdout=subprocess.PIPE
    ) as client:
        assert client.stdout is not None and client.stdout.read(10)
        client.kill()
    with Link(ctx.path) as link:
        whole = link.ask(request).out

    assert len(whole) > 200 * 1024 and len(json.loads(whole)["results"]) == LARGE + 1
    assert ctx.pid == pid


def test_a_daemon_that_lost_takes_nothing_of_the_winner_along(ctx: Home, indexed: Tree) -> None:
    """B051: second starts, by command and forced by SIGTERM in the middle, leave lock and socket to the first."""
    first = ctx.pid
    place = os.lstat(endpoint.socket_path(ctx.path))

    for wait_s in (0, 0.05, 0.2, None):
        second = subprocess.Popen(
            [BIN / "ctxd", "start"], cwd="/", env=ctx.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        if wait_s is not None:
            time.sleep(wait_s)  # where in its life the signal meets it is the point
            second.send_signal(signal.SIGTERM)
        assert second.wait(20) != 0

    again = os.lstat(endpoint.socket_path(ctx.path))
    assert (again.st_ino, ctx.pid) == (place.st_ino, first)
    assert ctx.run("find", "here", cwd=indexed.root).returncode == 0


def test_clients_and_a_daemon_that_is_killed_between_them(ctx: Home, indexed: Tree) -> None:
    """B051: twenty at one instant after a kill -9: the stale socket is taken over once, all are answered by one pid."""
    ctx.kill()
    assert os.path.exists(endpoint.socket_path(ctx.path))

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        done = list(pool.map(lambda _: ctx.run("find", "here", cwd=indexed.root), range(20)))

    assert [each.returncode for each in done] == [0] * 20, [each.stderr for each in done if each.returncode]
    assert len(ctx.daemons) == 1


def test_the_temp_cleaner_finds_nothing_that_would_free_the_lock(ctx: Home, indexed: Tree) -> None:
    """B055: whatever small files go, a second daemon cannot have the state; the socket is bound again by the first."""
    pid = ctx.pid
    for name in os.listdir(ctx.path):
        if os.path.splitext(name)[1] in ("", ".lock", ".sock", ".log") and not os.path.isdir(f"{ctx.path}/{name}"):
            os.unlink(f"{ctx.path}/{name}")

    second = ctx.run("start", cwd="/", program="ctxd", timeout=20)
    wait_until(lambda: os.path.exists(endpoint.socket_path(ctx.path)), 10, "the socket is bound again")

    assert second.returncode != 0
    assert ctx.run("find", "here", cwd=indexed.root).returncode == 0 and ctx.pid == pid


@pytest.mark.parametrize("length", [20, 90, 103, 104, 107, 108, 150, 240])
def test_a_home_of_any_length(ctx: Home, length: int) -> None:
    """B053: client and daemon come to the same place, which fits a socket address; `daemon status` prints it."""
    state = f"{ctx.place}/{'h' * max(length - len(ctx.place) - 1, 1)}"
    tree = Tree(f"{ctx.place}/r")
    tree.write("a.py", "def here(): pass\n")
    env = {"CTX_HOME": state, "XDG_RUNTIME_DIR": ""}

    found = ctx.run("find", "here", cwd=tree.root, env=env)
    status = ctx.run("daemon", "status", cwd="/", env=env)
    stopped = ctx.run("daemon", "stop", cwd="/", env=env)
    place = endpoint.socket_path(state)

    assert (found.returncode, status.returncode, stopped.returncode) == (0, 0, 0), found.stderr
    assert place in status.stdout and len(os.fsencode(place)) <= 100
    assert place.startswith(state) or not os.path.exists(os.path.dirname(place))


def test_an_older_daemon_is_replaced_by_whoever_asks(ctx: Home, repo: Tree) -> None:
    """B056: it is asked to stop by the call that every version knows; the answer is from the new one, one line said."""
    repo.write("a.py", "def here(): pass\n")
    old = FakeDaemon(ctx.path)
    try:
        old.welcome = Welcome(protocol=1, version="0.0.1", pid=7)
        old.script = lambda peer: peer.say(old.welcome, Failure(error="replace_daemon", message="older", code=3))
        done = ctx.run("find", "here", cwd=repo.root)
    finally:
        old._thread.join(5)

    assert done.returncode == 0 and "a.py" in done.stdout, done.stderr
    assert old.stopped and len(ctx.daemons) == 1
    assert done.stderr == f"ctx: replaced the daemon 0.0.1 (pid 7) by {endpoint.VERSION} (pid {ctx.pid})\n"


def held(process: psutil.Process) -> tuple[int, int, int]:
    """Return open descriptors, threads, and resident memory in kB."""
    return process.num_fds(), process.num_threads(), process.memory_info().rss // 1024


def rounds(ctx: Home, repo: Tree, files: int, number: int, edited: int) -> list[tuple[int, int, int]]:
    """Edit and ask `number` times; return what the daemon held at each twentieth of the way."""
    for at in range(files):
        repo.write(f"d{at % 20}/f{at}.py", f"def f_{at}():\n    return {at}\n")
    assert ctx.run("update", cwd=repo.root).returncode == 0
    daemon, seen = psutil.Process(ctx.pid), []
    with Link(ctx.path) as link:
        for turn in range(number):
            for at in range(edited):
                which = (turn * edited + at) % files
                repo.write(f"d{which % 20}/f{which}.py", f"def f_{which}():\n    return {turn}\n")
            for at in range(20):
                found = link.symbols(repo.root, f"f_{(turn * 7 + at) % files}")
                assert len(found["results"]) == 1 and found["fresh"]
            if turn % max(number // 10, 1) == 0:
                seen.append(held(daemon))
    return seen


def test_nothing_grows_with_edits_and_questions(ctx: Home, repo: Tree) -> None:
    """B058 in small: descriptors and threads stay as they are; status names the last progress."""
    seen = rounds(ctx, repo, files=300, number=40, edited=20)

    status = json.loads(ctx.run("daemon", "status", "--json", cwd="/").stdout)
    descriptors = [each[0] for each in seen[2:]]
    threads = [each[1] for each in seen[2:]]
    assert max(descriptors) - min(descriptors) <= 2, seen
    assert max(threads) == min(threads), seen
    assert status["last_progress"] == str(repo.root) and 0 <= status["last_progress_s"] < 60


@pytest.mark.nightly
@pytest.mark.timeout(900)
def test_nothing_grows_over_two_hundred_rounds(ctx: Home, repo: Tree) -> None:
    """B058: 3,000 files, 200 rounds of 50 edits and 20 questions; memory within a tenth; idle it does nothing."""
    seen = rounds(ctx, repo, files=3_000, number=200, edited=50)

    memory = [each[2] for each in seen]
    assert max(each[0] for each in seen[2:]) - min(each[0] for each in seen[2:]) <= 2, seen
    assert memory[-1] <= memory[2] * 1.1, memory
    daemon = psutil.Process(ctx.pid)
    wait_until_quiet(ctx.path)
    before, written = sum(daemon.cpu_times()[:2]), state_of(ctx.path)
    time.sleep(60)
    assert sum(daemon.cpu_times()[:2]) - before < 0.3
    assert state_of(ctx.path) == written
