"""A daemon whose SQLite runs on a file system that fails, forgets or fills up: `python shimmed.py ctxd JOURNAL`.

The only way into it is this file; nothing of the product knows of it. The tests steer it by lines of JSON on its
standard input, each answered by one on its standard output. A fault hits the n-th call of one kind after
it was asked for; JOURNAL ("" = none) gets every write, sync, truncation and change of a name, in order.
"""

from __future__ import annotations

import ctypes
import functools
import json
import mmap
import os
import pickle
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Sequence

import apsw

# (call, fault) -> what SQLite's own function returns then.
CODES: dict[tuple[str, str], int] = {
    ("open", "eio"): apsw.SQLITE_CANTOPEN,
    ("open", "enospc"): apsw.SQLITE_CANTOPEN,
    ("read", "eio"): apsw.SQLITE_IOERR_READ,
    ("write", "eio"): apsw.SQLITE_IOERR_WRITE,
    ("write", "enospc"): apsw.SQLITE_FULL,
    ("write", "short"): apsw.SQLITE_FULL,
    ("sync", "eio"): apsw.SQLITE_IOERR_FSYNC,
    ("truncate", "eio"): apsw.SQLITE_IOERR_TRUNCATE,
    ("delete", "eio"): apsw.SQLITE_IOERR_DELETE,
    ("lock", "busy"): apsw.SQLITE_BUSY,
    ("lock", "eio"): apsw.SQLITE_IOERR_LOCK,
    ("shm", "busy"): apsw.SQLITE_BUSY,
    ("shm", "eio"): apsw.SQLITE_IOERR_SHMLOCK,
    ("shm", "enospc"): apsw.SQLITE_IOERR_SHMSIZE,
}


class Disk:
    """What goes wrong, shared by all threads of the daemon. `hits` are the calls that failed."""

    def __init__(self, journal: str) -> None:
        self.lock = threading.RLock()
        self.calls: Counter[str] = Counter()
        self.hits: list[str] = []
        self._kind, self._error, self._first, self._last = "", "", 0, 0
        self._journal = open(journal, "ab", buffering=0) if journal else None  # noqa: SIM115  (until the process ends)

    def arm(self, kind: str, error: str, first: int, times: int = 1) -> dict[str, object]:
        """Let calls number `first` to `first + times - 1` of `kind` from now on fail with `error`."""
        with self.lock:
            self.calls.clear()
            self.hits = []
            self._kind, self._error, self._first, self._last = kind, error, first, first + times - 1
        return {}

    def disarm(self) -> dict[str, object]:
        """Let nothing fail any more."""
        with self.lock:
            self._kind = ""
            return self.tell()

    def tell(self) -> dict[str, object]:
        """Return how many calls there were of each kind since the last fault was asked for, and which have failed."""
        with self.lock:
            return {"calls": dict(self.calls), "hits": self.hits}

    def fault(self, kind: str, path: str) -> str:
        """Count one call; return the name of the error that it fails with, or nothing."""
        with self.lock:
            self.calls[kind] += 1
            if kind != self._kind or not self._first <= self.calls[kind] <= self._last:
                return ""
            self.hits.append(f"{kind} {self._error} {os.path.basename(path)}")
            return self._error

    def note(self, *entry: object) -> None:
        """Write one entry of the journal."""
        if self._journal is not None:
            with self.lock:
                self._journal.write(pickle.dumps(entry))


int_, long_, pointer = ctypes.c_int, ctypes.c_int64, ctypes.c_void_p


class Place:
    """Where a function stands in one of SQLite's tables (in pointers), and what it takes."""

    def __init__(self, number: int, *takes: type) -> None:
        self.offset = number * ctypes.sizeof(pointer)
        self.form = ctypes.CFUNCTYPE(int_, pointer, *takes)


# In sqlite3_vfs. The name stays a pointer: the parameters of its URI lie behind it.
OPEN = Place(5, pointer, pointer, int_, pointer)
DELETE = Place(6, pointer, int_)
# In sqlite3_io_methods.
READ = Place(2, pointer, int_, long_)
WRITE = Place(3, pointer, int_, long_)
TRUNCATE = Place(4, long_)
SYNC = Place(5, int_)
LOCK = Place(7, int_)
SHM_MAP = Place(13, int_, int_, int_, pointer)
SHM_LOCK = Place(14, int_, int_, int_)
# The number of a unix file's descriptor stands behind three pointers.
DESCRIPTOR = 3 * ctypes.sizeof(pointer)
FILE_POINTER, VFS_POINTER, JOURNAL_POINTER = 7, 27, 28


