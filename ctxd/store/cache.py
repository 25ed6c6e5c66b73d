"""Parse results by the digest of what they were made from, one file per machine, bounded in bytes.

Owned by the writer thread, which reads and writes it while it applies a batch; only `have` is asked on the
event loop and answered by a reader thread. Losing it costs time and nothing else: damage is answered by
starting anew, under another number, since a reader that still has the old file open would take the new one's
log away when it closes.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TypeVar, cast

import apsw

from ctxd.inode import inode
from ctxd.store.driver import IndexDamaged, WriterConnection, create, make_private_directory, open_writer, remove, tidy
from ctxd.store.readers import Readers
from ctxprotocol.errors import CtxError, IndexUnusable

T = TypeVar("T")

MAX_BYTES = 2 << 30
# The version is in the file's name: another one starts empty.
_VERSION = 1
_SCHEMA = """
CREATE TABLE parsed(key BLOB NOT NULL UNIQUE, used INTEGER NOT NULL, size INTEGER NOT NULL, blob BLOB NOT
NULL); CREATE INDEX parsed_used ON parsed(used, size);
"""
_FILE = re.compile(r"cache-\d+-(\d+)\.db")
# What is put stays in memory until this many bytes (compressed) or until the writer has nothing else to do.
_BUFFER_BYTES = 4 << 20
# Entries dropped at a time, and how often per flush: more than a flush adds, and still a short slice.
_DROP_ROWS, _DROP_ROUNDS = 200, 16
# What an entry costs besides its blob.
_ROW_BYTES = 128
# `used` counts hours, so that a busy entry is not written again and again.
_USED_UNIT_S = 3600
# Level 1: 0.4 of the blob at 80 MB/s; level 6 takes four times as long for 0.35.
_LEVEL = 1
_HAVE_DEADLINE_S = 5.0
_CALM_S = 1.0
# A log longer than this is looked at: a checkpoint may empty it, or somebody pins it.
_PINNED_BYTES = 32 << 20
# Entries marked as used at a time: each may be some pages of the log, and a rebuild uses tens of thousands.
_USES = 1_000


class Cache:
    """The cache of one state directory."""

    def __init__(
        self,
        state_dir: str,
        readers: Readers,
        *,
        max_bytes: int = MAX_BYTES,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Find or make the file; blocks some milliseconds. Raises IndexUnusable when there is no place for
        it."""
        self.path = _current_file(state_dir)
        self._home = inode(state_dir)
        self._readers = readers
        self._max_bytes = max_bytes
        self._clock = clock
        self._connection: WriterConnection | None = None
        self._size = 0
        self._puts: dict[bytes, bytes] = {}
        self._put_bytes = 0
        self._uses: set[bytes] = set()
        self._calm_at: float | None = None
        if not os.path.exists(self.path):
            create(self.path, _SCHEMA, _VERSION)

    async def have(self, keys: Sequence[bytes]) -> frozenset[bytes]:
        """Return those of `keys` that have an entry now; on the event loop. Never fails: no cache, no
        keys."""
        if not keys:
            return frozenset()
        rows = [(key,) for key in keys]

        def find(connection: apsw.Connection) -> frozenset[bytes]:
            found = connection.executemany("SELECT key FROM parsed WHERE key=?", rows)
            return frozenset(key for (key,) in found)

        try:
            return await self._readers.read(self.path, find, deadline_s=_HAVE_DEADLINE_S)
        except CtxError:
            return frozenset()  # parsed anew; the writer thread sees to the damage

    def get(self, key: bytes) -> bytes | None:
        """Return the entry of `key` and mark it used; writer thread."""
        packed = self._puts.get(key)
        if packed is None:
            packed = self._attempt(lambda c: c.execute("SELECT blob FROM parsed WHERE key=?", (key,)).get)
            if packed is None:
                return None
            self._uses.add(key)
        try:
            return zlib.decompress(packed)
        except zlib.error:
            self._attempt(lambda c: c.execute("DELETE FROM parsed WHERE key=?", (key,)).get)
            return None

    def put(self, key: bytes, blob: bytes) -> None:
        """Keep `blob` under `key`, in memory until the next flush; writer thread."""
        if key in self._puts:
            return
        self._puts[key] = packed = zlib.compress(blob, _LEVEL)
        self._put_bytes += len(packed)
        if self._put_bytes >= _BUFFER_BYTES:
            self.flush()

    def flush(self) -> None:
        """Write what was put, mark some of what was used, drop what is too much; writer thread.

        What cannot be kept is forgotten.
        """
        if not self._puts and not self._uses:
            return
        puts, used = self._puts, int(self._clock() // _USED_UNIT_S)
        self._puts, self._put_bytes = {}, 0
        if self._is_pinned():
            self._uses.clear()
            return
        some = list(islice(self._uses, _USES))
        self._uses.difference_update(some)
        self._attempt(partial(self._write, puts, some, used))
        self._calm_at = time.monotonic() + _CALM_S

    def settle(self, now: float) -> float | None:
        """Flush, and empty the log after a time of calm; return the seconds until this wants another look."""
        self.flush()
        if self._uses:
            return 0.0  # whoever waits for the writer comes first
        if self._calm_at is None or self._connection is None:
            return None
        if now < self._calm_at:
            return self._calm_at - now
        self._calm_at = None
        self._attempt(lambda c: c.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE))
        self._attempt(lambda c: c.execute("PRAGMA shrink_memory").get)
        return None

    def close(self) -> None:
        """Flush all and close; writer thread."""
        while self._puts or self._uses:
            self.flush()
        self._drop()
        tidy(self.path)

    def bound(self, max_bytes: int) -> None:
        """Let `max_bytes` count from the next flush on; any thread."""
        self._max_bytes = max_bytes

    def _write(
        self, puts: Mapping[bytes, bytes], uses: Sequence[bytes], used: int, connection: WriterConnection
    ) -> None:
        connection.execute("BEGIN IMMEDIATE")
        rows = [(key, used, len(packed) + _ROW_BYTES, packed) for key, packed in puts.items()]
        added = connection.executemany(
            "INSERT INTO parsed(key, used, size, blob) VALUES(?,?,?,?) ON CONFLICT DO NOTHING RETURNING size", rows
        )
        self._size += sum(size for (size,) in added)
        connection.executemany("UPDATE parsed SET used=? WHERE key=? AND used<?", [(used, key, used) for key in uses])
        self._drop_oldest(connection)
        connection.execute("COMMIT")

    def _is_pinned(self) -> bool:
        """Say whether the log is long and cannot be emptied, since another program reads what is below it.

        Nothing is kept until it ends: to begin anew would lose hours of a model's work.
        """
        if _size_of(self.path + "-wal") <= _PINNED_BYTES:
            return False
        done = self._attempt(lambda c: c.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE))
        return done is not None and done[1] < done[0]

    def _drop_oldest(self, connection: WriterConnection) -> None:
        for _ in range(_DROP_ROUNDS):
            if self._size <= self._max_bytes:
                return
            oldest = connection.execute("SELECT rowid, size FROM parsed ORDER BY used, rowid LIMIT ?", (_DROP_ROWS,))
            going: list[tuple[int]] = []
            for row, size in cast(list[tuple[int, int]], oldest.fetchall()):
                if self._size <= self._max_bytes:
                    break
                going.append((row,))
                self._size -= size
            connection.executemany("DELETE FROM parsed WHERE rowid=?", going)

    def _attempt(self, use: Callable[[WriterConnection], T]) -> T | None:
        """Return what `use` does with the connection; None when the cache cannot serve now.

        Nothing is opened in a state directory that has taken the place of ours: it has a daemon of its own.
        Damage starts a new file. A full disk, a lock, a failed call is nobody's concern here: what is lost is
        parsed again, and the next use tries again.
        """
        if inode(os.path.dirname(self.path)) != self._home:
            return None
        try:
            return use(self._opened())
        except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, IndexDamaged):
            self._start_anew()
        except (apsw.Error, IndexUnusable):
            if not os.path.lexists(self.path):
                self._start_anew()
            else:
                self._drop()  # takes a transaction along, and what was counted for it
        return None

    def _drop(self) -> None:
        if self._connection is not None:
            with contextlib.suppress(apsw.Error):
                self._connection.close(True)
            self._connection = None

    def _opened(self) -> WriterConnection:
        if self._connection is None:
            connection = open_writer(self.path)
            try:
                self._size = connection.execute("SELECT coalesce(sum(size), 0) FROM parsed").get
            except BaseException:
                connection.close(True)
                raise
            self._connection = connection
        return self._connection

    def _start_anew(self) -> None:
        self._drop()
        self._puts, self._put_bytes, self._uses = {}, 0, set()
        old, self.path = self.path, _following(self.path)
        # In settle nobody would catch it, and the writer thread would be no more.
        with contextlib.suppress(CtxError, OSError):
            remove(old)
        with contextlib.suppress(CtxError, OSError):
            create(self.path, _SCHEMA, _VERSION)


def _current_file(state_dir: str) -> str:
    """Return the path of the newest cache file of this version (which may not exist); remove all others."""
    make_private_directory(state_dir)
    numbers = {name: int(match[1]) for name in os.listdir(state_dir) if (match := _FILE.fullmatch(name))}
    mine = {name: n for name, n in numbers.items() if name.startswith(f"cache-{_VERSION}-")}
    newest = max(mine, key=mine.__getitem__, default=f"cache-{_VERSION}-1.db")
    for name in numbers:
        if name != newest:
            remove(os.path.join(state_dir, name))
    return os.path.join(state_dir, newest)


def _following(path: str) -> str:
    match = _FILE.fullmatch(os.path.basename(path))
    assert match is not None
    return os.path.join(os.path.dirname(path), f"cache-{_VERSION}-{int(match[1]) + 1}.db")


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0
