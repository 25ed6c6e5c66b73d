"""Rows of an index file as values for search: files, definitions, chunks, uses, text.

Reads inside one snapshot, on its reader thread. Row ids name rows within that snapshot and nothing else; no
order depends on them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable
from itertools import islice
from typing import TypeVar

import msgspec

from ctxd.packing import unpack
from ctxd.store.schema import BEHIND, QUALIFIED_NAME, REFERENCE_KINDS
from ctxd.store.snapshot import Snapshot
from ctxd.store.texts import shown

Row = TypeVar("Row")
_CALL, _TYPE = REFERENCE_KINDS.index("call"), REFERENCE_KINDS.index("type")

# Of all reader threads.
_counts: dict[tuple[str, int, object], tuple[int, int]] = {}
_MAX_COUNTS = 64


class FileRow(msgspec.Struct, frozen=True, array_like=True):
    """One indexed file: its facts (bits of schema) and the stat its content was read under."""

    id: int
    path: str
    language: str
    content: str
    facts: int
    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class SymbolRow(msgspec.Struct, frozen=True, array_like=True):
    """One definition."""

    id: int
    file: int
    name: str
    qualified_name: str
    kind: str
    parent: str
    exported: bool
    line_start: int
    line_end: int
    definition_line: int
    signature: str
    doc: str


class ChunkRow(msgspec.Struct, frozen=True, array_like=True):
    """One chunk. `symbol` is 0 where it belongs to no definition."""

    id: int
    file: int
    symbol: int
    kind: str
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    tokens: int


class Use(msgspec.Struct, frozen=True, array_like=True):
    """Where a name is used: the chunk around the line."""

    chunk: int
    path: str
    line: int


# A test for rows, None = all.
Accept = Callable[[Row], bool] | None

_FILE = "f.id, f.path, f.language, f.content, f.facts, f.size_bytes, f.mtime_ns, f.ctime_ns, f.inode"
_SYMBOL = (
    f"s.id, s.file_id, n.name, {QUALIFIED_NAME}, s.kind, s.parent, s.exported, s.line_start, s.line_end,"
    " s.definition_line, s.signature, s.doc"
)
_CHUNK = (
    "c.id, c.file_id, coalesce(c.symbol_id, 0), c.kind, c.line_start, c.line_end, c.byte_start, c.byte_end, c.tokens"
)
_LISTED = "IN (SELECT value FROM json_each(?))"


def files(snapshot: Snapshot, ids: Collection[int]) -> dict[int, FileRow]:
    """Return the files with these ids."""
    rows = snapshot.connection.execute(f"SELECT {_FILE} FROM files f WHERE f.id {_LISTED}", (_array(ids),))
    return {row[0]: FileRow(*row) for row in rows}


def symbols(snapshot: Snapshot, ids: Collection[int]) -> dict[int, SymbolRow]:
    """Return the definitions with these ids."""
    rows = snapshot.connection.execute(
        f"SELECT {_SYMBOL} FROM symbols s JOIN names n ON n.id = s.name_id WHERE s.id {_LISTED}",
        (_array(ids),),
    )
    return {row[0]: _symbol(row) for row in rows}


def chunks(snapshot: Snapshot, ids: Collection[int]) -> dict[int, ChunkRow]:
    """Return the chunks with these ids."""
    rows = snapshot.connection.execute(f"SELECT {_CHUNK} FROM chunks c WHERE c.id {_LISTED}", (_array(ids),))
    return {row[0]: ChunkRow(*row) for row in rows}


def named(
    snapshot: Snapshot, names: Collection[str], limit: int, accept: Accept[SymbolRow] = None, *, owner: str = ""
) -> list[SymbolRow]:
    """Return definitions whose name is one of `names`, at most `limit` that `accept` takes: source first, by path and
    line. Those with `owner` in their path or in what is around them come before all others.
    """
    return _definitions(snapshot, f"n.name {_LISTED}", _array(names), owner, limit, accept)


def folded(snapshot: Snapshot, names: Collection[str], limit: int, accept: Accept[SymbolRow] = None) -> list[SymbolRow]:
    """Return definitions whose name is one of `names` but for case (`names` case-folded)."""
    return _definitions(snapshot, f"n.folded {_LISTED}", _array(names), "", limit, accept)


def covering(snapshot: Snapshot, owners: Iterable[SymbolRow]) -> dict[int, list[ChunkRow]]:
    """Return for each definition the chunks that overlap its lines, in order."""
    asked = {owner.id: owner for owner in owners}
    found: dict[int, list[ChunkRow]] = {key: [] for key in asked}
    rows = snapshot.connection.execute(
        f"SELECT s.id, {_CHUNK} FROM symbols s JOIN chunks c ON c.file_id = s.file_id"
        f" AND c.line_start <= s.line_end AND c.line_end >= s.line_start WHERE s.id {_LISTED}"
        " ORDER BY c.line_start",
        (_array(asked),),
    )
    for row in rows:
        found[row[0]].append(ChunkRow(*row[1:]))
    return found


def inside(snapshot: Snapshot, file: int, line_start: int, line_end: int) -> list[SymbolRow]:
    """Return the definitions of a file that begin within these lines, in order."""
    rows = snapshot.connection.execute(
        f"SELECT {_SYMBOL} FROM symbols s JOIN names n ON n.id = s.name_id"
        " WHERE s.file_id = ? AND s.line_start BETWEEN ? AND ? AND s.line_end <= ?"
        " ORDER BY s.line_start, s.line_end DESC, s.definition_line, n.name",
        (file, line_start, line_end, line_end),
    )
    return [_symbol(row) for row in rows]


def of_file(snapshot: Snapshot, file: int, limit: int | None = None, accept: Accept[ChunkRow] = None) -> list[ChunkRow]:
    """Return the first `limit` chunks of a file that `accept` takes, in order."""
    rows = snapshot.connection.execute(
        f"SELECT {_CHUNK} FROM chunks c WHERE c.file_id = ? ORDER BY c.line_start, c.byte_start", (file,)
    )
    return _first((ChunkRow(*row) for row in rows), limit, accept)


def at(snapshot: Snapshot, file: int, line: int) -> list[ChunkRow]:
    """Return the chunks of a file that hold a line."""
    rows = snapshot.connection.execute(
        f"SELECT {_CHUNK} FROM chunks c WHERE c.file_id = ? AND c.line_start <= ? AND c.line_end >= ?"
        " ORDER BY c.line_start",
        (file, line, line),
    )
    return [ChunkRow(*row) for row in rows]


def uses(snapshot: Snapshot, name: str, limit: int, accept: Accept[Use] = None) -> list[Use]:
    """Return the chunks that use `name` (calls and types before other kinds), by path and line, each once."""
    rows = snapshot.connection.execute(
        "SELECT c.id, f.path, min(r.line) FROM names n JOIN refs r ON r.name_id = n.id"
        " JOIN files f ON f.id = r.file_id"
        " JOIN chunks c ON c.file_id = r.file_id AND c.line_start <= r.line AND c.line_end >= r.line"
        " WHERE n.name = ? GROUP BY c.id ORDER BY min(r.kind NOT IN (?, ?)), f.path, 3",
        (name, _CALL, _TYPE),
    )
    return _first((Use(*row) for row in rows), limit, accept)


def paths(snapshot: Snapshot) -> list[tuple[int, str, str, str]]:
    """Return (id, path, language, content) of every indexed file; for filters and path questions."""
    rows = snapshot.connection.execute("SELECT id, path, language, content FROM files WHERE skip = ''")
    return list(rows)


def indexed(snapshot: Snapshot, wanted: Collection[str]) -> frozenset[str]:
    """Return those of the paths that are indexed."""
    rows = snapshot.connection.execute(f"SELECT path FROM files WHERE skip = '' AND path {_LISTED}", (_array(wanted),))
    return frozenset(path for (path,) in rows)


def exported(snapshot: Snapshot, file_ids: Collection[int], parts: Collection[str]) -> Iterable[tuple[int, str]]:
    """Yield (file id, name) of what these files export at their top, where the name holds one of `parts` (folded)."""
    if not parts:
        return
    holds = " OR ".join(["instr(n.folded, ?)"] * len(parts))
    yield from snapshot.connection.execute(
        "SELECT DISTINCT s.file_id, n.name FROM symbols s JOIN names n ON n.id = s.name_id"
        f" WHERE s.file_id {_LISTED} AND s.parent = '' AND s.exported AND ({holds})",
        (_array(file_ids), *sorted(parts)),
    )


def ending(snapshot: Snapshot, path: str, limit: int, accept: Accept[FileRow] = None) -> list[FileRow]:
    """Return indexed files whose path is `path` or ends in `/path`, but for case: source first, then shorter paths."""
    pattern = path.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = snapshot.connection.execute(
        f"SELECT {_FILE} FROM files f WHERE f.skip = '' AND"
        " (f.path LIKE ? ESCAPE '\\' OR f.path LIKE ? ESCAPE '\\')"
        " ORDER BY length(f.path) > ?, (f.facts & ?) != 0, length(f.path), f.path",
        (pattern, "%/" + pattern, len(path), BEHIND),
    )
    return _first((FileRow(*row) for row in rows), limit, accept)


def chunks_of(snapshot: Snapshot, file_ids: Collection[int] | None, kind: str) -> list[int]:
    """Return the chunks of these files (None = all) that hold or belong to a definition of `kind`."""
    where, values = [], []
    if file_ids is not None:
        where.append(f"c.file_id {_LISTED}")
        values.append(_array(file_ids))
    if kind:
        where.append(
            "(c.symbol_id IN (SELECT id FROM symbols WHERE kind = ?) OR EXISTS (SELECT 1 FROM symbols s WHERE"
            " s.file_id = c.file_id AND s.kind = ? AND s.line_start BETWEEN c.line_start AND c.line_end))"
        )
        values += [kind, kind]
    rows = snapshot.connection.execute(f"SELECT c.id FROM chunks c WHERE {' AND '.join(where) or '1'}", tuple(values))
    return [row[0] for row in rows]


def counts(snapshot: Snapshot) -> tuple[int, int]:
    """Return how many files are indexed and how many chunks there are.

    Counting 55,000 chunks takes 1.7 ms, and between two commits the answer is the same. A file that took the name of a
    forgotten one is told from it by its highest ids: without holes they are the counts.
    """
    highest = snapshot.connection.execute("SELECT (SELECT max(id) FROM files), (SELECT max(id) FROM chunks)").get
    state = (snapshot.connection.filename, snapshot.generation, highest)
    known = _counts.get(state)
    if known is None:
        rows = snapshot.connection.execute(
            "SELECT (SELECT count(*) FROM files WHERE skip = ''), (SELECT count(*) FROM chunks)"
        )
        known = next((files, chunks) for files, chunks in rows)
        if len(_counts) >= _MAX_COUNTS:
            _counts.clear()
        _counts[state] = known
    return known


def text(snapshot: Snapshot, file: int, until: int = 0) -> bytes:
    """Return the stored text of a file, secrets masked, as UTF-8: all of it, or its first `until` bytes."""
    row = snapshot.connection.execute(
        "SELECT f.digest, t.body FROM texts t JOIN files f ON f.id = t.file_id WHERE t.file_id = ?", (file,)
    ).fetchone()
    return shown.take(row[0], row[1], until) if row else b""


def every_text(snapshot: Snapshot, file_ids: Collection[int] | None) -> Iterable[tuple[int, bytes]]:
    """Yield (file id, text) in the order of paths; for questions that no index answers."""
    only = "" if file_ids is None else f"WHERE f.id {_LISTED}"
    rows = snapshot.connection.execute(
        f"SELECT f.id, t.body FROM files f JOIN texts t ON t.file_id = f.id {only} ORDER BY f.path",
        () if file_ids is None else (_array(file_ids),),
    )
    for file, body in rows:
        yield file, unpack(body)


def _definitions(
    snapshot: Snapshot, where: str, value: str, owner: str, limit: int, accept: Accept[SymbolRow]
) -> list[SymbolRow]:
    # Of one file the ids are in the order of its text, whatever came before it.
    rows = snapshot.connection.execute(
        f"SELECT {_SYMBOL} FROM names n JOIN symbols s ON s.name_id = n.id JOIN files f ON f.id = s.file_id"
        f" WHERE {where} ORDER BY instr(s.parent || '/' || f.path, ?) = 0, (f.facts & ?) != 0, f.path, s.line_start,"
        " s.definition_line, s.id LIMIT ?",
        (value, owner, BEHIND, limit if accept is None else -1),
    )
    return _first(map(_symbol, rows), limit, accept)


def _first(rows: Iterable[Row], limit: int | None, accept: Accept[Row]) -> list[Row]:
    """Return the first rows that `accept` takes: what a filter keeps out takes no place of what it leaves."""
    return list(islice(rows if accept is None else filter(accept, rows), limit))


def _symbol(row: tuple[object, ...]) -> SymbolRow:
    return SymbolRow(*row)  # type: ignore[arg-type]


def _array(values: Collection[int] | Collection[str]) -> str:
    return json.dumps(sorted(values))
