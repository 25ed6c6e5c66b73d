"""One daemon: started by whoever comes first, found by everyone, stopped, killed, and right again."""

from __future__ import annotations

import concurrent.futures
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys

import pytest

from ctxprotocol import endpoint
from tests.home import BIN, Home
from tests.link import Link
from tests.processes import wait_until
from tests.tree import Tree


def test_twenty_clients_at_one_instant_share_one_daemon(ctx: Home, repo: Tree) -> None:
    """B051: 20 of 20 answered, by one pid."""
    repo.write("a.py", "def shared(): pass\n")

    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        done = list(pool.map(lambda _: ctx.run("find", "shared", cwd=repo.root), range(20)))

    assert [each.returncode for each in done] == [0] * 20, [each.stderr for each in done if each.returncode]
    assert all("a.py" in each.stdout for each in done)
    assert len(ctx.daemons) == 1


def test_stop_and_start_again(ctx: Home, repo: Tree) -> None:
    """Stop ends the process and frees the socket; status then says exit 3; the next question starts another."""
    repo.write("a.py", "def again(): pass\n")
    assert ctx.run("find", "again", cwd=repo.root).returncode == 0
    first = ctx.pid

    stopped = ctx.run("daemon", "stop", cwd="/")
    wait_until(lambda: not ctx.daemons, 5, "the daemon ends")
    status = ctx.run("daemon", "status", cwd="/")
    answered = ctx.run("find", "again", cwd=repo.root)

    assert (stopped.returncode, status.returncode, answered.returncode) == (0, 3, 0)
    assert ctx.pid != first


def test_daemon_status_never_starts_one(ctx: Home) -> None:
    """Exit 3, nothing started, also with --json."""
    done = [ctx.run("daemon", "status", *more, cwd="/") for more in ([], ["--json"])]

    assert [each.returncode for each in done] == [3, 3]
    assert ctx.daemons == []


def test_daemon_status_says_what_it_does(ctx: Home, repo: Tree) -> None:
    """pid at top level, version, socket; text names the same."""
    repo.write("a.py", "def a(): pass\n")
    ctx.run("find", "a", cwd=repo.root)

    data = json.loads(ctx.run("daemon", "status", "--json", cwd="/").stdout)
    text = ctx.run("daemon", "status", cwd="/").stdout

    assert data["pid"] == ctx.pid
    assert str(ctx.pid) in text and endpoint.VERSION in text and endpoint.socket_path(ctx.path) in text


def test_no_start_is_respected(ctx: Home, repo: Tree) -> None:
    """CTX_NO_START=1: exit 3 and no daemon."""
    done = ctx.run("find", "x", cwd=repo.root, env={"CTX_NO_START": "1"})

    assert done.returncode == 3 and ctx.daemons == []


def test_kill_and_right_again(ctx: Home, repo: Tree) -> None:
    """P6: killed between an edit and the next question; the answer after it is right, without help."""
    for number in range(50):
        repo.write(f"f{number}.py", f"def f_{number}(): pass\n")
    assert ctx.run("update", cwd=repo.root).returncode == 0

    repo.write("f7.py", "def g_7(): pass\n")
    ctx.kill()
    os.unlink(repo.path("f8.py"))
    repo.write("f9.py", "def g_9(): pass\n")
    rows = ctx.json("symbols", "*", "--limit", "100", cwd=repo.root)["results"]

    names = {row["name"] for row in rows}
    assert names == {f"f_{n}" for n in range(50) if n not in (7, 8, 9)} | {"g_7", "g_9"}


def test_a_second_daemon_does_not_disturb_the_first(ctx: Home, repo: Tree) -> None:
    """`ctxd start` while one runs ends with a message, and the socket stays whose it was."""
    repo.write("a.py", "def a(): pass\n")
    ctx.run("find", "a", cwd=repo.root)
    first = ctx.pid

    second = ctx.run("start", cwd="/", program="ctxd", timeout=20)

    assert second.returncode != 0 and second.stderr.strip() and "Traceback" not in second.stderr
    assert ctx.run("find", "a", cwd=repo.root).returncode == 0 and ctx.pid == first


def test_a_removed_socket_is_bound_again(ctx: Home, repo: Tree) -> None:
    """B055: the temp cleaner took the socket; within 10 s there is one daemon that can be reached."""
    repo.write("a.py", "def a(): pass\n")
    ctx.run("find", "a", cwd=repo.root)

    os.unlink(endpoint.socket_path(ctx.path))
    done = ctx.run("find", "a", cwd=repo.root, timeout=40)

    assert done.returncode == 0, done.stderr
    wait_until(lambda: len(ctx.daemons) == 1, 15, "one daemon")


def test_sigterm_ends_it_in_time_and_leaves_a_sound_state(ctx: Home, repo: Tree) -> None:
    """R24: within 3 s, nothing left of socket and workers."""
    repo.write("a.py", "def a(): pass\n")
    ctx.run("find", "a", cwd=repo.root)

    os.kill(ctx.pid, signal.SIGTERM)

    wait_until(lambda: not ctx.daemons, 5, "the daemon ends on SIGTERM")
    assert not os.path.exists(endpoint.socket_path(ctx.path))


