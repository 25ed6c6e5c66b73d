"""Small files that a repository brings along: nothing is opened that is none."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from ctxd.scan import smallfile
from ctxd.scan.smallfile import read_regular


@pytest.mark.parametrize("kind", ["fifo", "socket", "device", "directory"])
def test_only_a_regular_file_is_opened(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some devices act when they are opened, a FIFO has its writer go on."""
    opened: list[str] = []
    monkeypatch.setattr(smallfile, "open_to_read", lambda path, **_: opened.append(path))
    monkeypatch.chdir(tmp_path)
    match kind:
        case "fifo":
            os.mkfifo("it")
        case "socket":
            with socket.socket(socket.AF_UNIX) as listener:
                listener.bind("it")
        case "device":
            os.symlink("/dev/zero", "it")
        case _:
            os.mkdir("it")

    assert (read_regular("it", 100), opened) == (None, [])


def test_a_fifo_that_takes_a_files_place_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between the look at the name and its opening somebody puts another thing there."""
    path = str(tmp_path / "it")
    Path(path).write_text("rules")
    assert read_regular(path, 100) == b"rules"
    file = os.stat(path)
    os.unlink(path)
    os.mkfifo(path)
    with monkeypatch.context() as patched:
        patched.setattr(smallfile.os, "stat", lambda _: file)
        found = read_regular(path, 100)

    assert found is None
