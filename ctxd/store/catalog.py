"""The index as a list: what is known of files, how much there is of what, definitions by name or by file.

Reads inside one snapshot, on its reader thread. Every list has a fixed order of paths and lines, never of row
ids. `scope` is a JSON array of file ids, None = all files.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ctxd.model import FileStat, Known, Symbol
from ctxd.packing import unpack
from ctxd.state import Counts, FileRow, LanguageCount, ReasonCount
from ctxd.store.schema import BEHIND, GENERATED, QUALIFIED_NAME
from ctxd.store.snapshot import Snapshot

_DEFINED = f"""
SELECT f.path, f.language, f.content, f.facts, n.name, {QUALIFIED_NAME}, s.kind, s.parent, s.exported,
       s.line_start, s.line_end, s.definition_line, s.signature, s.doc
FROM symbols s JOIN files f ON f.id = s.file_id JOIN names n ON n.id = s.name_id
"""
_IN_SCOPE = "(:scope IS NULL OR s.file_id IN (SELECT value FROM json_each(:scope)))"
_IN_ORDER = "ORDER BY s.line_start, s.line_end DESC, s.definition_line, n.name"


class Defined(msgspec.Struct, frozen=True):
    """A definition and the file it is in. `facts` are bits of schema.py."""

    path: str
    language: str
    content: str
    facts: int
    symbol: Symbol


class Piece(msgspec.Struct, frozen=True):
    """A chunk's place: lines and bytes in its file's text, and the definition it belongs to."""

    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    kind: str
    symbol: Symbol | None


def known_files(snapshot: Snapshot) -> dict[str, Known]:
    """Return what the store believes about every path, indexed or skipped: the other half of a reconcile."""
    rows = snapshot.connection.execute(
        "SELECT path, size_bytes, mtime_ns, ctime_ns, inode, digest, hashed_ns, skip FROM files"
    )
    return {
        path: Known(FileStat(size, mtime, ctime, inode), digest, hashed, skip)
        for path, size, mtime, ctime, inode, digest, hashed, skip in rows
    }


def known_after(snapshot: Snapshot, path: str, limit: int) -> dict[str, Known]:
    """Return what the store believes about the first paths that come after one, in their order."""
    rows = snapshot.connection.execute(
        "SELECT path, size_bytes, mtime_ns, ctime_ns, inode, digest, hashed_ns, skip FROM files"
        " WHERE path > ? ORDER BY path LIMIT ?",
        (path, limit),
    )
    return {
        path: Known(FileStat(size, mtime, ctime, inode), digest, hashed, skip)
        for path, size, mtime, ctime, inode, digest, hashed, skip in rows
    }


def languages(snapshot: Snapshot) -> tuple[LanguageCount, ...]:
    """Return indexed files by language, most files first. Cheap: reads one table."""
    rows = snapshot.connection.execute(
        "SELECT language, count(*) AS files FROM files WHERE skip = '' GROUP BY language ORDER BY files DESC, language"
    )
    return tuple(LanguageCount(language, files) for language, files in rows)


def counts(snapshot: Snapshot) -> Counts:
    """Return what the index holds: by language, by reason for skipping, by trouble in parsing."""
    execute = snapshot.connection.execute
    per_language = "SELECT f.language, count(*) FROM {} x JOIN files f ON f.id = x.file_id GROUP BY f.language"
    chunks = dict(execute(per_language.format("chunks")))
    symbols = dict(execute(per_language.format("symbols")))
    replaced, size = execute(
        "SELECT coalesce(sum(replaced > 0), 0), coalesce(sum(size_bytes), 0) FROM files WHERE skip = ''"
    ).get
    return Counts(
        languages=tuple(
            LanguageCount(one.language, one.files, chunks.get(one.language, 0), symbols.get(one.language, 0))
            for one in languages(snapshot)
        ),
        skipped=_reasons(snapshot, "skip"),
        noted=_reasons(snapshot, "note"),
        replaced=replaced,
        source_bytes=size,
    )


def files_count(snapshot: Snapshot) -> int:
    """Return how many files are indexed."""
    return int(snapshot.connection.execute("SELECT count(*) FROM files WHERE skip = ''").get)


def left_out(snapshot: Snapshot) -> tuple[int, int]:
    """Return how many files are not indexed, and how many of the indexed have no definitions for trouble in parsing."""
    execute = snapshot.connection.execute
    bare = "skip = '' AND note != '' AND NOT EXISTS (SELECT 1 FROM symbols s WHERE s.file_id = files.id)"
    skipped, unparsed = (f"SELECT count(*) FROM files WHERE {which}" for which in ("skip != ''", bare))
    return int(execute(skipped).get), int(execute(unparsed).get)


def skipped(snapshot: Snapshot) -> Iterator[FileRow]:
    """Give every file that is not indexed, then those with trouble and generated ones, with the reason; by path."""
    rows = snapshot.connection.execute(
        "SELECT path, language, content, size_bytes, line_count, CASE WHEN skip != '' THEN skip ELSE"
        " concat_ws(', ', nullif(note, ''), iif(replaced, 'decoded with replacement: ' || replaced, NULL),"
        " iif(facts & ?1, 'generated', NULL)) || ' (still indexed)' END"
        " FROM files WHERE skip != '' OR note != '' OR replaced OR facts & ?1 ORDER BY skip = '', path",
        (GENERATED,),
    )
    for path, language, content, size, lines, reason in rows:
        yield FileRow(path=path, language=language, content=content, size_bytes=size, line_count=lines, reason=reason)


def files(snapshot: Snapshot) -> Iterator[FileRow]:
    """Give every indexed file, by path."""
    rows = snapshot.connection.execute(
        "SELECT path, language, content, size_bytes, line_count FROM files WHERE skip = '' ORDER BY path"
    )
    for path, language, content, size, lines in rows:
        yield FileRow(path=path, language=language, content=content, size_bytes=size, line_count=lines)


def file(snapshot: Snapshot, path: str) -> FileRow | None:
    """Return one path as the index knows it, with the reason when it is skipped; None when it is unknown."""
    row = snapshot.connection.execute(
        "SELECT language, content, size_bytes, line_count, skip, note FROM files WHERE path = ?", (path,)
    ).get
    if row is None:
        return None
    language, content, size, lines, skip, note = row
    return FileRow(
        path=path, language=language, content=content, size_bytes=size, line_count=lines, reason=skip, note=note
    )


def scope(snapshot: Snapshot, accept: Callable[[str, str, str], bool]) -> str:
    """Return the ids of the indexed files that `accept` takes by path, language and content, as `scope` elsewhere."""
    rows = snapshot.connection.execute("SELECT id, path, language, content FROM files WHERE skip = ''")
    return json.dumps([number for number, path, language, content in rows if accept(path, language, content)])


def text(snapshot: Snapshot, path: str) -> bytes:
    """Return a file's stored text, secrets masked, as UTF-8; b"" when there is none."""
    body = snapshot.connection.execute(
        "SELECT body FROM texts WHERE file_id = (SELECT id FROM files WHERE path = ?)", (path,)
    ).get
    return unpack(body) if body else b""


