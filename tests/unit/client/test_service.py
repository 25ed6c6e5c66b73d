"""`ctx daemon install` and `uninstall`, in a home of the test's own and with a service manager of the test's own."""

from __future__ import annotations

import json
import os
import plistlib
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxclient import service, units
from ctxprotocol import endpoint
from ctxprotocol.errors import ServiceRefused
from tests.unit.client.conftest import CTX, FakeDaemon

Run = Callable[..., subprocess.CompletedProcess[str]]
CTXD = str(Path(CTX).parent / "ctxd")
SYSTEMCTL = """#!/bin/sh
echo "$*" >> {log}
case "$*" in
  *show-environment*) exit {reachable} ;;
  *{failing}*) echo "Job failed." >&2; exit 1 ;;
esac
"""


class Place:
    """A home directory, and a systemctl that only notes what it is told."""

    def __init__(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home = tmp_path / "home"
        self.bin = tmp_path / "bin"
        self.folder = self.home / ".config/systemd/user"
        self.socket, self.service = self.folder / "ctxd.socket", self.folder / "ctxd.service"
        self.home.mkdir()
        self.bin.mkdir()
        self.systemctl()
        monkeypatch.setenv("HOME", str(self.home))
        monkeypatch.setenv("PATH", f"{self.bin}:{os.environ['PATH']}")

    def systemctl(self, *, reachable: bool = True, failing: str = "nothing") -> None:
        path = self.bin / "systemctl"
        path.write_text(SYSTEMCTL.format(log=self.bin / "log", reachable=int(not reachable), failing=failing))
        path.chmod(0o755)

    def told(self) -> list[str]:
        """Return what systemctl was told since the last call, but for whether it is there."""
        log = self.bin / "log"
        lines = log.read_text().splitlines() if log.exists() else []
        log.unlink(missing_ok=True)
        return [line.removeprefix("--user ") for line in lines if "show-environment" not in line]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, monkeypatch)


def test_install_and_uninstall(place: Place, run: Run) -> None:
    """The units are written and enabled, each step is shown, and taking it back leaves nothing."""
    installed = run("daemon", "install")
    told = place.told()
    socket = place.socket.read_text()
    again = run("daemon", "install")
    told_again = place.told()
    removed = run("daemon", "uninstall")

    assert (installed.returncode, installed.stderr, installed.stdout) == (
        0,
        "",
        f"wrote {place.socket}\nwrote {place.service}\n"
        "ran systemctl --user daemon-reload\nran systemctl --user enable --now ctxd.socket\n",
    )
    assert told == ["daemon-reload", "enable --now ctxd.socket"] == told_again
    assert again.stdout.startswith(f"unchanged {place.socket}\nunchanged {place.service}\n")
    assert "ListenStream=%h/.local/share/ctx/ctxd.sock\n" in socket
    assert place.told() == ["disable --now ctxd.socket ctxd.service", "daemon-reload"]
    assert f"removed {place.service}\n" in removed.stdout and not list(place.folder.iterdir())
    assert run("daemon", "uninstall").stdout == "nothing was installed\n"


def test_the_service_has_the_full_path(place: Place, run: Run) -> None:
    """A user manager has a PATH of its own."""
    run("daemon", "install")

    lines = place.service.read_text().splitlines()
    assert f"ExecStart={units._quoted(CTXD)} start" in lines and "NoNewPrivileges=yes" in lines


def test_without_a_manager_the_commands_are_named(place: Place, run: Run) -> None:
    """In a container, say: the files are there, and what is left to do is said; nothing else is run."""
    place.systemctl(reachable=False)

    done = run("daemon", "install")
    data = json.loads(run("daemon", "uninstall", "--json").stdout)

    assert done.returncode == 0 and place.told() == []
    assert done.stderr.splitlines()[1:] == [
        "  systemctl --user daemon-reload",
        "  ctx daemon stop",
        "  systemctl --user enable --now ctxd.socket",
    ]
    assert data["done"] == [f"removed {place.socket}", f"removed {place.service}"]
    assert data["left"] == ["systemctl --user daemon-reload"]


@pytest.mark.parametrize("command", ["install", "uninstall"])
@pytest.mark.parametrize("whose", ["theirs", "edited", "a link"])
def test_what_is_not_ours_is_not_touched(command: str, whose: str, place: Place, run: Run) -> None:
    """A unit of somebody else, one that was edited, a link: refused before anything is done, exit 4."""
    if whose == "edited":
        run("daemon", "install")
        place.service.write_text(place.service.read_text().replace("RestartSec=1", "RestartSec=9"))
    else:
        place.folder.mkdir(parents=True)
        target = place.home / "theirs"
        target.write_text("[Service]\nExecStart=/opt/ctxd start\n")
        place.service.symlink_to(target) if whose == "a link" else shutil.copy(target, place.service)
    place.told()
    before = {path: path.read_bytes() for path in place.folder.iterdir()}

    done = run("daemon", command)

    assert done.returncode == 4 and str(place.service) in done.stderr and "nothing was done" in done.stderr
    assert {path: path.read_bytes() for path in place.folder.iterdir()} == before
    assert place.told() == []


