"""`ctx doctor` on installations that work, but not well: each such state is named, with what to do."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctxclient import checks, degraded, launch, units
from ctxclient.finding import BAD, NOTE, OK, Check
from ctxclient.service import Manager
from ctxprotocol import endpoint
from ctxprotocol.messages import Answer

STOPPED = Check("daemon", OK, "not running; it starts by itself")
TRUSTED = {"state": "trusted", "reason": "", "remedy": ""}


def worktree(**changed: object) -> dict[str, object]:
    """Return a worktree of `ctx daemon status --json` with which nothing is wrong."""
    sound = {"root": "/r", "phase": "ready", "fresh": True, "watching": TRUSTED, "rebuilds": 0, "last_error": None}
    return sound | changed


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of this test's own."""
    monkeypatch.setenv("CTX_HOME", str(tmp_path / "s"))
    launch.prepare(str(tmp_path / "s"))
    return tmp_path / "s"


@pytest.mark.parametrize(
    ("found", "state", "words", "remedy"),
    [
        (
            {"watching": {"state": "degraded", "reason": "no watches left", "remedy": "raise sysctl fs.inotify.x"}},
            *(BAD, "no watches left", "raise sysctl fs.inotify.x"),
        ),
        ({"watching": {"state": "degraded", "reason": "", "remedy": ""}}, BAD, "a limit was hit", "ctx daemon restart"),
        ({"watching": {"state": "scanning", "reason": "nfs", "remedy": ""}}, NOTE, "each question scans", ""),
        ({"phase": "failed", "last_error": "disk full, writes paused"}, BAD, "disk full", "free some room"),
        ({"phase": "damaged"}, BAD, "damaged", "ctx -C /r update --full"),
        ({"fresh": False, "last_error": "git says no"}, BAD, "git says no", "ctx -C /r update --full"),
        ({"last_error": "it was slow"}, NOTE, "which is over: it was slow", ""),
        ({"rebuilds": 2}, NOTE, "built anew 2x", ""),
    ],
)
def test_a_degraded_worktree(found: dict[str, object], state: str, words: str, remedy: str) -> None:
    """What the daemon says of it, and the command or the sysctl that helps."""
    (check,) = degraded.worktree_checks(worktree(**found))

    assert (check.state, words in check.detail, remedy in check.remedy) == (state, True, True)
    assert (check.remedy != "") == (state == BAD)


def test_a_sound_or_closed_worktree_needs_nothing() -> None:
    """Neither is worth a line."""
    assert [*degraded.worktree_checks(worktree()), *degraded.worktree_checks(worktree(phase="closed"))] == []


def test_the_daemon_is_asked(fake, tmp_path: Path) -> None:
    """One line for each worktree that is not well, or one for all."""
    told = {"pid": 0, "worktrees": [worktree(), worktree(root="/two", rebuilds=1)]}
    fake.script = lambda peer: peer.say(fake.welcome, Answer(out=json.dumps(told)))
    (found,) = degraded.running(fake.home)
    told["worktrees"] = [worktree()]
    (sound,) = degraded.running(fake.home)
    fake.script = lambda peer: peer.say(fake.welcome, Answer(out="no object"))
    (garbled,) = degraded.running(fake.home)

    assert (found.state, "/two" in found.detail) == (NOTE, True)
    assert (sound.state, sound.detail[:10]) == (OK, "1 attached")
    assert (garbled.state, garbled.remedy) == (BAD, "ctx daemon restart")


@pytest.fixture
def dumper() -> Iterator[int]:
    """The pid of a process that may leave a core file."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_CORE, (4096, -1)); print(flush=True); input()"
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout
        process.stdout.readline()
        yield process.pid
        process.communicate(b"\n")


@pytest.mark.skipif(sys.platform != "linux", reason="limits of another process are read from /proc")
def test_core_files_of_the_daemon(fake, dumper: int) -> None:
    """A core file would hold what the daemon has read."""
    fake.script = lambda peer: peer.say(fake.welcome, Answer(out=json.dumps({"pid": dumper, "worktrees": []})))

    core = next(iter(degraded.running(fake.home)))

    assert (core.name, core.state, core.remedy) == ("core", BAD, "ctx daemon restart")


def test_a_configuration_that_cannot_be_used(place: Path) -> None:
    """The file, the line's fault and the nearest key; a good file is fine, and none is no matter."""
    assert list(degraded.files(str(place))) == []
    (place / "config.toml").write_text("daemon.worker = 2\n")
    (bad,) = degraded.files(str(place))
    (place / "config.toml").write_bytes(b"\xff\xfe")
    (garbled,) = degraded.files(str(place))
    (place / "config.toml").write_text("daemon.workers = 2\n")
    (good,) = degraded.files(str(place))

    assert (bad.state, "daemon.worker" in bad.detail, bad.remedy != "") == (BAD, True, True)
    assert (garbled.state, good.state) == (BAD, OK)


