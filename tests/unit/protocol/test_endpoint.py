"""Where the socket is, and which places are not safely ours."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from ctxprotocol import endpoint
from ctxprotocol.endpoint import UnsafePlace

HOME = "/home/known"


@pytest.fixture
def short() -> Iterator[str]:
    """A name that the short place would have in /tmp, which nobody uses."""
    name = f"/tmp/ctx-{os.getuid()}-t{os.getpid():015x}"
    yield name
    if os.path.islink(name):
        os.unlink(name)
    shutil.rmtree(name, ignore_errors=True)


@pytest.fixture
def place() -> Iterator[str]:
    found = tempfile.mkdtemp(dir="/tmp")
    yield found
    shutil.rmtree(found)


@pytest.mark.skipif(sys.platform != "linux", reason="the rules of Linux")
@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({"HOME": "/home/a"}, "/home/a/.local/share/ctx"),
        ({"HOME": "/home/a", "XDG_DATA_HOME": "/data/"}, "/data/ctx"),
        ({"HOME": "/home/a", "XDG_DATA_HOME": "relative"}, "/home/a/.local/share/ctx"),
        ({"HOME": "/home/a", "CTX_HOME": "/x/../y/"}, "/y"),
        ({"HOME": "/home/a", "CTX_HOME": ""}, "/home/a/.local/share/ctx"),
        ({}, f"{HOME}/.local/share/ctx"),
        ({"HOME": ""}, f"{HOME}/.local/share/ctx"),
        ({"HOME": "here"}, f"{HOME}/.local/share/ctx"),
    ],
)
def test_state_directory(environ: dict[str, str], expected: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """CTX_HOME, else XDG_DATA_HOME where it is absolute, else below HOME, else below the user's home."""
    monkeypatch.setattr(pwd, "getpwuid", lambda _uid: SimpleNamespace(pw_dir=HOME))

    assert endpoint.state_directory(environ) == expected


def test_nobody_home(monkeypatch: pytest.MonkeyPatch) -> None:
    """No HOME and no entry in the user database: the error names what to set."""
    monkeypatch.setattr(pwd, "getpwuid", lambda uid: {}[uid])

    with pytest.raises(UnsafePlace, match=r"HOME is not set .* set HOME or CTX_HOME"):
        endpoint.state_directory({})


@pytest.mark.parametrize("size", [1, 89, 90, 91, 92, 150, 3000])
def test_the_socket_can_be_bound_however_long_the_home(size: int) -> None:
    """B053: a path that a socket address cannot hold is replaced by a short one in /tmp."""
    path = endpoint.socket_path("/" + "d" * size)

    assert len(os.fsencode(path)) <= 100
    assert path.startswith(f"/tmp/ctx-{os.getuid()}-" if size > 89 else "/d")
    assert os.path.basename(path) == "ctxd.sock"


def test_bytes_count_not_characters() -> None:
    """A short name in characters can be a long one in bytes."""
    assert endpoint.socket_path("/" + "ü" * 60).startswith("/tmp/ctx-")


def test_two_homes_give_two_sockets() -> None:
    """Long homes that differ only in the end have sockets of their own."""
    assert endpoint.socket_path("/" + "d" * 150 + "1") != endpoint.socket_path("/" + "d" * 150 + "2")


def test_the_short_name_is_fnv1a() -> None:
    """The hash in the short name is the published one, so that other languages can derive it."""
    assert endpoint._fnv1a(b"") == 0xCBF29CE484222325
    assert endpoint._fnv1a(b"foobar") == 0x85944171F73967E8


def test_both_sides_agree_whatever_their_temporary_directory() -> None:
    """B053: TMPDIR and XDG_RUNTIME_DIR of one side do not move the socket."""
    code = "import os; from ctxprotocol import endpoint as e; print(e.socket_path(e.state_directory(os.environ)))"
    homes = {"HOME": "/" + "h" * 150}
    variants = [{}, {"TMPDIR": "/var/tmp"}, {"XDG_RUNTIME_DIR": "/nonexistent/x"}]

    found = {
        subprocess.run(
            [sys.executable, "-c", code], env=homes | more, capture_output=True, text=True, check=True
        ).stdout
        for more in variants
    }

    assert len(found) == 1


