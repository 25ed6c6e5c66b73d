"""B054, where the socket is: a long home, none, a bad runtime directory, a read-only home, two homes, a hostile /tmp.

Six lines, each a defined result and no traceback. As root the read-only home is tried as uid 65534; a foreign owner
of the fallback directory is injected where root's own stat cannot be one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from ctxprotocol import endpoint
from tests import processes
from tests.home import BIN, Home
from tests.tree import Tree

NOBODY = 65534
# Everything is imported before the user changes: the interpreter may stand where uid 65534 cannot read.
AS_NOBODY = """
import os, pkgutil, sys, subprocess, platformdirs, psutil, ctxclient
for each in pkgutil.walk_packages(ctxclient.__path__, "ctxclient."):
    if not each.name.endswith("__main__"):
        __import__(each.name)
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
os.environ["HOME"] = sys.argv[1]
sys.argv = ["ctx", "find", "env_probe_fn"]
from ctxclient.fast import main
sys.exit(main())
"""


class Caller:
    """Runs ctx without CTX_HOME, under a HOME of the test's choice, and remembers which daemons to stop."""

    def __init__(self, home: Home, root: Path) -> None:
        self.root = root
        self.env = {key: value for key, value in home.env.items() if key not in ("CTX_HOME", "HOME")}
        self.pids: list[int] = []
        self.short_places: list[str] = []

    def run(self, *args: str, timeout: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BIN / "ctx", *args],
            cwd=self.root,
            env=self.env | env,
            check=False,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
        )

    def daemon(self, **env: str) -> dict:
        """Return `ctx daemon status --json` under `env`, and stop that daemon at the end."""
        status = json.loads(self.run("daemon", "status", "--json", **env).stdout)
        self.pids.append(status["pid"])
        return status


@pytest.fixture
def caller(ctx: Home, repo: Tree) -> Iterator[Caller]:
    repo.write("e.py", "def env_probe_fn(): pass\n")
    repo.commit()
    made = Caller(ctx, repo.root)
    yield made
    import psutil

    stubborn = processes.end([psutil.Process(pid) for pid in set(made.pids) if psutil.pid_exists(pid)])
    for place in made.short_places:
        assert not os.path.exists(place), f"left behind: {place}"
    assert not stubborn


def first_file(done: subprocess.CompletedProcess[str]) -> str:
    """Return the file of the first result; the command must have answered."""
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)["results"][0]["file"]


def test_line_1_a_home_too_long_for_a_socket(ctx: Home, caller: Caller) -> None:
    """B053, B054: both sides come to the same short private place; status names it."""
    home = f"{ctx.place}/{'d' * 90}/{'e' * 60}"
    os.makedirs(home, 0o700)

    found = caller.run("find", "--json", "env_probe_fn", HOME=home)
    status = caller.daemon(HOME=home)

    assert first_file(found) == "e.py"
    path = endpoint.socket_path(endpoint.state_directory({"HOME": home}))
    assert path.startswith(f"/tmp/ctx-{os.getuid()}-") and len(path) <= 100
    assert path in json.dumps(status)
    assert os.lstat(os.path.dirname(path)).st_mode & 0o777 == 0o700
    caller.short_places.append(os.path.dirname(path))


def test_line_2_no_home_at_all(caller: Caller) -> None:
    """The user database decides, or the error names HOME. No daemon is started: the real home stays as it is."""
    done = caller.run("find", "env_probe_fn", CTX_NO_START="1")

    assert "Traceback" not in done.stderr
    assert done.returncode == 3 and ("CTX_NO_START" in done.stderr or "HOME" in done.stderr), done


def test_line_3_a_runtime_directory_that_does_not_exist(ctx: Home, caller: Caller) -> None:
    """XDG_RUNTIME_DIR decides nothing: the socket is where it always is."""
    env = {"HOME": ctx.user_home, "XDG_RUNTIME_DIR": "/nonexistent/x"}

    found = caller.run("find", "--json", "env_probe_fn", **env)
    caller.daemon(HOME=ctx.user_home)

    assert first_file(found) == "e.py"


