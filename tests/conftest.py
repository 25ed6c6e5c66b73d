"""Hermetic by default: a test has a clean environment and leaks nothing, the whole run leaves no process."""

from __future__ import annotations

import gc
import os
import sys
import threading
import time
from collections.abc import Iterator

import psutil
import pytest

from tests import processes
from tests.home import PREFIX, Home, clean_environment
from tests.tree import Tree


@pytest.fixture(scope="session", autouse=True)
def no_strays() -> Iterator[None]:
    """R38: after the whole run no daemon, no worker and no listening socket that it started is left."""
    started = time.time()
    yield
    left = processes.placed_below(PREFIX)
    orphans = processes.orphaned_workers(started, sys.executable)
    sockets = processes.listening_below(PREFIX)
    lines = [f"{process.pid} {line}" for process, line in left]
    processes.end([process for process, _ in left])
    assert not lines, f"left running: {lines}"
    assert not orphans and not sockets, f"workers without a daemon: {orphans}, sockets: {sockets}"


@pytest.fixture(scope="session")
def user_home(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An empty home directory that all tests share."""
    return str(tmp_path_factory.mktemp("user"))


@pytest.fixture(autouse=True)
def clean(user_home: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of the person who runs the tests reaches a test."""
    wanted = clean_environment(dict(os.environ), user_home)
    for key in set(os.environ) - set(wanted) - {"PYTEST_CURRENT_TEST"}:
        if not key.startswith("PYTEST"):
            monkeypatch.delenv(key)
    for key, value in wanted.items():
        if os.environ.get(key) != value:
            monkeypatch.setenv(key, value)


@pytest.fixture(autouse=True)
def no_leaks(clean: None) -> Iterator[None]:
    """A test closes the descriptors it opens, and joins its threads and children."""
    before = _held()
    yield
    after = _held()
    if after == before:
        return
    deadline = time.monotonic() + 2
    while not _within(after := _held(), before) and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert _within(after, before), f"leaked: {_difference(before, after)}"


Held = tuple[dict[str, str], frozenset[str], frozenset[int]]


def _held() -> Held:
    descriptors = {}
    if os.path.isdir("/proc/self/fd"):
        for number in os.listdir("/proc/self/fd"):
            try:
                descriptors[number] = os.readlink(f"/proc/self/fd/{number}")
            except OSError:
                pass  # the descriptor of the listing itself
    threads = frozenset(f"{each.name}#{each.ident}" for each in threading.enumerate())
    return descriptors, threads, _children()


def _children() -> frozenset[int]:
    found: set[int] = set()
    try:
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children") as file:
                found.update(map(int, file.read().split()))
    except OSError:
        found.update(child.pid for child in psutil.Process().children())
    return frozenset(found)


def _within(after: Held, before: Held) -> bool:
    return len(after[0]) <= len(before[0]) and after[1] <= before[1] and after[2] <= before[2]


def _difference(before: Held, after: Held) -> str:
    descriptors = [f"{n} -> {to}" for n, to in after[0].items() if before[0].get(n) != to]
    threads, children = sorted(after[1] - before[1]), sorted(after[2] - before[2])
    return f"descriptors {descriptors}, threads {threads}, children {children}"


@pytest.fixture
def ctx() -> Iterator[Home]:
    """A CTX_HOME of its own with a short path; `ctx.run("find", "x", cwd=...)` runs a command in it."""
    home = Home()
    yield home
    assert not home.close(), "the daemon did not end when asked to"


@pytest.fixture
def home(ctx: Home) -> str:
    """The path of this test's CTX_HOME; its daemon is stopped and the directory removed afterwards."""
    return ctx.path


@pytest.fixture
def repo(tmp_path) -> Tree:
    """An empty git repository to be filled."""
    return Tree(tmp_path / "r")