def test_a_unit_of_an_older_installation_is_replaced(place: Place, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ours and unedited, but with another path: what it runs ends first, then the new one counts."""
    found = service.manager("linux")
    with monkeypatch.context() as older:
        older.setattr(service, "_program", lambda: ["/old/bin/ctxd"])
        service.install(service.manager("linux"))
    place.told()

    done = run("daemon", "install")

    assert done.stdout.startswith(f"unchanged {place.socket}\nwrote {place.service}\n")
    assert place.service.read_text() == found.texts[str(place.service)]
    assert place.told() == ["stop ctxd.socket ctxd.service", "daemon-reload", "enable --now ctxd.socket"]


def test_a_daemon_that_runs_makes_room(place: Place, fake: FakeDaemon, run: Run) -> None:
    """One that a client started would hold the socket that the manager is to listen on."""
    done = run("daemon", "install")

    assert fake.stopped and f"stopped ctxd {endpoint.VERSION} (pid {os.getpid()})\n" in done.stdout


def test_a_failing_manager_is_told(place: Place, run: Run) -> None:
    """What it said, and where to look; exit 4."""
    place.systemctl(failing="enable")

    done = run("daemon", "install")

    assert done.returncode == 4
    assert done.stderr.splitlines()[0] == "ctx: systemctl --user enable --now ctxd.socket failed: Job failed."


def test_links_of_an_enabled_unit_go_with_it(place: Place, run: Run) -> None:
    """Without a manager nobody else would remove them; a link to something else stays."""
    run("daemon", "install")
    wants = place.folder / "sockets.target.wants"
    other = place.folder / "default.target.wants"
    wants.mkdir()
    other.mkdir()
    (wants / "ctxd.socket").symlink_to(place.socket)
    (other / "ctxd.service").symlink_to("/opt/ctxd.service")
    place.systemctl(reachable=False)

    run("daemon", "uninstall")

    assert (list(wants.iterdir()), list(other.iterdir())) == ([], [other / "ctxd.service"])


def test_another_place_for_the_state_goes_into_the_units(state: str, place: Place, run: Run) -> None:
    """CTX_HOME and the XDG variables of the caller decide where daemon and socket are: both units know."""
    environ = {**os.environ, "CTX_HOME": f"{state} 100%", "XDG_CONFIG_HOME": str(place.home / "c")}

    run("daemon", "install", env=environ)

    folder = place.home / "c/systemd/user"
    service_text, socket_text = ((folder / name).read_text() for name in ("ctxd.service", "ctxd.socket"))
    assert f'Environment="CTX_HOME={state} 100%%"\nEnvironment=XDG_CONFIG_HOME={place.home}/c\n' in service_text
    assert f"ListenStream={state} 100%%/ctxd.sock\n" in socket_text


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize("state_dir", ["", 'odd $HOME "100%" \\ place'])
def test_systemd_finds_nothing_to_say(state_dir: str, place: Place, run: Run) -> None:
    """The units as they are written are valid, also for a state directory with an odd name."""
    environ = dict(os.environ) | ({"CTX_HOME": str(place.home / state_dir)} if state_dir else {})
    run("daemon", "install", env=environ)

    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--recursive-errors=no", str(place.socket), str(place.service)],
        env={"PATH": os.environ["PATH"], "HOME": str(place.home), "XDG_RUNTIME_DIR": str(place.home)},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_the_launch_agent_is_a_property_list(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not tried on a Mac; but what is written reads as what is meant, and is known again as ours."""
    monkeypatch.setenv("CTX_HOME", "/Users/a & b/ctx")
    (path, text) = next(iter(service.manager("darwin").texts.items()))
    os.makedirs(os.path.dirname(path))
    Path(path).write_text(text)

    agent = plistlib.loads(text.encode())

    assert path == f"{place.home}/Library/LaunchAgents/local.ctxd.plist"
    assert (agent["Label"], agent["ProgramArguments"]) == ("local.ctxd", [CTXD, "start"])
    assert agent["EnvironmentVariables"] == {"CTX_HOME": "/Users/a & b/ctx"}
    assert units.state_of(path) == "ours"


@pytest.mark.parametrize(
    ("platform", "message"),
    [("win32", r"no service manager on this platform \(win32\)"), ("linux", "no systemd on this machine")],
)
def test_elsewhere_it_says_that_none_is_needed(
    platform: str, message: str, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows, or a Linux without systemd."""
    monkeypatch.setenv("PATH", "/nowhere")

    with pytest.raises(ServiceRefused, match=message) as caught:
        service.manager(platform)
    assert "starts by itself" in caught.value.hint
