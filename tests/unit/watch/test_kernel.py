"""The parts of watchdog that are not promised: this fails when their shape changes."""

from __future__ import annotations

import fcntl
import importlib.metadata
import inspect
import os
import sys
import warnings
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="inotify is Linux")

if sys.platform == "linux":
    from watchdog.observers import inotify_c
    from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, InotifyFD

    from ctxd.watch import kernel


class Recorder:
    """A handler that keeps what it is told."""

    def __init__(self) -> None:
        self.told: list[tuple[int, bytes]] = []
        self.deleted: list[int] = []
        self.overflows = 0

    def on_event(self, event: object) -> None:
        self.told.append((event.mask, event.name))  # type: ignore[attr-defined]

    def on_watch_deleted(self, wd: int) -> None:
        self.deleted.append(wd)

    def on_queue_overflow(self) -> None:
        self.overflows += 1


def signature(function: object) -> list[str]:
    return list(inspect.signature(function).parameters)  # type: ignore[arg-type]


def test_the_version_is_one_whose_source_was_read() -> None:
    """`>=7.1,<7.2` in pyproject.toml."""
    assert importlib.metadata.version("watchdog").startswith("7.1.")


def test_the_names_that_are_used_have_the_shape_that_is_used() -> None:
    """Methods by their parameters, attributes by their types."""
    assert signature(InotifyFD._get_or_create_watch) == ["self", "path", "mask"]
    assert signature(InotifyFD.remove_callbacks) == ["self", "callbacks"]
    assert signature(InotifyFD.read_events) == ["self", "event_buffer_size"]
    assert signature(InotifyFD.handle_event) == ["self", "event"]
    assert signature(InotifyFD.close) == ["self"]
    assert signature(InotifyEvent) == ["wd", "mask", "cookie", "name"]
    for name in ("IN_CREATE", "IN_DELETE", "IN_MODIFY", "IN_ATTRIB", "IN_CLOSE_WRITE", "IN_MOVED_FROM"):
        assert isinstance(getattr(InotifyConstants, name), int)
    fd = InotifyFD()
    try:
        assert isinstance(fd._inotify_fd, int) and fd._is_reading is True and fd._watch_for_wd == {}
        assert hasattr(fd._lock, "acquire") and not fd.is_alive()
        assert signature(inotify_c.Watch) == ["wd", "mask", "_initial_creation_path"]
    finally:
        fd._is_reading = False
        fd.close()


def test_the_queue_closes_all_that_it_opened() -> None:
    """Also one that was never read: the leak check of every test looks at the descriptors."""
    before = set(os.listdir("/proc/self/fd"))
    queue = kernel.Queue(Recorder())
    assert fcntl.fcntl(queue.descriptor, fcntl.F_GETFD) & fcntl.FD_CLOEXEC
    queue.close()
    assert set(os.listdir("/proc/self/fd")) == before


def test_an_empty_queue_is_not_waited_on(tmp_path: Path) -> None:
    """watchdog's own read would block here for ever."""
    handler = Recorder()
    queue = kernel.Queue(handler)
    queue.add(os.fsencode(tmp_path))
    assert (queue.read(4096), queue.waiting_bytes()) == (0, 0)
    (tmp_path / "a").write_text("x")
    assert queue.waiting_bytes() > 0 and queue.read(4096) == len(handler.told) > 0
    assert queue.read(4096) == 0
    queue.close()


def test_reading_files_makes_no_events(tmp_path: Path) -> None:
    """B047: the daemon's own reads must not wake it."""
    (tmp_path / "a").write_text("x")
    queue = kernel.Queue(Recorder())
    queue.add(os.fsencode(tmp_path))
    (tmp_path / "a").read_text()
    os.listdir(tmp_path)
    assert queue.waiting_bytes() == 0
    queue.close()


def test_adding_twice_gives_the_same_number_without_a_warning(tmp_path: Path) -> None:
    """Its own way of adding warns, with a text of all watches."""
    queue = kernel.Queue(Recorder())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert queue.add(os.fsencode(tmp_path)) == queue.add(os.fsencode(tmp_path))
    queue.close()


def test_a_watch_that_may_not_be_added_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """watchdog registers the number -1 when the kernel says EACCES."""
    queue = kernel.Queue(Recorder())
    monkeypatch.setattr(inotify_c, "inotify_add_watch", lambda *_: -1)
    monkeypatch.setattr(inotify_c.ctypes, "get_errno", lambda: 13)
    with pytest.raises(PermissionError):
        queue.add(os.fsencode(tmp_path))
    assert queue._fd._watch_for_wd == {}
    queue.close()


def test_a_removed_watch_is_reported_once_and_removing_it_again_is_fine(tmp_path: Path) -> None:
    """The kernel drops a watch with its directory."""
    (tmp_path / "d").mkdir()
    handler = Recorder()
    queue = kernel.Queue(handler)
    number = queue.add(os.fsencode(tmp_path / "d"))
    (tmp_path / "d").rmdir()
    queue.read(4096)
    assert handler.deleted == [number]
    queue.remove([number])
    queue.close()