def test_line_4_a_read_only_home(ctx: Home, caller: Caller) -> None:
    """The error names the path, in under 5 s, without a traceback."""
    home = f"{ctx.place}/ro"
    os.mkdir(home)
    if os.getuid() == 0:
        os.chown(home, NOBODY, NOBODY)
        os.chmod(ctx.place, 0o755)
    os.chmod(home, 0o500)

    done = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, home],
        cwd="/tmp",
        env=caller.env,
        check=False,
        capture_output=True,
        text=True,
        timeout=5,
    )
    os.chmod(home, 0o700)

    assert done.returncode == 3, done.stderr
    assert home in done.stderr and "Traceback" not in done.stderr


def test_line_5_two_homes_at_once(ctx: Home, caller: Caller) -> None:
    """Two daemons, two sockets, both answer."""
    homes = [f"{ctx.place}/one", f"{ctx.place}/two"]
    for home in homes:
        os.mkdir(home, 0o700)

    files = [first_file(caller.run("find", "--json", "env_probe_fn", HOME=home)) for home in homes]
    statuses = [caller.daemon(HOME=home) for home in homes]

    assert files == ["e.py", "e.py"]
    assert len({status["pid"] for status in statuses}) == 2
    assert len({endpoint.socket_path(endpoint.state_directory({"HOME": home})) for home in homes}) == 2


@pytest.fixture
def short_place(ctx: Home) -> Iterator[tuple[str, str]]:
    """A CTX_HOME that needs the fallback, and the fallback directory in /tmp that belongs to it (not made yet)."""
    state = f"{ctx.place}/{'s' * 120}"
    fallback = os.path.dirname(endpoint.socket_path(state))
    assert fallback.startswith("/tmp/ctx-")
    yield state, fallback
    if os.path.islink(fallback):
        os.unlink(fallback)
    elif os.path.isdir(fallback):
        os.chmod(fallback, 0o700)
        for name in os.listdir(fallback):
            os.unlink(f"{fallback}/{name}")
        os.rmdir(fallback)


@pytest.mark.parametrize("kind", ["mode 777", "a link", "a file"])
def test_line_6_a_hostile_fallback_directory(caller: Caller, short_place: tuple[str, str], kind: str) -> None:
    """What others could have prepared is refused by name, and nothing is started in it."""
    state, fallback = short_place
    if kind == "mode 777":
        os.mkdir(fallback)
        os.chmod(fallback, 0o777)
    elif kind == "a link":
        os.symlink("/var/tmp", fallback)
    else:
        Path(fallback).write_text("")

    done = caller.run("find", "env_probe_fn", CTX_HOME=state, timeout=30)
    if kind == "a file":
        os.unlink(fallback)

    assert done.returncode == 3 and fallback in done.stderr, done
    assert "Traceback" not in done.stderr
    assert not processes.daemons_of(state)


def test_line_6_a_fallback_directory_of_another_user(
    short_place: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The owner is injected: a directory of uid 4242 is refused, by the check of the client and of the daemon."""
    _, fallback = short_place
    os.mkdir(fallback, 0o700)
    real = os.lstat(fallback)
    foreign = SimpleNamespace(st_mode=real.st_mode, st_uid=4242)
    for check, place in ((endpoint.make_private, fallback), (endpoint.check_place, f"{fallback}/ctxd.sock")):
        with monkeypatch.context() as patch, pytest.raises(endpoint.UnsafePlace, match="4242"):
            patch.setattr(endpoint.os, "lstat", lambda _path: foreign)
            check(place)


@pytest.mark.skipif(os.geteuid() != 0, reason="without root no directory can be given to another user")
def test_line_6_a_fallback_directory_really_of_another_user(caller: Caller, short_place: tuple[str, str]) -> None:
    """The same with a real one, as root."""
    state, fallback = short_place
    os.mkdir(fallback, 0o700)
    os.chown(fallback, NOBODY, NOBODY)

    done = caller.run("find", "env_probe_fn", CTX_HOME=state, timeout=30)

    assert done.returncode == 3 and fallback in done.stderr, done
