"""What ctx asks of Windows: names, descriptors, flags, private directories, the lock; against a fake of its calls."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxprotocol import endpoint, files, windows
from ctxprotocol.endpoint import UnsafePlace
from ctxprotocol.lock import Exclusive, Flock, daemon_lock, file_lock
from tests.fakewindows import ME, OTHER, Machine, Windows, failure


@pytest.fixture
def machine() -> Iterator[Machine]:
    made = Machine()
    yield made
    made.close()


@pytest.fixture
def me(machine: Machine) -> Windows:
    return machine.process()


def test_the_name_is_a_hash_of_whose_and_which() -> None:
    """Another user or another state is another pipe, and the name tells neither."""
    name = windows.pipe_name(ME, r"C:\Users\me\AppData\Local\ctx")
    others = {windows.pipe_name(OTHER, r"C:\Users\me\AppData\Local\ctx"), windows.pipe_name(ME, r"C:\ctx")}

    assert name.startswith("\\\\.\\pipe\\ctx-") and len(name) == 13 + 32 and name not in others
    assert "Users" not in name and ME not in name


@pytest.mark.parametrize(
    "spelled",
    [r"c:\users\ME\appdata\local\CTX", "C:/Users/me/AppData/Local/ctx/", r"C:\Users\me\AppData\x\..\Local\ctx"],
)
def test_one_directory_is_one_name_however_it_is_spelled(spelled: str) -> None:
    """Client and daemon may have got the path in different ways; Windows knows no case."""
    assert windows.pipe_name(ME, spelled) == windows.pipe_name(ME, r"C:\Users\me\AppData\Local\ctx")


def test_descriptors_name_one_user_and_inherit_nothing() -> None:
    """`P` keeps the rights of the folder above out; nobody else is named, not even the system."""
    assert windows.pipe_descriptor(ME) == f"O:{ME}D:P(A;;GA;;;{ME})"
    assert windows.directory_descriptor(ME) == f"O:{ME}D:P(A;OICI;FA;;;{ME})"


def test_flags_are_those_of_the_headers() -> None:
    """winbase.h and winnt.h, by value: a wrong bit would be silent."""
    assert windows.FIRST_INSTANCE == 0x00000003 | 0x40000000 | 0x00080000  # DUPLEX, OVERLAPPED, FIRST_PIPE_INSTANCE
    assert windows.NEXT_INSTANCE == 0x00000003 | 0x40000000
    assert windows.LOCAL_BYTES == 0x00000008  # PIPE_REJECT_REMOTE_CLIENTS; type, read mode and wait are 0
    # GENERIC_READ | GENERIC_WRITE; OPEN_EXISTING; OVERLAPPED, SECURITY_SQOS_PRESENT, SECURITY_IDENTIFICATION.
    assert windows.DIAL == (0xC0000000, 0, 3, 0x40000000 | 0x00100000 | 0x00010000)


@pytest.mark.parametrize(
    ("descriptor", "found"),
    [
        (f"O:{ME}D:P(A;OICI;FA;;;{ME})", ()),
        (f"O:{ME}G:BUD:PAI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;FA;;;{ME})", ()),
        (f"O:{ME}D:AI(A;OICIIOID;GA;;;CO)(A;;FA;;;{ME})", ()),
        (f"O:{ME}D:AI(A;;FA;;;{ME})(A;;0x1200a9;;;BU)", ("BU",)),
        (f"O:{ME}D:AI(A;;FA;;;{OTHER})", (OTHER,)),
        (f"O:{ME}D:(D;;FA;;;WD)(A;;FA;;;{ME})", ()),
        (f"O:{ME}D:NO_ACCESS_CONTROL", ("everyone",)),
        (f"O:{ME}", ("everyone",)),
        (f'O:{ME}D:(XA;;FX;;;WD;(@User.Title=="PM"))', ("a rule that ctx does not understand",)),
        (f"O:{ME}D:(A;;FA;;;LA)", ("LA",)),
    ],
)  # fmt: skip
def test_who_else_is_let_in_is_read_from_the_descriptor(descriptor: str, found: tuple[str, ...]) -> None:
    """The system may anyway, denials let nobody in, and what is not understood is a stranger."""
    strangers = windows.strangers(descriptor, ME)

    assert strangers == found or (found and found[0] in strangers)
    assert windows.owner(descriptor) == ME


def test_the_built_in_administrator_is_himself() -> None:
    """The system writes his SID as LA."""
    assert windows.strangers("O:LAD:P(A;OICI;FA;;;LA)", "S-1-5-21-1-2-3-500") == ()


def test_a_directory_is_private_from_the_first_instant(machine: Machine, me: Windows, tmp_path: Path) -> None:
    """Made with its descriptor, each missing parent too."""
    windows.make_private(f"{tmp_path}/a/b", me)

    assert machine.descriptors == dict.fromkeys((f"{tmp_path}/a", f"{tmp_path}/a/b"), windows.directory_descriptor(ME))


@pytest.mark.parametrize("let_in", ["BU", "WD", OTHER])
def test_a_directory_of_ours_that_lets_others_in_is_closed(
    machine: Machine, me: Windows, tmp_path: Path, let_in: str
) -> None:
    """As a mode is narrowed elsewhere."""
    machine.descriptors[str(tmp_path)] = f"O:{ME}D:AI(A;;FA;;;{ME})(A;;FA;;;{let_in})"
    windows.make_private(str(tmp_path), me)

    assert machine.descriptors[str(tmp_path)] == windows.directory_descriptor(ME)


def test_a_directory_that_is_private_is_left_as_it_is(machine: Machine, me: Windows, tmp_path: Path) -> None:
    """What the user's profile hands down lets in the system and nobody else."""
    handed_down = f"O:BAD:AI(A;OICIID;FA;;;SY)(A;OICIID;FA;;;BA)(A;OICIID;FA;;;{ME})"
    machine.descriptors[str(tmp_path)] = handed_down
    windows.make_private(str(tmp_path), me)

    assert machine.descriptors[str(tmp_path)] == handed_down


