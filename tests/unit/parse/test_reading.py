"""Reading opens regular files inside the root and nothing else."""

from __future__ import annotations

import errno
import os
import socket
from pathlib import Path

import pytest

from ctxd.parse.pipe import ParseSettings
from ctxd.parse.reading import Content, Place

SETTINGS = ParseSettings(max_file_bytes=1000, max_code_bytes=2000)


def read(root: Path, path: str, settings: ParseSettings = SETTINGS) -> Content:
    """Read one path below `root`."""
    return Place(os.fsencode(root)).read(path, settings)


def test_regular_file(tmp_path: Path) -> None:
    """The bytes, the stat and a time that is not after them."""
    (tmp_path / "a b é.txt").write_bytes(b"hello\n")

    content = read(tmp_path, "a b é.txt")

    found = os.stat(tmp_path / "a b é.txt")
    assert (content.data, content.skip, content.gone) == (b"hello\n", "", False)
    assert (content.stat.size_bytes, content.stat.mtime_ns) == (6, found.st_mtime_ns)
    assert content.hashed_ns > 0


@pytest.mark.parametrize("path", ["missing", "file/below", "directory", "x" * 300])
def test_what_is_not_there_is_gone(tmp_path: Path, path: str) -> None:
    """A missing file, a path through a file, a directory and an impossible name are no files."""
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "directory").mkdir()

    assert read(tmp_path, path) == Content(gone=True)


def test_fifo_and_socket_do_not_block(tmp_path: Path) -> None:
    """A FIFO without a writer and a socket are told apart from files without waiting for them."""
    os.mkfifo(tmp_path / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.open(tmp_path, os.O_RDONLY)
        try:
            listener.bind(f"/proc/self/fd/{here}/socket")
        finally:
            os.close(here)
        assert read(tmp_path, "fifo").skip == "not a regular file"
        assert read(tmp_path, "socket").skip == "not a regular file"


def test_links_are_not_followed(tmp_path: Path) -> None:
    """A link to a file inside, to itself and to the outside are links; a linked directory leads nowhere outside."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_bytes(b"SECRET = 1\n")
    (root / "a.py").write_bytes(b"a = 1\n")
    (root / "inside.py").symlink_to("a.py")
    (root / "self.py").symlink_to("self.py")
    (root / "out.py").symlink_to("../outside/secret.py")
    (root / "ext").symlink_to("../outside")
    (root / "loop").symlink_to(".")

    assert [read(root, path).skip for path in ("inside.py", "self.py", "out.py")] == ["link"] * 3
    assert read(root, "ext/secret.py").skip == "link outside the root"
    assert read(root, "loop/a.py").data == b"a = 1\n"


def test_links_may_be_followed_within_the_root(tmp_path: Path) -> None:
    """With the setting on, a link inside the root is read and one that leads out of it still is not."""
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "out.py").write_bytes(b"SECRET = 1\n")
    (root / "a.py").write_bytes(b"a = 1\n")
    (root / "inside.py").symlink_to("a.py")
    (root / "out.py").symlink_to("../out.py")
    settings = ParseSettings(follow_links=True)

    assert read(root, "inside.py", settings).data == b"a = 1\n"
    assert read(root, "out.py", settings).skip == "link outside the root"


def test_root_that_is_itself_a_link(tmp_path: Path) -> None:
    """A worktree reached by a link is read; inside is what is inside its target."""
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.py").write_bytes(b"a = 1\n")
    (tmp_path / "root").symlink_to("real")

    assert read(tmp_path / "root", "a.py").data == b"a = 1\n"


def test_root_with_odd_bytes(tmp_path: Path) -> None:
    """A root whose name is not UTF-8 is read like any other."""
    root = os.path.join(os.fsencode(tmp_path), b"r\xff")
    os.mkdir(root)
    with open(os.path.join(root, b"a.py"), "wb") as file:
        file.write(b"a = 1\n")

    assert Place(root).read("a.py", SETTINGS).data == b"a = 1\n"


@pytest.mark.parametrize(
    ("name", "size", "skip"),
    [
        ("a.py", 1000, ""),
        ("a.py", 1001, ""),
        ("a.py", 2001, "too large"),
        ("a.json", 1001, "too large"),
        ("notes", 1001, "too large"),
    ],
)
def test_size_limits(tmp_path: Path, name: str, size: int, skip: str) -> None:
    """Code may be larger than other files, up to a limit; what is over is not read."""
    (tmp_path / name).write_bytes(b"x" * size)

    content = read(tmp_path, name)

    assert (content.skip, len(content.data)) == (skip, 0 if skip else size)
    assert content.stat.size_bytes == size


@pytest.mark.parametrize("error", [errno.EACCES, errno.EPERM, errno.EIO])
def test_unreadable(tmp_path: Path, monkeypatch, error: int) -> None:
    """A file that the system refuses to open is reported, with its stat. (Root may open anything: refused by hand.)"""
    (tmp_path / "a.py").write_bytes(b"a = 1\n")

    def refuse(*args: object, **kwargs: object) -> int:
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(os, "open", refuse)

    content = read(tmp_path, "a.py")

    assert (content.skip, content.stat.size_bytes) == ("unreadable", 6)


def test_a_file_that_changes_while_it_is_read(tmp_path: Path, monkeypatch) -> None:
    """A write between the bytes and the second look makes it read again: bytes and stat belong together."""
    path = tmp_path / "a.py"
    path.write_bytes(b"old\n")
    real, calls = os.pread, []

    def pread(descriptor: int, size: int, offset: int) -> bytes:
        data = real(descriptor, size, offset)
        if not calls:
            path.write_bytes(b"newer content\n")
        calls.append(size)
        return data

    monkeypatch.setattr(os, "pread", pread)

    content = read(tmp_path, "a.py")

    assert content.data == b"newer content\n"
    assert content.stat.size_bytes == len(b"newer content\n")
