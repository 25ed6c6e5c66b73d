"""watchdog's observers as streams of a worktree's events, with the loss that they keep to themselves told.

The system's own threads and watchdog's run here; they call the watcher's two functions and nothing else of ours.
FSEvents says "scan below this yourself" in flags, Windows by an empty buffer, and watchdog passes over both. The names
that are overridden for that are not promised: a test fails when their shape changes.
"""

from __future__ import annotations

import os
import sys
import threading
import unicodedata
from typing import TYPE_CHECKING, Any

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirModifiedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)

from ctxd.watch.native import Lose, Seen, Take

if TYPE_CHECKING:
    from watchdog.observers.api import BaseObserver

# Ending a stream joins threads that may sit in a call on a dead network share.
CLOSE_S = 2.0
# FSEvents: MustScanSubDirs, UserDropped, KernelDropped.
DROPPED = 0x1 | 0x2 | 0x4
# Not "opened" and "closed": our own reads would be news.
_KINDS: list[type[FileSystemEvent]] = [
    *(FileCreatedEvent, FileDeletedEvent, FileModifiedEvent, FileMovedEvent),
    *(DirCreatedEvent, DirDeletedEvent, DirModifiedEvent, DirMovedEvent),
]
_LOST = "the system dropped events"


class Observed:
    """A running observer of one tree. Raises OSError when it cannot be begun."""

    def __init__(self, observer: BaseObserver, root: str, take: Take) -> None:
        self._observer = observer
        self._closing: threading.Thread | None = None
        observer.name = "ctxd-native"
        try:
            observer.schedule(_Handler(take), root, recursive=True, event_filter=_KINDS)
            observer.start()
        except OSError:
            self.close()
            raise
        except Exception as error:  # the C side of FSEvents raises RuntimeError and SystemError
            self.close()
            raise OSError(str(error)) from error

    def alive(self) -> bool:
        """Say whether events still come: every thread that takes part is there."""
        emitters = self._observer.emitters
        return self._observer.is_alive() and bool(emitters) and all(map(_is_alive, emitters))

    def close(self) -> None:
        """End it, and wait for its threads within reason. Closing twice is fine."""
        if self._closing is None:
            self._closing = threading.Thread(target=self._end, name="ctxd-native-end", daemon=True)
            self._closing.start()
            self._closing.join(CLOSE_S)

    def _end(self) -> None:
        self._observer.stop()
        if self._observer.is_alive():
            self._observer.join()


class _Handler(FileSystemEventHandler):
    """Hands each event on as it is."""

    def __init__(self, take: Take) -> None:
        self._take = take

    def dispatch(self, event: FileSystemEvent) -> None:
        for seen in translated(event):
            self._take(seen)


def translated(event: FileSystemEvent) -> list[Seen]:
    """Return what an event of watchdog's says: a move is that one path left and another came."""
    path, directory = os.fsdecode(event.src_path), event.is_directory
    match event.event_type:
        case "moved":
            to = os.fsdecode(event.dest_path)
            return [Seen(path, "left", directory)] * bool(path) + [Seen(to, "came", directory)] * bool(to)
        case "created":
            return [Seen(path, "came", directory)]
        case "deleted":
            return [Seen(path, "left", directory)]
        case _:
            return [Seen(path, "inside" if directory else "changed", directory)]


def open_stream(root: str, take: Take, lose: Lose) -> Observed:
    """Begin to watch `root` by what this platform has. Raises OSError."""
    if sys.platform == "darwin":
        return Observed(fsevents(lose), unicodedata.normalize("NFC", root), take)
    if sys.platform == "win32":
        return Observed(directory_changes(lose), root, take)
    from watchdog.observers import Observer

    return Observed(Observer(), root, take)


def fsevents(lose: Lose) -> BaseObserver:
    """Return macOS's observer, not begun. Untested: no machine has run it."""
    from watchdog.observers.api import BaseObserver
    from watchdog.observers.fsevents import FSEventsEmitter

    class Emitter(FSEventsEmitter):  # type: ignore[misc, valid-type, unused-ignore]
        def events_callback(self, paths: list[bytes], inodes: list[int], flags: list[int], ids: list[int]) -> None:
            if any(flag & DROPPED for flag in flags):
                lose(_LOST)
            super().events_callback(paths, inodes, flags, ids)

    return BaseObserver(Emitter)


def directory_changes(lose: Lose) -> BaseObserver:
    """Return Windows' observer, not begun. Untested: no machine has run it."""
    import queue

    from watchdog.observers import winapi
    from watchdog.observers.api import BaseObserver
    from watchdog.observers.read_directory_changes import WindowsApiEmitter

    # Else each file that is read is news, and read again for it.
    winapi.WATCHDOG_FILE_NOTIFY_FLAGS &= ~winapi.FILE_NOTIFY_CHANGE_LAST_ACCESS

    class Buffers(queue.Queue[Any]):
        """The reader's buffers on their way. The first is empty, to say that it has begun; later ones tell of loss."""

        begun = False

        def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
            if self.begun and not item[0]:
                lose(_LOST)
            self.begun = True
            super().put(item, block, timeout)

    class Emitter(WindowsApiEmitter):  # type: ignore[misc, valid-type, unused-ignore]
        def on_thread_start(self) -> None:
            reader = winapi.DirectoryChangeReader(self.watch.path, recursive=self.watch.is_recursive)
            reader._buf_queue = Buffers()
            with self._lock:
                self._reader = reader
            reader.start()

    return BaseObserver(Emitter)


def _is_alive(emitter: Any) -> bool:
    """Say whether an emitter's thread runs, and that of the reader which Windows' has besides."""
    reader = getattr(getattr(emitter, "_reader", None), "_reader_thread", None)
    return bool(emitter.is_alive()) and (reader is None or reader.is_alive())
