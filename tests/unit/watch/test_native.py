"""Events that prove nothing: what is handed over, what counts, and that their loss is told."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from watchdog.events import DirMovedEvent, FileMovedEvent

from ctxd.model import FileEvent, Overflow
from ctxd.watch import native, opening, streams
from ctxd.watch.native import NativeWatcher, Seen
from ctxd.watch.unwatched import Unwatched
from tests.processes import wait_until


class Stream:
    """A stream that a test drives: `take` and `lose` are what the watcher gave it."""

    take: Callable[[Seen], None]
    lose: Callable[[str], None]
    living, closed = True, 0

    def open(self, root: str, take: Callable[[Seen], None], lose: Callable[[str], None]) -> Stream:
        self.take, self.lose = take, lose
        return self

    def alive(self) -> bool:
        return self.living

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def stream() -> Stream:
    return Stream()


@pytest.fixture
def watcher(stream: Stream) -> NativeWatcher:
    """A watcher of `/r` whose root and `lib` are listed."""
    made = NativeWatcher("/r", "late", stream.open)
    made.add("")
    made.add("lib")
    return made


def events(watcher: NativeWatcher) -> list[tuple[str, str]]:
    """Return what is queued as (path, kind)."""
    found = watcher.drain().events
    assert all(isinstance(event, FileEvent) for event in found), found
    return [(event.path, event.kind) for event in found if isinstance(event, FileEvent)]


@pytest.mark.parametrize(
    ("path", "what", "directory", "wanted"),
    [
        ("/r/a.py", "changed", False, [("a.py", "file")]),
        ("/r/lib/b.py", "came", False, [("lib/b.py", "file")]),
        ("/r/lib/b.py", "left", False, [("lib/b.py", "gone")]),
        ("/r/new", "came", True, [("new", "directory")]),
        ("/r/lib", "left", True, [("lib", "directory_gone")]),
        ("/r/lib", "left", False, [("lib", "directory_gone")]),  # Windows does not know what it was
        ("/r/lib", "inside", True, []),
        ("/r/lib/.gitignore", "changed", False, [("lib/.gitignore", "file"), ("lib/.gitignore", "rules")]),
        ("/r/.git", "came", True, [(".git", "rules")]),
        ("/r/.git", "changed", False, []),
        ("/r/.git/index.lock", "came", False, []),
        ("/r/node_modules/x.js", "changed", False, []),  # never listed, so not indexed
        ("/rest/a.py", "changed", False, []),
        ("/r", "changed", False, []),
    ],
)
def test_an_event_means_what_it_would_mean_on_linux(
    watcher: NativeWatcher, stream: Stream, path: str, what: str, directory: bool, wanted: list[tuple[str, str]]
) -> None:
    """Only in directories that a listing has entered, and never by a look at the file."""
    stream.take(Seen(path, what, directory))  # type: ignore[arg-type]

    assert events(watcher) == wanted


def test_what_git_changes_is_told_by_its_own_files(watcher: NativeWatcher, stream: Stream) -> None:
    """HEAD below the root counts; one outside has no events here, and the comparison reads it anyway."""
    watcher.add_rules("/r/.git/HEAD")
    watcher.add_rules("/elsewhere/exclude")
    for path in ("/r/.git/HEAD", "/r/.git/HEAD.lock", "/elsewhere/exclude"):
        stream.take(Seen(path, "changed", False))

    assert events(watcher) == [("/r/.git/HEAD", "head")]


def test_a_directory_that_left_is_no_place_for_events_any_more(watcher: NativeWatcher, stream: Stream) -> None:
    """What is under its name later has to be listed first."""
    watcher.add("lib/deep")
    stream.take(Seen("/r/lib", "left", True))
    stream.take(Seen("/r/lib/deep/x.py", "came", False))

    assert events(watcher) == [("lib", "directory_gone")]


def test_the_loop_is_woken_once_for_many_events_and_again_for_what_is_left(
    watcher: NativeWatcher, stream: Stream
) -> None:
    """A thousand events cost one call; what one turn did not take is another one."""
    woken: list[int] = []
    watcher.listen(lambda: woken.append(1))
    for number in range(5):
        stream.take(Seen(f"/r/{number}.py", "came", False))
    before, first, again = len(woken), watcher.drain(3), len(woken)

    assert (before, len(first.events), first.more, again) == (1, 3, True, 2)
    assert (len(watcher.drain(3).events), len(woken)) == (2, 2)


def test_events_from_before_anybody_listened_are_told(watcher: NativeWatcher, stream: Stream) -> None:
    """Between opening and listening lies a moment."""
    woken: list[int] = []
    stream.take(Seen("/r/a.py", "came", False))
    watcher.listen(lambda: woken.append(1))

    assert woken == [1]


def test_more_events_than_are_kept_are_a_loss(
    watcher: NativeWatcher, stream: Stream, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory is bounded, and what was dropped is not passed over in silence."""
    monkeypatch.setattr(native, "MOST_EVENTS", 3)
    for number in range(4):
        stream.take(Seen(f"/r/{number}.py", "came", False))

    assert watcher.drain().events == (Overflow("more events than were taken in", checksums=False),)
    assert watcher.overflows == 1