def named(snapshot: Snapshot, name: str, *, folded: bool, scope: str | None = None) -> list[Defined]:
    """Return the definitions of exactly `name`, or with `folded` of every spelling of it but for case."""
    condition = "n.folded = :name" if folded else "n.name = :name"
    rows = snapshot.connection.execute(
        f"{_DEFINED} WHERE {condition} AND {_IN_SCOPE} {_IN_ORDER}",
        {"name": name.casefold() if folded else name, "scope": scope},
    )
    return sorted(map(_defined, rows), key=lambda one: one.path)


def matching(
    snapshot: Snapshot, accept: Callable[[str], bool], *, qualified: bool, literal: str = "", scope: str | None = None
) -> list[Defined]:
    """Return the definitions whose name, or qualified name, `accept` takes; by path and line.

    `literal` is a piece that each of them holds: it spares most names the test.
    """
    execute = snapshot.connection.execute
    if qualified:
        rows = execute(
            f"SELECT s.id, {QUALIFIED_NAME} AS qualified FROM symbols s JOIN names n ON n.id = s.name_id"
            f" WHERE instr(qualified, :literal) AND {_IN_SCOPE}",
            {"literal": literal, "scope": scope},
        )
        ids = [number for number, name in rows if accept(name)]
        condition = "s.id IN (SELECT value FROM json_each(:ids))"
    else:
        rows = execute("SELECT id, name FROM names WHERE instr(name, ?)", (literal,))
        ids = [number for number, name in rows if accept(name)]
        condition = f"s.name_id IN (SELECT value FROM json_each(:ids)) AND {_IN_SCOPE}"
    found = execute(f"{_DEFINED} WHERE {condition} {_IN_ORDER}", {"ids": json.dumps(ids), "scope": scope})
    return sorted(map(_defined, found), key=lambda one: one.path)


