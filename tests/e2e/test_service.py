"""ctxd under a service manager: the socket is handed over, readiness is told, and it may be restarted at any time."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ctxprotocol import endpoint
from tests.home import Home
from tests.link import Link
from tests.processes import wait_until
from tests.tree import Tree

# As systemd does it: descriptor 3, and the pid of the process that is meant.
HAND_OVER = """
import os, sys
os.dup2(int(sys.argv[1]), 3)
os.environ |= {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"}
os.execv(sys.argv[2], sys.argv[2:])
"""


class Manager:
    """Holds the socket, starts a daemon when somebody connects, and hears what it tells; for one home."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.told: list[str] = []
        self.started = 0
        self.process: subprocess.Popen[bytes] | None = None
        endpoint.make_private(home.path)
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(endpoint.socket_path(home.path))
        os.chmod(endpoint.socket_path(home.path), 0o600)
        self.listener.listen(64)
        self.notices = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notices.bind(f"{home.place}/notify")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="manager")
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.is_set():
            running = self.process is not None and self.process.poll() is None
            watched = [self.notices] if running else [self.notices, self.listener]
            ready, _, _ = select.select(watched, [], [], 0.02)
            if self.notices in ready:
                self.told.append(self.notices.recv(256).decode())
            if self.listener in ready:
                self._start()

    def _start(self) -> None:
        self.started += 1
        number = self.listener.fileno()
        command = [sys.executable, "-c", HAND_OVER, str(number), str(self.home.bin / "ctxd"), "start"]
        env = self.home.env | {"NOTIFY_SOCKET": f"{self.home.place}/notify"}
        self.process = subprocess.Popen(command, pass_fds=(number,), cwd="/", env=env)

    def close(self) -> None:
        self._ended.set()
        self._thread.join()
        if self.process is not None:
            self.process.terminate()
            self.process.wait(20)
        self.listener.close()
        self.notices.close()


@pytest.fixture
def manager(ctx: Home) -> Iterator[Manager]:
    found = Manager(ctx)
    yield found
    found.close()


def test_a_question_starts_it_and_is_answered(manager: Manager, ctx: Home, repo: Tree) -> None:
    """The client finds a socket and nobody behind it: it starts nothing itself, and the answer comes."""
    repo.write("a.py", "def passed_in(): pass\n")

    done = ctx.run("find", "passed_in", cwd=repo.root, env={"CTX_NO_START": "1"})

    assert (done.returncode, "a.py" in done.stdout) == (0, True), done.stderr
    assert manager.process is not None and ctx.daemons == [manager.process.pid]
    wait_until(lambda: manager.told == ["READY=1"], 5, "READY=1")


def test_its_end_leaves_the_socket_to_the_manager(manager: Manager, ctx: Home, repo: Tree) -> None:
    """STOPPING=1 is told, the socket stays where it is, and the next question starts the next daemon."""
    repo.write("a.py", "def passed_in(): pass\n")
    ctx.run("find", "passed_in", cwd=repo.root)
    inode, first = os.lstat(endpoint.socket_path(ctx.path)).st_ino, ctx.pid

    os.kill(first, signal.SIGTERM)
    wait_until(lambda: ctx.daemons != [first], 10, "it ends")
    again = ctx.run("find", "passed_in", cwd=repo.root)

    assert again.returncode == 0 and ctx.pid != first
    assert os.lstat(endpoint.socket_path(ctx.path)).st_ino == inode
    wait_until(lambda: manager.told == ["READY=1", "STOPPING=1", "READY=1"], 5, "what it tells")


def test_it_ends_when_idle_as_the_manager_starts_it_again(manager: Manager, ctx: Home, repo: Tree) -> None:
    """Nobody asks: memory is free; somebody asks: it is there."""
    Path(ctx.path, "config.toml").write_text("daemon.idle_exit_s = 1\n")
    repo.write("a.py", "def passed_in(): pass\n")
    ctx.run("find", "passed_in", cwd=repo.root)
    first = ctx.pid

    wait_until(lambda: first not in ctx.daemons, 20, "it ends by itself")

    assert ctx.run("find", "passed_in", cwd=repo.root).returncode == 0


@contextmanager
def asking(ctx: Home, tree: Tree) -> Iterator[list[str]]:
    """Ask by the real client again and again, three at a time; give what was not answered."""
    failed: list[str] = []
    ended = threading.Event()

    def ask() -> None:
        while not ended.is_set():
            done = ctx.run("symbols", "stays", cwd=tree.root)
            if done.returncode or "a.py" not in done.stdout:
                failed.append(f"exit {done.returncode}: {done.stderr}")

    threads = [threading.Thread(target=ask, name=f"asking-{number}") for number in range(3)]
    for thread in threads:
        thread.start()
    try:
        yield failed
    finally:
        ended.set()
        for thread in threads:
            thread.join()


@pytest.mark.parametrize("service", [False, True])
def test_restarts_while_clients_ask(ctx: Home, repo: Tree, service: bool, request: pytest.FixtureRequest) -> None:
    """Four restarts, with and without a service manager: every question is answered, one daemon at a time."""
    if service:
        request.getfixturevalue("manager")
    repo.write("a.py", "def stays(): pass\n")
    assert ctx.run("symbols", "stays", cwd=repo.root).returncode == 0
    pids = {ctx.pid}

    with asking(ctx, repo) as failed:
        for _ in range(4):
            done = ctx.run("daemon", "restart", cwd="/")
            assert done.returncode == 0, done.stderr
            wait_until(lambda: len(ctx.daemons) == 1, 10, "one daemon")
            pids.add(ctx.pid)

    assert failed == [] and len(pids) == 5


def test_who_is_connected_is_told_of_a_restart(ctx: Home, repo: Tree) -> None:
    """One that watches ends with a message and exit 3; an idle connection is closed, and its client connects anew."""
    repo.write("a.py", "def stays(): pass\n")
    ctx.run("symbols", "stays", cwd=repo.root)
    command = [str(ctx.bin / "ctx"), "watch"]
    with (
        subprocess.Popen(
            command, cwd=repo.root, env=ctx.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as watching,
        Link(ctx.path) as link,
    ):
        assert watching.stdout and watching.stdout.readline()
        began = time.monotonic()
        assert ctx.run("daemon", "restart", cwd="/").returncode == 0
        _, said = watching.communicate(timeout=20)
        with pytest.raises(EOFError):
            link.receive()

    assert watching.returncode == 3 and b"has ended" in said
    assert time.monotonic() - began < 15