def test_a_loss_that_the_system_tells_is_handed_on_and_wakes(watcher: NativeWatcher, stream: Stream) -> None:
    """A loss is news like any other."""
    woken: list[int] = []
    watcher.listen(lambda: woken.append(1))
    stream.lose("dropped")

    assert (woken, watcher.drain().events) == ([1], (Overflow("dropped", checksums=False),))


def test_a_stream_that_ended_is_noticed_once_and_may_be_had_again(watcher: NativeWatcher, stream: Stream) -> None:
    """Its thread died: from then on another watcher may fare better."""
    stream.living = False

    assert watcher.drain().events == (Overflow("the system's events ended", checksums=False),)
    assert (watcher.drain().events, watcher.passing, watcher.watches) == ((), True, 0)


def test_after_closing_nothing_comes(watcher: NativeWatcher, stream: Stream) -> None:
    """The thread may still be in the middle of an event."""
    watcher.close()
    watcher.close()
    stream.take(Seen("/r/a.py", "came", False))

    assert (watcher.drain().events, watcher.add("x"), stream.closed) == ((), False, 1)


# -- the real streams -------------------------------------------------------------------------------------------------


@pytest.fixture
def real(tmp_path: Path) -> Iterator[NativeWatcher]:
    """A watcher on watchdog's own observer of this platform."""
    found = opening.open_native(str(tmp_path))
    assert isinstance(found, NativeWatcher)
    found.add("")
    yield found
    found.close()


def test_the_systems_own_events_arrive(tmp_path: Path, real: NativeWatcher) -> None:
    """watchdog's observer, whichever this platform has; reading a file is no news."""
    news = threading.Event()
    real.listen(news.set)
    (tmp_path / "a.py").write_text("x = 1\n")
    assert news.wait(10)
    found: set[object] = set()
    wait_until(lambda: bool(found.update(real.drain().events) or found), 10, "the event")
    (tmp_path / "a.py").read_text()
    os.rename(tmp_path / "a.py", tmp_path / "b.py")
    wait_until(lambda: found.update(real.drain().events) or FileEvent("b.py", "file") in found, 10, "the move")

    assert found == {FileEvent("a.py", "file"), FileEvent("a.py", "gone"), FileEvent("b.py", "file")}


def test_an_observer_whose_thread_ended_is_not_alive(real: NativeWatcher) -> None:
    """Each thread that takes part counts."""
    observer = real._stream._observer  # type: ignore[attr-defined]
    (emitter,) = observer.emitters
    emitter.stop()
    emitter.join(10)

    assert real.drain().events == (Overflow("the system's events ended", checksums=False),)


def test_where_no_events_can_be_had_scans_do_without(tmp_path: Path) -> None:
    """A root that is not there now: said, and tried again later."""
    found = opening.open_native(str(tmp_path / "none"))

    assert isinstance(found, Unwatched) and found.passing and found.reason.startswith("no events of this tree")


