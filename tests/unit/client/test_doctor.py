"""`ctx doctor`: each part of a broken installation is named, with what to do."""

from __future__ import annotations

import importlib
import json
import os
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxclient import checks
from ctxclient.finding import BAD, NOTE, OK
from ctxprotocol import endpoint
from ctxprotocol.messages import Answer, Welcome

Run = Callable[..., subprocess.CompletedProcess[str]]
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def limits(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The kernel's limits as this test writes them; good ones to begin with."""
    (tmp_path / "max_user_watches").write_text("524288\n")
    (tmp_path / "max_user_instances").write_text("128\n")
    monkeypatch.setattr(checks, "INOTIFY", str(tmp_path))
    return tmp_path


def test_a_sound_installation(fake, run: Run) -> None:
    """Every part is named; the daemon that answers is, too."""
    fake.script = lambda peer: peer.say(fake.welcome, Answer(out='{"pid":0,"worktrees":[]}'))
    found = json.loads(run("doctor", "--json").stdout)

    rows = {row["name"]: row for row in found["results"]}
    assert found["schema"] == 1 and {"python", "packages", "git", "state", "daemon"} <= set(rows)
    sound = {name: row for name, row in rows.items() if name != "inotify"}
    assert all(row["state"] == OK and row["remedy"] is None for row in sound.values())
    assert rows["daemon"]["detail"] == f"ctxd {endpoint.VERSION} (pid {os.getpid()}) at {fake.home}/ctxd.sock answers"


def test_doctor_starts_and_creates_nothing(state: str, run: Run) -> None:
    """Before first use there is no directory and no daemon, and so it stays."""
    done = run("doctor", env={**os.environ, "CTX_NO_START": ""})

    assert "not running; it starts by itself" in done.stdout
    assert not os.path.exists(state)


def test_what_needs_doing_makes_exit_1(state: str, run: Run, tmp_path: Path) -> None:
    """A state directory that cannot be: FIX, the remedy, exit 1."""
    (tmp_path / "file").touch()

    done = run("doctor", env={**os.environ, "CTX_HOME": f"{tmp_path}/file/none"})

    assert done.returncode == 1
    assert f"FIX   state      {tmp_path}/file/none: Not a directory\n" in done.stdout
    assert "-> make it readable, or set CTX_HOME\n" in done.stdout and done.stdout.endswith("doing\n")


def test_few_watches_are_told_with_the_sysctl(limits: Path) -> None:
    """Below what a large repository needs the remedy is the command to type."""
    (limits / "max_user_watches").write_text("8192\n")

    watches, instances = checks.watches()

    assert (watches.state, instances.state) == (BAD, OK)
    assert watches.remedy.startswith("sudo sysctl -w fs.inotify.max_user_watches=524288")


def test_no_inotify_no_check(limits: Path) -> None:
    """Other systems have no such limits."""
    shutil.rmtree(limits)

    assert list(checks.watches()) == []


def test_a_mode_that_lets_others_in(state: str) -> None:
    """The remedy is a chmod."""
    os.mkdir(state)
    os.chmod(state, 0o755)

    found = checks.state(state)

    assert (found.state, found.remedy) == (BAD, f"chmod 700 {state}")


def test_a_link_instead_of_the_directory(state: str, tmp_path: Path) -> None:
    """A link is named as one."""
    os.symlink(tmp_path, state)

    assert "symbolic link" in checks.state(state).detail


def test_little_room(state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk is named before an index fails on it."""
    monkeypatch.setattr(checks, "ENOUGH_FREE_BYTES", 1 << 80)

    assert checks.state(state).state == BAD


def test_a_package_that_cannot_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Which one, why, and how to install again."""
    real = importlib.import_module

    def load(name: str) -> object:
        if name == "apsw":
            raise ImportError("undefined symbol")
        return real(name)

    monkeypatch.setattr(checks.importlib, "import_module", load)

    found = checks.packages()

    assert found.state == BAD and found.detail == "cannot import apsw (undefined symbol)"
    assert "pip install" in found.remedy


def test_no_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without git ignore rules are read by a library."""
    monkeypatch.setenv("PATH", "/nonexistent")

    assert checks.git().state == BAD


@pytest.mark.parametrize(("version", "state_"), [("0.0.1", NOTE), ("9.0", BAD)])
def test_another_version_answers(fake, version: str, state_: str) -> None:
    """An older daemon goes by itself; a newer one asks for an upgrade of this client."""
    fake.welcome = Welcome(protocol=1, version=version, pid=1)

    assert checks.daemon(fake.home).state == state_


def test_every_declared_package_is_checked() -> None:
    """What pyproject.toml declares is what is tried, by its module's name."""
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    # What has a marker is not there for every machine, and is done without there.
    names = {each.split(">")[0].split("=")[0].strip().replace("-", "_") for each in declared if ";" not in each}

    assert {"re2" if name == "google_re2" else name for name in names} | {"ctxd"} == set(checks.PACKAGES)
