"""watchdog's inotify descriptor, driven without its thread. The only module that knows watchdog's names.

Its public observers will not do (they swallow overflows and limits, and watch too much), and the parts used here are
not promised: a test fails when their shape changes. Not thread-safe; its owner holds a lock.
"""

from __future__ import annotations

import array
import errno
import fcntl
import os
import sys
import termios
from typing import Protocol

from watchdog.observers.inotify_c import CallbackId, InotifyEvent, InotifyFD, Mask, WatchDescriptor
from watchdog.observers.inotify_c import InotifyConstants as In

assert sys.platform == "linux"

DIRECTORY = int(In.IN_ISDIR)
CREATED = int(In.IN_CREATE)
DELETED = int(In.IN_DELETE)
MOVED_FROM = int(In.IN_MOVED_FROM)
MOVED_TO = int(In.IN_MOVED_TO)
ATTRIBUTES = int(In.IN_ATTRIB)
SELF = int(In.IN_DELETE_SELF | In.IN_MOVE_SELF)
UNMOUNTED = int(In.IN_UNMOUNT)

# Nothing about opening and reading: our own scan would fill the queue.
MASK = Mask(
    In.IN_CREATE
    | In.IN_DELETE
    | In.IN_MODIFY
    | In.IN_ATTRIB
    | In.IN_CLOSE_WRITE
    | In.IN_MOVED_FROM
    | In.IN_MOVED_TO
    | In.IN_DELETE_SELF
    | In.IN_MOVE_SELF
    | In.IN_ONLYDIR
    | In.IN_DONT_FOLLOW
)
# An event takes 16 bytes and the name padded to a multiple of 16.
EVENT_BYTES = 48
_CALLBACK = CallbackId(1)


class Handler(Protocol):
    """What watchdog calls for each event; one object serves all watches."""

    def on_event(self, event: InotifyEvent) -> None: ...

    def on_watch_deleted(self, wd: int) -> None: ...

    def on_queue_overflow(self) -> None: ...


class Queue:
    """One inotify instance. Raises OSError (EMFILE: too many instances) when there is none to be had."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        try:
            self._fd = InotifyFD()
        except ValueError:  # it takes no note of EACCES and goes on with the descriptor -1
            raise OSError(errno.EACCES, os.strerror(errno.EACCES)) from None
        # "Reading" means that a thread sits in read(), and leaves closing to it. There is none.
        self._fd._is_reading = False
        self.descriptor: int = self._fd._inotify_fd
        fcntl.fcntl(self.descriptor, fcntl.F_SETFD, fcntl.FD_CLOEXEC)

    def add(self, path: bytes) -> int:
        """Watch the directory at `path` and return its number, the old one where it is watched. Raises OSError."""
        with self._fd._lock:
            # Its own add_callback warns, with a text of all watches, when a directory is watched already.
            watch = self._fd._get_or_create_watch(path, MASK)
            if watch.wd < 0:
                # EACCES: registered all the same, under a number that names nothing.
                self._fd._watch_for_wd.pop(watch.wd, None)
                raise OSError(errno.EACCES, os.strerror(errno.EACCES))
            watch.callbacks[_CALLBACK] = self._handler
            return int(watch.wd)

    def remove(self, numbers: list[int]) -> None:
        """Give watches back; those that the kernel dropped already are fine."""
        self._fd.remove_callbacks([(WatchDescriptor(number), _CALLBACK) for number in numbers])

    def waiting_bytes(self) -> int:
        """Return how much can be read without waiting."""
        size = array.array("i", [0])
        fcntl.ioctl(self.descriptor, termios.FIONREAD, size)
        return size[0]

    def read(self, size_bytes: int) -> int:
        """Hand what is queued, `size_bytes` at most, to the handler and return the number of events; never wait."""
        if not self.waiting_bytes():
            return 0  # read_events would wait, and the loop with it
        events = self._fd.read_events(event_buffer_size=size_bytes)
        for event in events:
            self._fd.handle_event(event)
        return len(events)

    def close(self) -> None:
        """Close the descriptor and both ends of watchdog's pipe; the kernel drops the watches with it."""
        self._fd._watch_for_wd.clear()  # watchdog would remove them one by one, half a second for 20,000
        self._fd._is_reading = False
        self._fd.close()