class Shim:
    """Our functions in the place of SQLite's own, for as long as the process lives.

    They are put into the tables that SQLite calls, since a file system written with apsw raises what SQLite itself
    would pass over.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._kept: list[object] = []
        with tempfile.TemporaryDirectory() as folder:
            connection = apsw.Connection(os.path.join(folder, "a.db"))
            connection.execute("PRAGMA journal_mode=WAL; CREATE TABLE t(x)").fetchall()
            vfs = self._pointer_to(connection, VFS_POINTER)
            # A log has a table of its own, as a file that is never locked.
            tables = {
                pointer.from_address(self._pointer_to(connection, what)).value or 0
                for what in (FILE_POINTER, JOURNAL_POINTER)
            }
            connection.close()
        assert len(tables) == 2
        self._replace(vfs, OPEN, self._open)
        self._replace(vfs, DELETE, self._delete)
        for methods in tables:
            self._replace(methods, READ, self._counted("read"))
            self._replace(methods, LOCK, self._counted("lock"))
            self._replace(methods, SHM_MAP, self._counted("shm"))
            self._replace(methods, SHM_LOCK, self._counted("shm"))
            self._replace(methods, WRITE, self._write)
            self._replace(methods, TRUNCATE, self._truncate)
            self._replace(methods, SYNC, self._sync)

    def _pointer_to(self, connection: apsw.Connection, what: int) -> int:
        found = pointer()
        assert connection.file_control("main", what, ctypes.addressof(found))
        assert found.value
        return found.value

    def _replace(self, table: int, place: Place, function: Callable[..., int]) -> None:
        """Put `function` at `place` of a table; it is called with the real one before the arguments."""
        size = os.sysconf("SC_PAGESIZE")
        page = (table + place.offset) // size * size
        assert not ctypes.CDLL(None, use_errno=True).mprotect(pointer(page), size, mmap.PROT_READ | mmap.PROT_WRITE)
        slot = pointer.from_address(table + place.offset)
        if not slot.value:
            return
        real = place.form(slot.value)
        replacement = place.form(functools.partial(function, real))
        self._kept += [real, replacement]
        slot.value = ctypes.cast(replacement, pointer).value

    def _counted(self, kind: str) -> Callable[..., int]:
        def call(real: Callable[..., int], file: int, *arguments: int) -> int:
            if not (kind == "shm" and self._releases(arguments)) and (code := self._disk.fault(kind, path_of(file))):
                return CODES[kind, code]
            return real(file, *arguments)

        return call

    @staticmethod
    def _releases(arguments: Sequence[int]) -> bool:
        """Say whether this call gives a lock back: SQLite does not expect that to fail."""
        return len(arguments) == 3 and bool(arguments[2] & 1)

    def _open(self, real: Callable[..., int], vfs: int, name: int | None, *arguments: int) -> int:
        path = os.fsdecode(ctypes.string_at(name)) if name else ""
        if code := self._disk.fault("open", path):
            # SQLite closes what it could not open unless there are no methods.
            pointer.from_address(arguments[0]).value = None
            return CODES["open", code]
        return real(vfs, name, *arguments)

    def _delete(self, real: Callable[..., int], vfs: int, name: int, *arguments: int) -> int:
        path = os.fsdecode(ctypes.string_at(name))
        if code := self._disk.fault("delete", path):
            return CODES["delete", code]
        done = real(vfs, name, *arguments)
        self._disk.note("delete", path)
        return done

    def _write(self, real: Callable[..., int], file: int, data: int, size: int, offset: int) -> int:
        code = self._disk.fault("write", path_of(file))
        if code == "short":
            real(file, data, size // 2, offset)
        if code:
            return CODES["write", code]
        self._disk.note("write", *identity_of(file), offset, ctypes.string_at(data, size))
        return real(file, data, size, offset)

    def _truncate(self, real: Callable[..., int], file: int, size: int) -> int:
        if code := self._disk.fault("truncate", path_of(file)):
            return CODES["truncate", code]
        self._disk.note("truncate", *identity_of(file), size)
        return real(file, size)

    def _sync(self, real: Callable[..., int], file: int, flags: int) -> int:
        if code := self._disk.fault("sync", path_of(file)):
            return CODES["sync", code]
        done = real(file, flags)
        self._disk.note("sync", *identity_of(file))
        return done


def descriptor_of(file: int) -> int:
    return int_.from_address(file + DESCRIPTOR).value


def path_of(file: int) -> str:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor_of(file)}")
    except OSError:
        return ""


def identity_of(file: int) -> tuple[str, int]:
    """Return the path and the inode of an open file: a draft gets another name later."""
    return path_of(file), os.fstat(descriptor_of(file)).st_ino


def note_names(disk: Disk) -> None:
    """Have what the daemon does to names by itself in the journal, too."""
    rename, unlink = os.rename, os.unlink

    def renamed(old: str, new: str) -> None:
        rename(old, new)
        disk.note("rename", old, new)

    def unlinked(path: str) -> None:
        unlink(path)
        disk.note("delete", path)

    os.rename, os.unlink = renamed, unlinked  # type: ignore[assignment]


def steer(disk: Disk) -> None:
    """Do what the lines on standard input say, until it ends."""
    commands: dict[str, Callable[..., dict[str, object]]] = {"arm": disk.arm, "tell": disk.tell, "disarm": disk.disarm}
    for line in sys.stdin:
        name, *arguments = json.loads(line)
        print(json.dumps(commands[name](*arguments)), flush=True)


def main() -> int:
    _, _, journal, *fault = sys.argv
    disk = Disk(journal)
    shim = Shim(disk)
    if journal:
        note_names(disk)
    if fault:
        kind, error, first = fault
        disk.arm(kind, error, int(first))
    threading.Thread(target=steer, args=(disk,), daemon=True).start()
    from ctxd import main as daemon

    code = daemon.run(["start"])
    del shim
    return code


if __name__ == "__main__":
    sys.exit(main())
