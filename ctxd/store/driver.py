"""Opening SQLite files the one way this program does: private, WAL, bounded, with errors of our own tree.

Owns no connection: the writer thread keeps those of open_writer, a reader thread those of open_reader.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from urllib.parse import quote

import apsw

from ctxd.store.seals import SUFFIX as SEAL
from ctxprotocol import files
from ctxprotocol.errors import IndexUnusable

# How long the writer waits for a lock of another program before the slice goes to the back of the queue.
BUSY_MS = 250
# A log that a checkpoint emptied is cut to this size; larger ones are left by a pinned reader or a large
# transaction.
LOG_BYTES = 4 << 20
_WRITER_CACHE_KIB = 8192
# A reader caches little: the kernel's page cache is behind it, and there may be 16 connections.
_READER_CACHE_KIB = 2048

# Recovering a log takes some milliseconds for each megabyte in it.
_OPEN_BUSY_MS = 2_000


class IndexDamaged(IndexUnusable):
    """The file is not what this program wrote: build a new one under another name."""


class WriterConnection(apsw.Connection):
    """A read-write connection. `names` maps interned names to their ids; whoever rolls back clears it."""

    def __init__(self, filename: str, flags: int) -> None:
        super().__init__(filename, flags=flags)
        self.names: dict[str, int] = {}


def make_private_directory(directory: str) -> None:
    """Create `directory` with its parents, mode 0700 whatever the umask; leave an existing one alone."""
    if os.path.isdir(directory):
        return
    parent = os.path.dirname(directory)
    if parent and parent != directory:
        make_private_directory(parent)
    with contextlib.suppress(FileExistsError):
        os.mkdir(directory, 0o700)


def create(path: str, schema: str, user_version: int) -> None:
    """Create a database file of mode 0600 that is either absent or whole, in WAL mode. Replaces nothing.

    Raises IndexUnusable (no room, no permission) and FileExistsError.
    """
    make_private_directory(os.path.dirname(path))
    if os.path.lexists(path):
        raise FileExistsError(path)
    draft = path + ".new"
    remove(draft)
    remove(path)  # a log that was left behind would be read into the new file
    try:
        # SQLite gives its log and shared memory the mode of the main file.
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | files.OWN, 0o600))
        with translated(path, waiting=False):
            connection = open_writer(draft)
            try:
                connection.execute(f"BEGIN IMMEDIATE; {schema}; PRAGMA user_version={user_version}; COMMIT")
                # Closing would do it, too, and pass over what fails: half a file would get the name.
                connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
            finally:
                connection.close()
        os.rename(draft, path)
    except OSError as error:
        raise IndexUnusable(f"cannot create {path}: {error.strerror}") from error
    except BaseException:
        remove(draft)
        raise


def open_writer(path: str) -> WriterConnection:
    """Open an existing file read-write. Checks nothing but that it is there; raises IndexUnusable."""
    with translated(path):
        connection = WriterConnection(uri(path, "rw"), apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_URI)
        try:
            connection.set_busy_timeout(BUSY_MS)
            connection.execute(
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
                # macOS: an fsync leaves it to the disk when to write. Elsewhere it is nothing.
                "PRAGMA checkpoint_fullfsync=1;"
                f"PRAGMA cache_size=-{_WRITER_CACHE_KIB}; PRAGMA journal_size_limit={LOG_BYTES}"
            ).fetchall()  # what comes after the first row is not run otherwise
        except BaseException:
            connection.close()
            raise
    return connection


def open_reader(path: str) -> apsw.Connection:
    """Open an existing file so that nothing can be written through it; raises IndexUnusable.

    No memory map: a file cut short under a map is a signal, not an error.
    """
    with translated(path):
        connection = apsw.Connection(uri(path, "ro"), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
        try:
            connection.limit(apsw.SQLITE_LIMIT_ATTACHED, 0)
            # The pragmas read the file, and another thread that opens it at this moment may have its log locked.
            connection.set_busy_timeout(_OPEN_BUSY_MS)
            connection.execute(f"PRAGMA query_only=1; PRAGMA temp_store=MEMORY; PRAGMA cache_size=-{_READER_CACHE_KIB}")
        except BaseException:
            connection.close()
            raise
    return connection


def remove(path: str) -> None:
    """Remove a database file with its log and its seal; only for files that no connection of ours has open."""
    for suffix in ("", "-wal", "-shm", "-journal", SEAL):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path + suffix)


def tidy(path: str) -> None:
    """Take away the log that readers have left: they cannot. Only for files that no connection of ours has open.

    What is wrong with the file is for its next use to find.
    """
    if os.path.exists(f"{path}-wal"):
        with contextlib.suppress(apsw.Error, IndexUnusable):
            connection = open_writer(path)
            try:
                connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
            finally:
                connection.close()


def set_aside(path: str) -> str:
    """Rename a damaged file to *.damaged and return that name; at most one is kept per directory.

    For an index file the old name must not be used again: a connection that is still open on it removes the
    log of whatever has that name when it closes.
    """
    directory, name = os.path.split(path)
    for other in os.listdir(directory):
        if other.endswith(".damaged"):
            remove(os.path.join(directory, other))
    aside = os.path.join(directory, name + ".damaged")
    with contextlib.suppress(FileNotFoundError):
        os.rename(path, aside)
    remove(path)  # its log: what is in it cannot be told from what is broken
    return aside


@contextlib.contextmanager
def translated(path: str, *, waiting: bool = True) -> Iterator[None]:
    """Turn SQLite's errors into IndexUnusable or IndexDamaged; BUSY and INTERRUPT pass through to who is
    `waiting`."""
    try:
        yield
    except (apsw.BusyError, apsw.LockedError, apsw.InterruptError) as error:
        if waiting:
            raise
        raise translate(error, path) from error
    except apsw.Error as error:
        raise translate(error, path) from error


def translate(error: apsw.Error, path: str) -> IndexUnusable:
    """Return the error of our tree that stands for an SQLite error on `path`."""
    match error:
        case apsw.CorruptError() | apsw.NotADBError():
            return IndexDamaged(f"index file damaged: {path}: {error}")
        case apsw.FullError():
            return IndexUnusable("disk full, writes paused", hint="free some space; indexing goes on by itself")
        case apsw.CantOpenError():
            return IndexUnusable(f"cannot open {path}: {error}")
        case apsw.BusyError() | apsw.LockedError():
            return IndexUnusable(f"{path} is locked by another program: {error}")
        case _:
            return IndexUnusable(f"{path}: {type(error).__name__}: {error}")


def uri(path: str, mode: str) -> str:
    """Return the URI by which SQLite opens `path`."""
    return f"file:{quote(os.fsencode(path))}?mode={mode}"
