"""The events of one worktree on macOS and Windows: a reason to work ahead, and proof of nothing.

There an event comes some time after the operation, and nothing says that all have come; so the worktree compares the
tree with its index before each answer, and what this watcher told only makes that comparison find little. Owned by the
worktree; drained on the loop. A thread of the stream's hands events in: it neither looks at files, nor sorts anything
out, nor waits.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from typing import Literal, Protocol

import msgspec

from ctxd.model import FileEvent, Overflow
from ctxd.watch.rulebook import RULE_NAMES, Rulebook
from ctxd.watch.watcher import Drained

# A build writes so much between two turns of the loop; past this one comparison is cheaper than a look at each.
MOST_EVENTS = 20_000


class Seen(msgspec.Struct, frozen=True):
    """One event as the system tells it: an absolute path, and what happened there.

    `inside` of a directory means that an entry of it changed, which has an event of its own.
    """

    path: str
    what: Literal["came", "changed", "left", "inside"]
    directory: bool


class Stream(Protocol):
    """The system's events of one tree, begun; whoever opens it closes it."""

    def alive(self) -> bool:
        """Say whether events still come."""

    def close(self) -> None:
        """End it. Closing twice is fine."""


Take = Callable[[Seen], None]
Lose = Callable[[str], None]
# Begins to watch a root; events go to the one function, and word of lost ones to the other. Raises OSError.
OpenStream = Callable[[str, Take, Lose], Stream]


class NativeWatcher:
    """See the module. Raises OSError when the system gives no events of `root`."""

    trusted = False

    def __init__(self, root: str, reason: str, open_stream: OpenStream) -> None:
        self.root = root
        self.reason = reason
        self.remedy = ""
        self.passing = False
        self.overflows = 0
        self._lock = threading.Lock()
        self._queue: deque[Seen] = deque()
        self._lost: dict[str, None] = {}
        self._wake: Callable[[], object] = _nothing
        self._woken = False
        self._directories: set[str] = set()
        self._rules = Rulebook()
        self._numbers: dict[str, int] = {}
        self._closed = self._ended = False
        self._prefix = root if root.endswith(os.sep) else root + os.sep
        self._stream = open_stream(root, self._take, self._lose)

    @property
    def watches(self) -> int:
        return 0 if self._closed or self._ended else len(self._directories)

    def fileno(self) -> int:
        """Return -1: the stream has a thread of its own."""
        return -1

    def listen(self, wake: Callable[[], object]) -> None:
        """Call `wake` when there is something to drain, from now on."""
        with self._lock:
            self._wake = wake
            waiting = bool(self._queue or self._lost)
        if waiting:
            wake()

    def add(self, directory: str) -> bool:
        """Take a directory for one whose events count. Thread-safe. False: closed, or the stream has ended."""
        with self._lock:
            self._directories.add(directory)
            return not (self._closed or self._ended)

    def add_rules(self, path: str) -> None:
        """Take note of a file of git's. One outside the root has no events here; it is read by each comparison."""
        with self._lock:
            for directory in self._rules.enter(path):
                if directory.startswith(self._prefix):
                    self._rules.watch(directory, self._numbers.setdefault(directory, len(self._numbers)))

    def forget_below(self, directory: str) -> None:
        """Let the events of a directory and of all below it count no more."""
        with self._lock:
            self._forget_below(directory)

    def drain(self, limit: int = 2000) -> Drained:
        """Return what has come, about `limit` events at most, each once; never wait."""
        found: dict[FileEvent | Overflow, None] = {}
        with self._lock:
            self._woken = False
            if self._closed:
                return Drained((), more=False)
            self._look_after_stream()
            found.update((Overflow(reason, checksums=False), None) for reason in self._lost)
            self._lost.clear()
            for _ in range(min(limit, len(self._queue))):
                found.update((event, None) for event in self._events(self._queue.popleft()))
            more = self._woken = bool(self._queue)
        if more:
            self._wake()
        return Drained(tuple(found), more)

    def close(self) -> None:
        """End the stream. Closing twice is fine."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._queue.clear()
        self._stream.close()

    # -- called by the stream's thread -------------------------------------------------------------------------

    def _take(self, seen: Seen) -> None:
        with self._lock:
            if self._closed:
                return
            if len(self._queue) < MOST_EVENTS:
                self._queue.append(seen)
            else:
                self._queue.clear()
                self._note_loss("more events than were taken in")
            wake = self._call()
        wake()

    def _lose(self, reason: str) -> None:
        with self._lock:
            self._note_loss(reason)
            wake = self._call()
        wake()

    # -- inside the lock ---------------------------------------------------------------------------------------

    def _call(self) -> Callable[[], object]:
        """Return what wakes the loop, unless it has been called and is still to come."""
        if self._woken or self._closed:
            return _nothing
        self._woken = self._wake is not _nothing
        return self._wake

    def _note_loss(self, reason: str) -> None:
        self.overflows += 1
        self._lost[reason] = None

    def _look_after_stream(self) -> None:
        """Note that the stream has ended. Comparisons go on without it, and another one may be had later."""
        if not self._ended and not self._stream.alive():
            self._ended = self.passing = True
            self.reason = "the system's events ended"
            self._note_loss(self.reason)

    def _events(self, seen: Seen) -> list[FileEvent]:
        """Return what an event means here: nothing, where it is about what is not indexed."""
        directory, name = os.path.split(seen.path)
        found = []
        if (number := self._numbers.get(directory)) is not None:
            found += [FileEvent(path, kind) for path, kind in self._rules.events(number, name)]
        if not seen.path.startswith(self._prefix) or seen.what == "inside":
            return found
        path = seen.path[len(self._prefix) :].replace(os.sep, "/")
        parent, _, name = path.rpartition("/")
        if parent in self._directories:
            found += self._entry(path, name, seen)
        return found

    def _entry(self, path: str, name: str, seen: Seen) -> list[FileEvent]:
        left = seen.what == "left"
        if name == ".git":
            return [FileEvent(path, "rules")] if seen.what != "changed" else []
        # Windows does not say whether what left was a directory.
        if seen.directory or (left and path in self._directories):
            if left:
                self._forget_below(path)
            return [FileEvent(path, "directory_gone" if left else "directory")]
        found = [FileEvent(path, "gone" if left else "file")]
        return [*found, FileEvent(path, "rules")] if name in RULE_NAMES else found

    def _forget_below(self, directory: str) -> None:
        prefix = f"{directory}/" if directory else ""
        self._directories = {p for p in self._directories if p != directory and not p.startswith(prefix)}


def _nothing() -> None:
    """Nobody listens yet."""
