"""Changes of a worktree -> rows. Runs in the writer thread only; decodes the workers' results, which are
bytes until here.

A file is replaced as a whole: its old rows go, its new ones come, in the transaction of the batch it belongs
to.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from typing import TypeAlias, assert_never, cast

import apsw
import msgspec

from ctxd.model import FileStat, ParsedFile, SkipReason
from ctxd.store.cache import Cache
from ctxd.store.driver import WriterConnection
from ctxd.store.rows import Rows


class Put(msgspec.Struct, frozen=True):
    """A file with its content. `blob` is an encoded ParsedFile; empty: take it from the cache under `key`."""

    path: str
    stat: FileStat
    digest: bytes
    hashed_ns: int
    key: bytes
    blob: bytes = b""
    note: str = ""


class Touch(msgspec.Struct, frozen=True):
    """A file whose stat changed and whose content did not."""

    path: str
    stat: FileStat
    digest: bytes
    hashed_ns: int


class Skip(msgspec.Struct, frozen=True):
    """A file that is known and not indexed. `digest` is empty when it was never opened."""

    path: str
    stat: FileStat
    reason: SkipReason
    digest: bytes = b""
    hashed_ns: int = 0


class Remove(msgspec.Struct, frozen=True):
    """A file that is gone."""

    path: str


Change: TypeAlias = Put | Touch | Skip | Remove


class Applied(msgspec.Struct, frozen=True):
    """What a batch did. `files` counts files whose rows changed.

    `missing` are paths that were left as they were, because the cache had lost their entry or a Touch did not
    fit the row: parse them anew.
    """

    generation: int
    files: int
    missing: tuple[str, ...] = ()


# Work between two yields; with the last step before the look at the clock a slice stays under 50 ms.
_SLICE_S = 0.025
# Encoded facts that are held before they go in.
_WINDOW_BYTES = 8 << 20
_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(ParsedFile).decode


_SELECT = "SELECT id, path, digest, skip, note FROM files WHERE"


class _Row(msgspec.Struct, frozen=True):
    """What a change needs to know of the file's row."""

    id: int
    path: str
    digest: bytes
    skip: str
    note: str


def apply(connection: WriterConnection, changes: Sequence[Change], cache: Cache) -> Generator[None, None, Applied]:
    """Replace the rows of the changed files and add 1 to the generation if any row of content changed.

    Later changes of a path win. Raises what SQLite raises; the caller rolls back.
    """
    batch = _Batch(connection, cache)
    slice_ends = time.monotonic() + _SLICE_S
    for _ in batch.steps(changes):
        if time.monotonic() >= slice_ends:
            yield
            slice_ends = time.monotonic() + _SLICE_S
    if batch.files:
        connection.execute("UPDATE meta SET value=value+1 WHERE key='generation'")
    generation = connection.execute("SELECT value FROM meta WHERE key='generation'").get
    return Applied(generation, len(batch.files), tuple(batch.missing))


class _New(msgspec.Struct, frozen=True):
    """A file that goes in once the rows that it replaces have gone."""

    put: Put
    blob: bytes


class _Batch:
    """One batch while it is applied: in windows, first what goes, then what comes (see Rows.remove)."""

    def __init__(self, connection: WriterConnection, cache: Cache) -> None:
        self._connection = connection
        self._cache = cache
        self._rows = Rows(connection)
        self._coming: dict[str, _New | Skip] = {}
        self._coming_bytes = 0
        self.files: set[str] = set()
        self.missing: list[str] = []

    def steps(self, changes: Sequence[Change]) -> Generator[None]:
        """Apply the changes; yields where a slice may end."""
        for change in changes:
            if change.path in self._coming or self._coming_bytes > _WINDOW_BYTES:
                yield from self._insert()
            self._change(change)
            yield
        yield from self._insert()

    def _change(self, change: Change) -> None:
        row = self._find(change.path)
        match change:
            case Put():
                self._put(change, row)
            case Touch():
                self._touch(change, row)
            case Skip():
                self._skip(change, row)
            case Remove():
                self._remove(row)
            case _:
                assert_never(change)

    def _insert(self) -> Generator[None]:
        """Insert what is coming."""
        coming, self._coming, self._coming_bytes = self._coming, {}, 0
        for new in coming.values():
            match new:
                case Skip():
                    self._rows.skip(new.path, new.stat, new.reason, new.digest, new.hashed_ns)
                case _New():
                    put, parsed = new.put, _decode(new.blob)
                    note = put.note or parsed.note
                    self._keep(put, parsed)
                    yield from self._rows.put(put.path, put.stat, put.digest, put.hashed_ns, parsed, note)
                case _:
                    assert_never(new)
            yield

    def _put(self, put: Put, row: _Row | None) -> None:
        same = row is not None and row.digest == put.digest
        if row is not None and same and not row.skip and row.note == put.note:
            self._update_stat(row, put.stat, put.hashed_ns)
            return
        blob = self._blob(put)
        if blob is None:
            self.missing.append(put.path)
            return
        if row is not None and same:
            parsed = _decode(blob)
            if row.skip == parsed.skip and row.note == (put.note or parsed.note):
                self._update_stat(row, put.stat, put.hashed_ns)
                return
        self._remove(row)
        self.files.add(put.path)
        self._coming[put.path] = _New(put, blob)
        self._coming_bytes += len(blob)

    def _touch(self, touch: Touch, row: _Row | None) -> None:
        if row is None or row.digest != touch.digest:
            self.missing.append(touch.path)
        else:
            self._update_stat(row, touch.stat, touch.hashed_ns)

    def _skip(self, skip: Skip, row: _Row | None) -> None:
        if row is not None and row.skip == skip.reason and row.digest == skip.digest:
            self._update_stat(row, skip.stat, skip.hashed_ns)
            return
        self._remove(row)
        self.files.add(skip.path)
        self._coming[skip.path] = skip

    def _remove(self, row: _Row | None) -> None:
        if row is not None:
            self._rows.remove(row.id)
            self.files.add(row.path)

    def _find(self, path: str) -> _Row | None:
        values = self._connection.execute(f"{_SELECT} path=?", (path,)).fetchone()
        return None if values is None else _row(values)

    def _update_stat(self, row: _Row, stat: FileStat, hashed_ns: int) -> None:
        self._connection.execute(
            "UPDATE files SET size_bytes=?, mtime_ns=?, ctime_ns=?, inode=?, hashed_ns=? WHERE id=?",
            (stat.size_bytes, stat.mtime_ns, stat.ctime_ns, stat.inode, hashed_ns, row.id),
        )

    def _blob(self, put: Put) -> bytes | None:
        """Return the encoded facts of a file; None when they were to come from the cache and it has lost
        them."""
        return put.blob or self._cache.get(put.key)

    def _keep(self, put: Put, parsed: ParsedFile) -> None:
        """Give new facts to the cache, without the words: a third of an entry, and they follow from the text.

        A note of the pool (a crash, a time-out) belongs to this attempt, not to the content.
        """
        if put.blob and put.key and not put.note:
            self._cache.put(put.key, _encode(msgspec.structs.replace(parsed, words=())))


def _row(values: tuple[apsw.SQLiteValue, ...]) -> _Row:
    return _Row(*cast(tuple[int, str, bytes, str, str], values))