def test_a_socket_that_lets_others_connect(fake) -> None:
    """The remedy is a chmod."""
    path = endpoint.socket_path(fake.home)
    os.chmod(path, 0o600)
    assert [check for check in degraded.files(fake.home) if check.name == "socket"] == []
    os.chmod(path, 0o666)

    (found,) = (check for check in degraded.files(fake.home) if check.name == "socket")

    assert (found.state, found.remedy) == (BAD, f"chmod 600 {path}")


def test_a_cache_over_its_bound_and_files_set_aside(place: Path) -> None:
    """The bound is the configuration's; damaged files take room until somebody has looked."""
    (place / "config.toml").write_text("daemon.cache_bytes = 1000000\n")
    (place / "cache-1-1.db").write_bytes(b"x" * 2_000_000)
    (place / "indexes/a").mkdir(parents=True)
    (place / "indexes/a/index-2-1.db.damaged").write_bytes(b"x")

    found = {check.name: check for check in degraded.files(str(place))}

    assert found["cache"].state == BAD and "ctx daemon stop" in found["cache"].remedy
    assert found["damage"].state == NOTE and "index-2-1.db.damaged" in found["damage"].detail


@pytest.mark.parametrize(
    ("said", "remedy"), [("registry.db was written by a newer version of ctx", "upgrade ctx"), ("no room", "mend that")]
)
def test_the_last_start_failed(place: Path, said: str, remedy: str) -> None:
    """What it wrote before it ended; not while a daemon runs, and not after a good start."""
    Path(endpoint.start_log_path(str(place))).write_text(f"ctxd: {said}\n")

    (found,) = degraded.last_start(str(place), STOPPED)

    assert (found.state, said in found.detail, remedy in found.remedy) == (BAD, True, True)
    assert list(degraded.last_start(str(place), Check("daemon", OK, "answers"))) == []
    Path(endpoint.start_log_path(str(place))).write_text("")
    assert list(degraded.last_start(str(place), STOPPED)) == []


@pytest.fixture
def unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], list[Check]]]:
    """Put a unit with this text where the manager has it, and say what doctor finds."""
    text = units._marked("[Service]\n", "# {}")
    path, link = tmp_path / "ctxd.service", tmp_path / "wants"
    found = Manager({str(path): text}, (), (), (), (), (), (str(link),))
    monkeypatch.setattr(degraded.services, "manager", lambda: found)
    monkeypatch.setattr(degraded.shutil, "which", lambda _name: None)

    def look(put: str) -> list[Check]:
        path.write_text(put or text)
        return list(degraded.service("/state"))

    look.link = link  # type: ignore[attr-defined]
    yield look


def test_the_service_and_its_units(unit) -> None:
    """Somebody else's unit is not ours to judge; an edited, an old and a disabled one are named."""
    foreign = unit("[Service]\n")
    (edited, *_) = unit(units._marked("[Service]\n", "# {}") + "Nice=5\n")
    (old,) = unit(units._marked("[Service]\nOld=1\n", "# {}"))
    (disabled,) = unit("")
    unit.link.symlink_to("/x")
    (sound,) = unit("")

    assert foreign == [] and (edited.state, "was edited" in edited.detail) == (NOTE, True)
    assert (old.state, disabled.state, sound.state) == (BAD, BAD, OK)
    assert old.remedy == disabled.remedy == "ctx daemon install"


@pytest.mark.parametrize(("said", "found"), [("Linger=no", [NOTE]), ("Linger=yes", []), ("", [])])
def test_a_service_that_ends_with_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, found: list[str]
) -> None:
    """Without lingering it goes when its user logs out."""
    program = tmp_path / "loginctl"
    program.write_text(f"#!/bin/sh\necho {said}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)

    assert [check.state for check in degraded._linger()] == found


def test_everything_is_in_the_list(fake) -> None:
    """`ctx doctor` runs all of it."""
    fake.script = lambda peer: peer.say(fake.welcome, Answer(out=json.dumps({"pid": 0, "worktrees": [worktree()]})))
    Path(fake.home, "config.toml").write_text("search.limit = 3\n")

    names = [check.name for check in checks.all_checks()]

    assert {"python", "packages", "git", "state", "config", "daemon", "worktrees"} <= set(names)
