"""The events of one worktree on Linux. Owned by the worktree; the main loop reads it, the scan thread adds watches.

Events carry the number of a watch and a name; the map from numbers to paths is kept here. A path leaves the map as
soon as an event says that its directory went elsewhere, and only `add`, which asks the kernel, puts one in: so an old
number never speaks for a wrong path. The directory that appeared instead is an event of its own, whose listing adds
it again. One lock lies around every change of the map and every read, so that no event of a watch is read before the
map knows it.
"""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from collections.abc import Callable

from watchdog.observers.inotify_c import InotifyEvent

from ctxd.model import EventKind, FileEvent, Overflow
from ctxd.watch import kernel, mounts
from ctxd.watch.rulebook import RULE_NAMES, Rulebook
from ctxd.watch.watcher import Drained

assert sys.platform == "linux"

# A moved directory's listing takes its watches over well within this; then they are given back.
ORPHAN_S = 5.0
# What makes a directory named `.git` a repository, and what decides about its files.
_PARTS = ("HEAD", "objects", "refs", "commondir", "index", "config")
# What would help where events do not tell of all changes.
_LOCAL = "a local file system (ext4, xfs, btrfs, ...) answers faster"
_GONE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


class InotifyWatcher:
    """See the module. Raises OSError when the system has no inotify instance left."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.trusted = True
        self.reason = ""
        self.remedy = ""
        self.passing = False
        self.overflows = 0
        self._lock = threading.RLock()
        self._paths: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        self._orphans: dict[int, float] = {}
        self._events: dict[FileEvent | Overflow, None] = {}
        self._closed = False
        self._rules = Rulebook()
        self._queue = kernel.Queue(self)
        self._devices = {os.stat(root).st_dev} if os.path.isdir(root) else set()
        self._mounts = mounts.Changes(root)
        found = mounts.file_system(root)
        if found not in mounts.TRUSTED:
            self._distrust(f"file system {found}", _LOCAL)

    @property
    def watches(self) -> int:
        return len(self._paths)

    def fileno(self) -> int:
        """Return the descriptor to wait on."""
        return -1 if self._closed else self._queue.descriptor

    def listen(self, wake: Callable[[], object]) -> None:
        """Do nothing: the descriptor tells."""

    def add(self, directory: str) -> bool:
        """Watch a directory of the worktree; call it before listing the directory. Thread-safe. False: not watched."""
        where = os.path.join(self.root, directory) if directory else self.root
        try:
            device = os.lstat(where).st_dev
        except OSError:
            return False
        with self._lock:
            if self._closed:
                return False
            self._check_device(device, where)
            try:
                number = self._queue.add(os.fsencode(where))
            except OSError as error:
                self._refused(where, error)
                return False
            self._map(number, directory)
            return True

    def add_rules(self, path: str) -> None:
        """Watch a file or directory of git's by absolute path; its events have the kind `head` or `rules`."""
        with self._lock:
            if self._closed:
                return
            for directory in self._rules.enter(path):
                try:
                    self._rules.watch(directory, self._queue.add(os.fsencode(directory)))
                except OSError as error:
                    self._refused(directory, error)

    def forget_below(self, directory: str) -> None:
        """Drop the watches of a directory and of all below it."""
        with self._lock:
            self._unmap_below(directory)
            self._sweep(0.0)

    def drain(self, limit: int = 2000) -> Drained:
        """Return what is queued, about `limit` events at most, each once; never wait."""
        with self._lock:
            if self._mounts.any():
                self._remounted()
            read = 0
            while not self._closed and read < limit:
                taken = self._queue.read(max(4096, (limit - read) * kernel.EVENT_BYTES))
                if not taken:
                    break
                read += taken
            self._sweep(ORPHAN_S)
            events, self._events = tuple(self._events), {}
            return Drained(events, more=not self._closed and self._queue.waiting_bytes() > 0)

    def close(self) -> None:
        """Give everything back to the system. Closing twice is fine. Take the descriptor out of the loop first."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._mounts.close()
                self._queue.close()
                self._paths.clear()
                self._numbers.clear()
                self._orphans.clear()

    # -- called by watchdog, inside drain and close ------------------------------------------------------------

    def on_event(self, event: InotifyEvent) -> None:
        """Translate one event. A watch of git's directory may also be one of the tree, so both are asked."""
        number, mask = int(event.wd), int(event.mask)
        try:
            name = event.name.decode()
        except UnicodeDecodeError:
            self._odd_name(number, mask)
            return
        for path, kind in self._rules.events(number, name):
            self._emit(path, kind)
        directory = self._paths.get(number)
        if directory is None:
            if name and number in self._orphans:
                self._orphans[number] = 0.0  # moved out of the tree: the sweep of this drain gives it back
        elif not name:
            if mask & kernel.UNMOUNTED or (mask & kernel.SELF and not directory):
                self._lose("the root was moved or deleted" if mask & kernel.SELF else "unmounted")
        else:
            path = f"{directory}/{name}" if directory else name
            if name == ".git":
                self._repository(path, mask)
            else:
                self._entry(path, name, mask)

    def on_watch_deleted(self, wd: int) -> None:
        """Forget a number that the kernel gave up."""
        directory = self._paths.pop(wd, None)
        if directory is not None and self._numbers.get(directory) == wd:
            del self._numbers[directory]
        self._orphans.pop(wd, None)
        for path, kind in self._rules.deleted(wd):
            self._emit(path, kind)

    def on_queue_overflow(self) -> None:
        """Say that events are lost; what to do about it is the worktree's business."""
        self.overflows += 1
        self._lose("the kernel's event queue overflowed")

    # -- inside the lock ---------------------------------------------------------------------------------------

    def _entry(self, path: str, name: str, mask: int) -> None:
        appeared = mask & (kernel.CREATED | kernel.MOVED_TO)
        left = mask & (kernel.DELETED | kernel.MOVED_FROM)
        if not mask & kernel.DIRECTORY:
            self._emit(path, "gone" if left else "file")
            if name in RULE_NAMES:
                self._emit(path, "rules")
        elif left:
            if mask & kernel.MOVED_FROM:
                self._unmap_below(path)
            elif path in self._numbers:
                self._unmap(path)
            self._emit(path, "directory_gone")
        elif appeared or mask & kernel.ATTRIBUTES:
            # A directory whose mode changed may be readable now.
            self._emit(path, "directory")

    def _odd_name(self, number: int, mask: int) -> None:
        """A name that is not UTF-8 came or went. What it names is not indexed, but counted: its directory is listed."""
        directory = self._paths.get(number)
        if directory is not None and mask & (kernel.CREATED | kernel.MOVED_TO | kernel.DELETED | kernel.MOVED_FROM):
            self._emit(directory, "directory")

    def _repository(self, path: str, mask: int) -> None:
        """A repository begins or ends here, so other rules hold. It is one only when all its parts are there."""
        if mask & (kernel.CREATED | kernel.MOVED_TO) and mask & kernel.DIRECTORY:
            for part in _PARTS:
                self.add_rules(os.path.join(self.root, path, part))
        if not mask & kernel.ATTRIBUTES:
            self._emit(path, "rules")

    def _emit(self, path: str, kind: EventKind) -> None:
        self._events[FileEvent(path, kind)] = None

    def _lose(self, reason: str) -> None:
        self._events[Overflow(reason)] = None

    def _distrust(self, reason: str, remedy: str = "", *, passing: bool = False) -> None:
        if self.trusted:
            self.trusted, self.reason, self.remedy, self.passing = False, reason, remedy, passing

    def _check_device(self, device: int, where: str) -> None:
        """Take note of another file system mounted in the tree."""
        if device not in self._devices:
            self._devices.add(device)
            if (found := mounts.file_system(where)) not in mounts.TRUSTED:
                self._distrust(f"file system {found} at {where}", _LOCAL)

    def _remounted(self) -> None:
        """Other files may be seen now than those that are watched, and a file system that was distrusted be gone."""
        self._lose("a file system was mounted or unmounted here")
        self.passing = self.passing or not self.trusted

    def _refused(self, where: str, error: OSError) -> None:
        """Take note of a watch that could not be added."""
        if error.errno in _GONE and not os.path.islink(where):
            return
        if error.errno in _GONE:
            reason, remedy = "followed links are not watched", "set index.follow_symlinks to false"
        elif error.errno == errno.ENOSPC:
            reason, remedy = "inotify watches exhausted", "raise sysctl fs.inotify.max_user_watches"
        else:
            reason, remedy = (
                f"{where} cannot be watched: {error.strerror}",
                "let it be read, or ignore it in .ctxignore",
            )
        if self.trusted:
            self._lose(reason)
        self._distrust(reason, remedy, passing=error.errno not in _GONE)

    def _map(self, number: int, directory: str) -> None:
        before = self._paths.get(number)
        if before is not None and before != directory:
            if self._is_same(before, directory):
                self._distrust(f"{before or 'the root'} and {directory} are the same directory")
            del self._numbers[before]
        stale = self._numbers.get(directory)
        if stale is not None and stale != number:
            self._unmap(directory)
        self._orphans.pop(number, None)
        self._paths[number] = directory
        self._numbers[directory] = number

    def _is_same(self, one: str, other: str) -> bool:
        try:
            return os.path.samestat(os.lstat(os.path.join(self.root, one)), os.lstat(os.path.join(self.root, other)))
        except OSError:
            return False

    def _unmap(self, directory: str) -> None:
        number = self._numbers.pop(directory)
        del self._paths[number]
        self._orphans[number] = time.monotonic()

    def _unmap_below(self, directory: str) -> None:
        if directory and directory not in self._numbers:
            return  # what lies in a directory is watched only if the directory is
        prefix = f"{directory}/" if directory else ""
        for path in [p for p in self._numbers if p == directory or p.startswith(prefix)]:
            self._unmap(path)

    def _sweep(self, age_s: float) -> None:
        """Give back the watches of directories that left the tree and did not come back within `age_s`."""
        if not self._orphans:
            return
        latest = time.monotonic() - age_s
        left = [number for number, since in self._orphans.items() if since <= latest]
        for number in left:
            del self._orphans[number]
        self._queue.remove([number for number in left if not self._rules.holds(number)])
