"""The service units are valid, and a daemon that systemd starts takes the socket it is handed."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from ctxprotocol import endpoint
from tests.home import BIN, Home
from tests.link import Link
from tests.tree import Tree

ROOT = Path(__file__).resolve().parent.parent
UNITS = ROOT / "packaging/systemd"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_units_are_valid(tmp_path: Path) -> None:
    """systemd finds nothing to say about the units once ExecStart has a full path."""
    for unit in UNITS.iterdir():
        text = unit.read_text().replace("ExecStart=ctxd", f'ExecStart="{BIN / "ctxd"}"')
        (tmp_path / unit.name).write_text(text)

    done = subprocess.run(
        ["systemd-analyze", "--user", "verify", "--recursive-errors=no", *map(str, tmp_path.glob("ctxd.*"))],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "XDG_RUNTIME_DIR": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_units_name_the_socket_that_clients_look_for() -> None:
    """The path in the unit is the one that the client derives from HOME alone."""
    text = (UNITS / "ctxd.socket").read_text()

    expected = endpoint.socket_path(endpoint.state_directory({"HOME": "/home/someone"}))
    if sys.platform == "linux":
        assert f"ListenStream={expected.replace('/home/someone', '%h')}\n" in text


def test_units_do_not_hide_what_is_indexed() -> None:
    """Options that give the service another view of the files are not used."""
    text = (UNITS / "ctxd.service").read_text()
    lines = [line.split("=")[0] for line in text.splitlines() if "=" in line and not line.startswith("#")]

    assert not {"PrivateTmp", "ProtectHome", "ProtectSystem", "InaccessiblePaths", "PrivateMounts"} & set(lines)


def test_the_wheel_holds_the_units(tmp_path: Path) -> None:
    """`ctx daemon install` finds them in an installation as in a checkout."""
    pytest.importorskip("hatchling")
    code = "import sys; from hatchling.build import build_wheel; print(build_wheel(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=True, capture_output=True, text=True, timeout=60
    )

    with zipfile.ZipFile(tmp_path / done.stdout.split()[-1]) as wheel:
        names = {name for name in wheel.namelist() if "/packaging/" in name}
    assert names == {
        "ctxclient/packaging/launchd/local.ctxd.plist",
        "ctxclient/packaging/systemd/ctxd.service",
        "ctxclient/packaging/systemd/ctxd.socket",
    }


def test_only_what_is_imported_is_declared() -> None:
    """Each dependency of the distribution is imported by one of its packages."""
    from tests import imports

    names = {"google-re2": "re2", "charset-normalizer": "charset_normalizer"}
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    wanted = {names.get(n, n.replace("-", "_")) for n in (each.split(">")[0].strip() for each in declared)}
    used = {
        each.name.split(".")[0]
        for module, path in imports.modules().items()
        for each in imports.imports_of(path.read_text(), module, False, frozenset())
    }
    # An extension of SQLite is loaded from where it lies; importing its package would load more than that.
    used |= {
        name for path in imports.modules().values() for name in re.findall(r'find_spec\("(\w+)"\)', path.read_text())
    }

    assert not wanted - used


@pytest.mark.skipif(sys.platform != "linux", reason="socket activation by systemd is Linux's")
def test_a_daemon_serves_the_socket_that_it_is_handed(ctx: Home, repo: Tree) -> None:
    """Socket activation: the daemon says READY=1, answers, and leaves the socket where it is."""
    os.makedirs(ctx.path, 0o700)
    path = endpoint.socket_path(ctx.path)
    repo.write("a.py", "def handed_over(): pass\n")
    with (
        socket.socket(socket.AF_UNIX) as listener,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify,
    ):
        listener.bind(path)
        listener.listen(16)
        notify.bind(f"{ctx.place}/notify")
        notify.settimeout(20)
        daemon = start_activated(ctx, listener.fileno(), f"{ctx.place}/notify")
        try:
            assert b"READY=1" in notify.recv(4096)
            with Link(ctx.path) as link:
                rows = link.symbols(repo.root, "handed_over", index_wait_ms=-1)["results"]
        finally:
            daemon.terminate()
            code = daemon.wait(20)

    assert [row["file"] for row in rows] == ["a.py"]
    assert code == 0
    assert os.path.exists(path), "a socket that was handed over is not the daemon's to remove"


def start_activated(ctx: Home, listener: int, notify: str) -> subprocess.Popen[bytes]:
    """Start `ctxd start` with `listener` as descriptor 3, and LISTEN_PID as its own pid, as systemd does."""
    code = (
        "import os, sys\n"
        "os.dup2(int(sys.argv[1]), 3, inheritable=True)\n"
        "os.environ['LISTEN_PID'] = str(os.getpid())\n"
        "os.execv(sys.argv[2], [sys.argv[2], 'start'])\n"
    )
    return subprocess.Popen(
        [sys.executable, "-c", code, str(listener), str(BIN / "ctxd")],
        pass_fds=[listener],
        env=ctx.env | {"LISTEN_FDS": "1", "NOTIFY_SOCKET": notify},
        stdin=subprocess.DEVNULL,
        cwd="/",
    )