@pytest.mark.parametrize("kind", [FileMovedEvent, DirMovedEvent])
def test_a_move_is_that_one_left_and_another_came(kind: type[FileMovedEvent]) -> None:
    """An end that lies outside has no path."""
    directory = kind is DirMovedEvent

    assert streams.translated(kind("/r/a", "/r/b")) == [
        Seen("/r/a", "left", directory),
        Seen("/r/b", "came", directory),
    ]
    assert streams.translated(kind("", "/r/b")) == [Seen("/r/b", "came", directory)]


@pytest.mark.skipif(sys.platform == "darwin", reason="the real module is there")
@pytest.mark.parametrize(("flags", "lost"), [([0x100], 0), ([0x100, 0x1], 1), ([0x2], 1), ([0x4 | 0x20000], 1)])
def test_what_fsevents_dropped_is_told(monkeypatch: pytest.MonkeyPatch, flags: list[int], lost: int) -> None:
    """watchdog's own emitter with the C part played by a fake: its flags are looked at before it passes over them."""
    played = types.ModuleType("_watchdog_fsevents")
    played.Stream = lambda *_, **__: None  # type: ignore[attr-defined]
    played.NativeEvent = lambda *_: types.SimpleNamespace()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "_watchdog_fsevents", played)
    told: list[str] = []
    observer = streams.fsevents(told.append)
    monkeypatch.setattr("watchdog.observers.fsevents.FSEventsEmitter.queue_events", lambda *_: None)
    observer.schedule(streams._Handler(lambda _: None), "/r", recursive=True)
    (emitter,) = observer.emitters
    emitter.events_callback([b"/r/a"] * len(flags), [1] * len(flags), flags, [1] * len(flags))  # type: ignore[attr-defined]

    assert len(told) == lost


@pytest.mark.skipif(sys.platform == "win32", reason="the real module is there")
def test_what_windows_dropped_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """watchdog's own emitter and reader with the system played by a fake: the first empty buffer is none, later are."""
    monkeypatch.setattr(ctypes, "WinDLL", lambda _: types.SimpleNamespace(**calls), raising=False)
    calls = {name: lambda *_: 1 for name in _WINDOWS}
    told: list[str] = []
    observer = streams.directory_changes(told.append)
    winapi = sys.modules["watchdog.observers.winapi"]
    assert winapi.WATCHDOG_FILE_NOTIFY_FLAGS == 0x1 | 0x2 | 0x4 | 0x8 | 0x10 | 0x40 | 0x100  # not LAST_ACCESS: 0x20
    buffers = iter([b"", b"\0" * 12, b""])
    monkeypatch.setattr(winapi.DirectoryChangeReader, "_run_inner", lambda self, *_: play(self))

    def play(reader: object) -> None:
        if (buffer := next(buffers, None)) is None:
            reader._should_stop = True  # type: ignore[attr-defined]
        else:
            reader._buf_queue.put((buffer, False))  # type: ignore[attr-defined]

    monkeypatch.setattr(winapi.DirectoryChangeReader, "get_events", lambda *_: [])
    emitter = observer._emitter_class(
        observer.event_queue, types.SimpleNamespace(path=str(tmp_path), is_recursive=True)
    )
    emitter.on_thread_start()
    emitter._reader._reader_thread.join(10)  # type: ignore[attr-defined]

    assert told == ["the system dropped events"] * 2
    assert not streams._is_alive(emitter)
    emitter.on_thread_stop()
    for name in [each for each in sys.modules if each.endswith((".winapi", ".read_directory_changes"))]:
        del sys.modules[name]  # they hold the fake


_WINDOWS = (
    *("ReadDirectoryChangesW", "ReadDirectoryChangesExW", "CreateFileW", "CloseHandle", "CancelIoEx", "CreateEventW"),
    *("SetEvent", "WaitForSingleObjectEx", "CreateIoCompletionPort", "GetQueuedCompletionStatus"),
    *("PostQueuedCompletionStatus", "GetFinalPathNameByHandleW"),
)