def test_a_removed_state_directory_ends_the_daemon(ctx: Home, repo: Tree) -> None:
    """R22: its state is gone, so it goes; the next question begins afresh."""
    repo.write("a.py", "def a(): pass\n")
    ctx.run("find", "a", cwd=repo.root)

    shutil.rmtree(ctx.path)

    wait_until(lambda: not ctx.daemons, 20, "the daemon notices that its state is gone")
    assert ctx.run("find", "a", cwd=repo.root).returncode == 0


def test_a_removed_root_is_an_error_that_names_it(ctx: Home, repo: Tree) -> None:
    """The worktree went away under the daemon: exit 4, and the daemon stays."""
    repo.write("a.py", "def a(): pass\n")
    ctx.run("find", "a", cwd=repo.root)
    pid = ctx.pid

    shutil.rmtree(repo.root)
    done = ctx.run("find", "-C", str(repo.root), "a", cwd="/")

    assert done.returncode == 4 and str(repo.root) in done.stderr
    assert ctx.pid == pid


def test_junk_on_the_socket_harms_nobody(ctx: Home, repo: Tree) -> None:
    """B049: hang-ups, oversized and malformed frames, a silent client: same pid, next answer right."""
    repo.write("a.py", "def a(): pass\n")
    ctx.run("find", "a", cwd=repo.root)
    pid = ctx.pid

    silent = Link(ctx.path, greet=False)
    for junk in (
        b"",
        b"\xff" * 4,
        b"\x00\x00\x00\x08garbage!",
        b"\x00\x00\x00\x00",
        b"\x00",
        b"GET / HTTP/1.1\r\n\r\n",
    ):
        with Link(ctx.path, greet=False) as link:
            link.socket.sendall(junk)
    with silent, Link(ctx.path) as link:
        assert link.symbols(repo.root, "a")["results"]
    assert ctx.pid == pid


def test_a_file_in_the_place_of_the_socket_is_replaced_or_named(ctx: Home, repo: Tree) -> None:
    """R21: a stale socket is bound over; the daemon's lock decides, not what lies there."""
    repo.write("a.py", "def a(): pass\n")
    ctx.run("find", "a", cwd=repo.root)
    ctx.kill()
    assert os.path.exists(endpoint.socket_path(ctx.path)), "kill -9 leaves the socket behind"

    assert ctx.run("find", "a", cwd=repo.root).returncode == 0


@pytest.mark.skipif(shutil.which("unshare") is None or os.geteuid() != 0, reason="needs unshare and root")
def test_works_without_any_network(ctx: Home, repo: Tree) -> None:
    """P5: in a network namespace of its own, with not even a loopback device up."""
    repo.write("a.py", "def offline(): pass\n")
    done = subprocess.run(
        ["unshare", "-n", str(BIN / "ctx"), "query", "offline"],
        cwd=repo.root,
        env=ctx.env,
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0 and "a.py" in done.stdout, done.stderr


def test_the_daemon_outlives_its_starter_and_holds_nothing_of_it(ctx: Home, repo: Tree) -> None:
    """The pipe of the starting command closes when the command ends; the daemon has its own session and `/`."""
    repo.write("a.py", "def a(): pass\n")
    marker = {"CTX_SECRET_OF_CALLER": "x", "GIT_DIR": "/nowhere", "PYTHONSTARTUP": "/nowhere"}
    done = ctx.run("find", "a", cwd=repo.root, env=marker, timeout=30)
    pid = ctx.pid

    assert done.returncode == 0
    assert os.getsid(pid) == pid
    if sys.platform == "linux":
        assert os.readlink(f"/proc/{pid}/cwd") == "/"
        with open(f"/proc/{pid}/environ", "rb") as file:
            names = {line.split(b"=")[0].decode() for line in file.read().split(b"\0") if line}
        assert not {name for name in names if name.startswith(("GIT_", "PYTHON", "CTX_"))} - {"CTX_HOME"}


def test_doctor_finds_nothing_to_do_beside_a_sound_daemon(ctx: Home, repo: Tree) -> None:
    """What a real daemon says of itself and its worktrees needs no remedy; the kernel's limits may."""
    repo.write("a.py", "def well(): pass\n")
    ctx.run("find", "well", cwd=repo.root)

    found = ctx.json("doctor", cwd=repo.root)["results"]

    rows = {row["name"]: row for row in found if row["name"] != "inotify"}
    assert {row["state"] for row in rows.values()} == {"ok"}, rows
    assert "1 attached" in rows["worktrees"]["detail"]


def test_doctor_says_why_no_daemon_starts(ctx: Home, repo: Tree) -> None:
    """A registry of a newer version: the start fails, doctor repeats why, and the remedy is an upgrade."""
    ctx.run("find", "x", cwd=repo.root)
    ctx.run("daemon", "stop", cwd="/")
    registry = sqlite3.connect(f"{ctx.path}/registry.db")
    registry.execute("PRAGMA user_version = 99")
    registry.close()
    assert ctx.run("find", "x", cwd=repo.root).returncode == 3

    told = ctx.run("doctor", cwd="/")

    assert told.returncode == 1 and "FIX   start" in told.stdout and "upgrade ctx" in told.stdout