def test_make_private_creates_all_the_way(place: str) -> None:
    """Missing parents are made too, for this user alone, whatever the umask."""
    before = os.umask(0)
    try:
        endpoint.make_private(f"{place}/a/b")
    finally:
        os.umask(before)

    assert [os.stat(f"{place}/{name}").st_mode & 0o777 for name in ("a", "a/b")] == [0o700, 0o700]


def test_a_state_directory_that_lets_others_in_is_closed(place: str) -> None:
    """A mode of ours that is too wide is repaired."""
    os.mkdir(f"{place}/h")
    os.chmod(f"{place}/h", 0o777)

    endpoint.make_private(f"{place}/h")

    assert os.stat(f"{place}/h").st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o777, 0o750, 0o701])
def test_a_short_place_that_lets_others_in_is_refused(short: str, mode: int) -> None:
    """In /tmp somebody may have put something there already."""
    os.mkdir(short)
    os.chmod(short, mode)

    with pytest.raises(UnsafePlace, match=f"{short} lets other users in"):
        endpoint.make_private(short)


def test_a_link_is_refused(short: str, place: str) -> None:
    """A link leads where its maker wants."""
    os.symlink(place, short)

    with pytest.raises(UnsafePlace, match="is a symbolic link"):
        endpoint.make_private(short)
    with pytest.raises(UnsafePlace, match="is a symbolic link"):
        endpoint.check_place(f"{short}/ctxd.sock")


def test_a_file_is_refused(place: str) -> None:
    """What is no directory cannot hold a socket."""
    open(f"{place}/h", "w").close()

    with pytest.raises(UnsafePlace, match="is not a directory"):
        endpoint.make_private(f"{place}/h")


def test_another_owner_is_refused(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of somebody else is neither used nor spoken to."""
    real = os.lstat(place)
    foreign = os.stat_result((real.st_mode, *real[1:4], os.geteuid() + 1, *real[5:10]))

    def lstat(path: str, **_: object) -> os.stat_result:
        return foreign if path == place else real

    monkeypatch.setattr(os, "lstat", lstat)
    for refuse in (lambda: endpoint.make_private(place), lambda: endpoint.check_place(f"{place}/ctxd.sock")):
        with pytest.raises(UnsafePlace, match=f"{place} belongs to user id {os.geteuid() + 1}, not to you"):
            refuse()
    monkeypatch.undo()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_another_owner_for_real(place: str) -> None:
    """The same with a directory that really is another user's."""
    os.chown(place, 65534, 65534)
    try:
        with pytest.raises(UnsafePlace, match="belongs to user id 65534"):
            endpoint.make_private(place)
    finally:
        os.chown(place, 0, 0)


def test_a_home_that_cannot_be_written_names_the_path(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system's refusal comes through with the directory that could not be made."""

    def refuse(path: str, mode: int) -> None:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(os, "mkdir", refuse)

    with pytest.raises(PermissionError, match=f"{place}/a"):
        endpoint.make_private(f"{place}/a/b")


def test_the_peer_is_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A process of another user at the other end is refused."""
    ours, theirs = socket.socketpair(socket.AF_UNIX)
    with ours, theirs:
        endpoint.check_peer(ours)
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
        with pytest.raises(UnsafePlace, match="not as you"):
            endpoint.check_peer(ours)


@pytest.mark.parametrize(
    ("version", "key"),
    [
        ("0.1.0", (0, 1, 0)),
        ("1.10", (1, 10)),
        ("1.2rc1", (1, 2)),
        ("2.dev3", (2,)),
        ("old", ()),
        ("", ()),
        ("1..2", (1,)),
    ],
)
def test_versions_compare_by_their_numbers(version: str, key: tuple[int, ...]) -> None:
    """The dotted numbers in front count, the rest does not."""
    assert endpoint.version_key(version) == key


def test_endpoint_loads_nothing() -> None:
    """It is on the client's hot path."""
    code = "import sys, os; a = set(sys.modules); import ctxprotocol.endpoint; print(*sorted(set(sys.modules) - a))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.split() == ["ctxprotocol", "ctxprotocol.endpoint"]