def test_a_directory_of_somebody_else_is_refused(machine: Machine, me: Windows, tmp_path: Path) -> None:
    """Its owner may open it again whenever he likes."""
    machine.descriptors[str(tmp_path)] = windows.directory_descriptor(OTHER)

    with pytest.raises(UnsafePlace, match=f"belongs to {OTHER}, not to you"):
        windows.make_private(str(tmp_path), me)


def test_what_is_no_directory_is_refused(me: Windows, tmp_path: Path) -> None:
    """Links may lead anywhere later."""
    os.symlink(tmp_path, tmp_path / "link")

    with pytest.raises(UnsafePlace, match="not a directory of its own"):
        windows.make_private(str(tmp_path / "link"), me)


# -- the lock ---------------------------------------------------------------------------------------------------------


def test_a_lock_is_had_once(machine: Machine, me: Windows, tmp_path: Path) -> None:
    """By another process of the same user neither; after its end by the next."""
    path = str(tmp_path / "ctxd.lock")
    first, second = Exclusive(path, me), Exclusive(path, machine.process())
    assert (first.take(), second.take(), second.take(shared=True)) == (True, False, False)
    first.close()

    assert (second.take(), Exclusive(path, me).take()) == (True, False)
    second.close()


def test_asking_whether_it_is_free_makes_no_file(machine: Machine, me: Windows, tmp_path: Path) -> None:
    """And two may ask at once, while a daemon that starts just then waits for them."""
    path = str(tmp_path / "ctxd.lock")
    assert Exclusive(path, me).take(shared=True) and not os.path.exists(path)
    Path(path).touch()
    one, other = Exclusive(path, me), Exclusive(path, machine.process())

    assert one.take(shared=True) and other.take(shared=True)
    one.close()
    other.close()


def test_a_lock_that_somebody_looks_at_is_had_a_moment_later(
    machine: Machine, me: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A virus scanner opens what was written; a daemon must not end for that."""
    path = str(tmp_path / "ctxd.lock")
    Path(path).touch()
    asker = Exclusive(path, machine.process())
    assert asker.take(shared=True)
    monkeypatch.setattr("ctxprotocol.lock.time.sleep", lambda _: asker.close())

    assert Exclusive(path, me).take()


def test_a_lock_that_cannot_be_opened_is_no_lock_that_is_held(
    me: Windows, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Access denied is an error, not "another daemon runs"."""

    def refuse(*_: object) -> int:
        raise failure(windows.ACCESS_DENIED)

    monkeypatch.setattr(me, "open_file", refuse)

    with pytest.raises(PermissionError):
        Exclusive(str(tmp_path / "x"), me).take()


@pytest.mark.skipif(sys.platform == "win32", reason="flock is POSIX")
def test_the_lock_of_posix_keeps_the_same_promises(tmp_path: Path) -> None:
    """On a directory and on a file, which alone is made when it is missing."""
    file = str(tmp_path / "f")
    for first, second in (
        (daemon_lock(str(tmp_path)), daemon_lock(str(tmp_path))),
        (file_lock(file), file_lock(file)),
    ):
        assert isinstance(first, Flock)
        assert (first.take(), second.take(), second.take(shared=True)) == (True, False, False)
        first.close()
        assert second.take()
        second.close()
    with pytest.raises(FileNotFoundError):
        daemon_lock(str(tmp_path / "none"))
    assert not (tmp_path / "none").exists()


# -- what Windows does not have ----------------------------------------------------------------------------------------


def test_a_link_is_not_followed_where_no_flag_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows has no O_NOFOLLOW: the same error comes from a look at it."""
    (tmp_path / "a").write_text("x")
    os.symlink(tmp_path / "a", tmp_path / "link")
    monkeypatch.setattr(files, "NO_FOLLOW", 0)

    with pytest.raises(OSError, match="symbolic links"):
        files.open_to_read(str(tmp_path / "link"), follow=False)
    os.close(files.open_to_read(str(tmp_path / "link"), follow=True))


@pytest.mark.parametrize(("uid", "refused"), [(None, False), (4242, True)])
def test_the_peer_of_a_socket_is_checked_on_macos(
    monkeypatch: pytest.MonkeyPatch, uid: int | None, refused: bool
) -> None:
    """LOCAL_PEERCRED gives a struct xucred: version, uid, groups."""

    class Connection:
        def getsockopt(self, level: int, option: int, size: int, /) -> bytes:
            assert (level, option, size) == (0, 1, 76)
            return bytes(4) + (os.geteuid() if uid is None else uid).to_bytes(4, sys.byteorder) + bytes(68)

    monkeypatch.setattr(sys, "platform", "darwin")
    if refused:
        with pytest.raises(UnsafePlace, match="runs as user id 4242"):
            endpoint.check_peer(Connection())
    else:
        endpoint.check_peer(Connection())