def outline(snapshot: Snapshot, path: str) -> list[Defined]:
    """Return the definitions of one file: outer before inner, in the order of the text."""
    rows = snapshot.connection.execute(f"{_DEFINED} WHERE f.path = :path {_IN_ORDER}", {"path": path})
    return list(map(_defined, rows))


def total(snapshot: Snapshot, *, kind: str = "", scope: str | None = None) -> int:
    """Return how many definitions there are, of one kind where it is named."""
    statement = f"SELECT count(*) FROM symbols s WHERE (:kind = '' OR s.kind = :kind) AND {_IN_SCOPE}"
    return int(snapshot.connection.execute(statement, {"kind": kind, "scope": scope}).get)


def every(snapshot: Snapshot, *, kind: str = "", scope: str | None = None) -> Iterator[Defined]:
    """Give all definitions lazily: those of the source before those beside it, by path and line."""
    execute = snapshot.connection.execute
    order = execute(
        "SELECT id FROM files s WHERE skip = '' AND "
        + _IN_SCOPE.replace("s.file_id", "s.id")
        + " AND (:kind = '' OR id IN (SELECT file_id FROM symbols WHERE kind = :kind))"
        " ORDER BY (facts & :behind) != 0, path",
        {"scope": scope, "behind": BEHIND, "kind": kind},
    ).fetchall()
    statement = f"{_DEFINED} WHERE s.file_id = :file AND (:kind = '' OR s.kind = :kind) {_IN_ORDER}"
    for (number,) in order:
        yield from map(_defined, execute(statement, {"file": number, "kind": kind}))


def pieces(snapshot: Snapshot, path: str) -> list[Piece]:
    """Return the places of a file's chunks, in the order of its lines."""
    rows = snapshot.connection.execute(
        f"SELECT c.line_start, c.line_end, c.byte_start, c.byte_end, c.kind, n.name, {QUALIFIED_NAME}, s.kind,"
        " s.parent, s.exported, s.line_start, s.line_end, s.definition_line, s.signature, s.doc"
        " FROM chunks c LEFT JOIN symbols s ON s.id = c.symbol_id LEFT JOIN names n ON n.id = s.name_id"
        " WHERE c.file_id = (SELECT id FROM files WHERE path = ?) ORDER BY c.line_start, c.byte_start",
        (path,),
    )
    return [
        Piece(start, end, byte_start, byte_end, kind, None if symbol[0] is None else _symbol(symbol))
        for start, end, byte_start, byte_end, kind, *symbol in rows
    ]


def _reasons(snapshot: Snapshot, column: str) -> tuple[ReasonCount, ...]:
    rows = snapshot.connection.execute(
        f"SELECT {column}, count(*) AS files FROM files WHERE {column} != '' GROUP BY {column}"
        f" ORDER BY files DESC, {column}"
    )
    return tuple(ReasonCount(reason, number) for reason, number in rows)


def _defined(row: tuple[object, ...]) -> Defined:
    path, language, content, facts, *symbol = row
    return Defined(str(path), str(language), str(content), int(str(facts)), _symbol(symbol))


def _symbol(row: Sequence[object]) -> Symbol:
    name, qualified, kind, parent, exported, start, end, line, signature, doc = row
    return msgspec.convert([name, qualified, kind, parent, bool(exported), start, end, line, signature, doc], Symbol)
