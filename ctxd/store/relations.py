"""References, imports and slim definitions as values for the resolution of edges.

Reads inside one snapshot, on its reader thread. Row ids name rows within that snapshot and nothing else; no order of
an answer depends on them.
"""

from __future__ import annotations

import json
from collections.abc import Collection

import msgspec

from ctxd.model import ReferenceKind
from ctxd.store.schema import QUALIFIED_NAME, REFERENCE_KINDS
from ctxd.store.snapshot import Snapshot

_LISTED = "IN (SELECT value FROM json_each(?))"
_PAIRS = msgspec.json.Decoder(tuple[tuple[str, str], ...])
_SUPERTYPES = (REFERENCE_KINDS.index("extends"), REFERENCE_KINDS.index("implements"))
_IMPORT = REFERENCE_KINDS.index("import")


class Source(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One indexed file. `facts` are bits of schema.py."""

    id: int
    path: str
    language: str
    facts: int


class Definition(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A definition as edges need it."""

    id: int
    file: int
    name: str
    qualified_name: str
    kind: str
    parent: str
    line_start: int
    line_end: int
    definition_line: int
    signature: str


class Site(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One reference at its place. `symbol` is the definition around it, 0 = none; `place` its order in the file."""

    file: int
    place: int
    name: str
    kind: ReferenceKind
    line: int
    symbol: int
    receiver: str


class Bound(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One import statement: pairs of a name and what it is called here ("" = the same); `*` is all of the module."""

    file: int
    line: int
    module: str
    names: tuple[tuple[str, str], ...]


_DEFINITION = (
    f"SELECT s.id, s.file_id, n.name, {QUALIFIED_NAME}, s.kind, s.parent, s.line_start, s.line_end,"
    " s.definition_line, s.signature FROM symbols s JOIN names n ON n.id = s.name_id"
)
_SITE = "SELECT r.file_id, r.place, n.name, r.kind, r.line, coalesce(r.symbol_id, 0), r.receiver FROM"


def sources(snapshot: Snapshot) -> list[Source]:
    """Return every indexed file, by path."""
    rows = snapshot.connection.execute("SELECT id, path, language, facts FROM files WHERE skip = '' ORDER BY path")
    return [Source(*row) for row in rows]


def named(snapshot: Snapshot, names: Collection[str]) -> list[Definition]:
    """Return the definitions of exactly these names, of each file by line; files in no order."""
    # One name is what is asked for most, and found in half the time without a list.
    where, value = ("= ?", next(iter(names))) if len(names) == 1 else (_LISTED, _array(names))
    rows = snapshot.connection.execute(
        f"{_DEFINITION} WHERE n.name {where} ORDER BY s.file_id, s.line_start, s.definition_line, s.id", (value,)
    )
    return [Definition(*row) for row in rows]


def of_file(snapshot: Snapshot, file: int) -> list[Definition]:
    """Return the definitions of one file: outer before inner, in the order of the text."""
    rows = snapshot.connection.execute(
        f"{_DEFINITION} WHERE s.file_id = ? ORDER BY s.line_start, s.line_end DESC, s.definition_line", (file,)
    )
    return [Definition(*row) for row in rows]


def innermost(snapshot: Snapshot, file: int, line: int) -> Definition | None:
    """Return the innermost definition around a line of a file."""
    rows = snapshot.connection.execute(
        f"{_DEFINITION} WHERE s.file_id = ? AND ? BETWEEN s.line_start AND s.line_end"
        " ORDER BY s.line_start DESC, s.line_end, s.definition_line DESC LIMIT 1",
        (file, line),
    )
    return next((Definition(*row) for row in rows), None)


def definitions(snapshot: Snapshot, ids: Collection[int]) -> list[Definition]:
    """Return the definitions with these ids."""
    rows = snapshot.connection.execute(f"{_DEFINITION} WHERE s.id {_LISTED}", (_array(ids),))
    return [Definition(*row) for row in rows]


def sites(snapshot: Snapshot, names: Collection[str], files: Collection[int] | None = None) -> list[Site]:
    """Return the references of these names, in these files (None = all); in no order."""
    where, values = f"n.name {_LISTED}", [_array(names)]
    if files is not None:
        where += f" AND r.file_id {_LISTED}"
        values.append(_array(files))
    rows = snapshot.connection.execute(f"{_SITE} names n JOIN refs r ON r.name_id = n.id WHERE {where}", tuple(values))
    return list(map(_site, rows))


def sites_inside(snapshot: Snapshot, file: int, line_start: int, line_end: int) -> list[Site]:
    """Return the references on these lines of a file, in the order of the text."""
    rows = snapshot.connection.execute(
        f"{_SITE} refs r JOIN names n ON n.id = r.name_id WHERE r.file_id = ? AND r.line BETWEEN ? AND ?"
        " ORDER BY r.place",
        (file, line_start, line_end),
    )
    return list(map(_site, rows))


def supertypes(snapshot: Snapshot, file: int) -> list[Site]:
    """Return what the types of a file extend and implement, in the order of the text."""
    rows = snapshot.connection.execute(
        f"{_SITE} refs r JOIN names n ON n.id = r.name_id WHERE r.file_id = ? AND r.kind IN (?, ?) ORDER BY r.place",
        (file, *_SUPERTYPES),
    )
    return list(map(_site, rows))


def imports(snapshot: Snapshot, files: Collection[int]) -> list[Bound]:
    """Return the imports of these files, by file and line."""
    rows = snapshot.connection.execute(
        f"SELECT file_id, line, module, names FROM imports WHERE file_id {_LISTED} ORDER BY file_id, line",
        (_array(files),),
    )
    return [_bound(row) for row in rows]


def imports_like(snapshot: Snapshot, words: Collection[str]) -> list[Bound]:
    """Return the imports that hold one of these words in their module or names, or that name no word at all.

    `.`, `..` and `./` name no word: they mean the folder.
    """
    tests = " OR ".join("instr(module, ?) OR instr(names, ?)" for _ in words)
    rows = snapshot.connection.execute(
        f"SELECT file_id, line, module, names FROM imports WHERE {tests or '0'} OR trim(module, './') = ''"
        " ORDER BY file_id, line",
        tuple(word for one in words for word in (one, one)),
    )
    return [_bound(row) for row in rows]


def imports_of(snapshot: Snapshot, name: str) -> list[Bound]:
    """Return the imports that bring in exactly this name from a module, by file and line."""
    rows = snapshot.connection.execute(
        "SELECT file_id, line, module, names FROM imports WHERE instr(names, ?) ORDER BY file_id, line",
        (json.dumps(name, ensure_ascii=False),),
    )
    return [bound for bound in map(_bound, rows) if any(of == name for of, _ in bound.names)]


def text(snapshot: Snapshot, file: int) -> bytes | None:
    """Return the compressed text of a file as it is stored."""
    body = snapshot.connection.execute("SELECT body FROM texts WHERE file_id = ?", (file,)).get
    return bytes(body) if body else None


def _site(row: tuple[object, ...]) -> Site:
    file, place, name, kind, line, symbol, receiver = row
    return Site(file, place, name, REFERENCE_KINDS[kind], line, symbol, receiver)  # type: ignore[arg-type, call-overload]


def _bound(row: tuple[object, ...]) -> Bound:
    file, line, module, names = row
    return Bound(file, line, module, _PAIRS.decode(names))  # type: ignore[arg-type]


def _array(values: Collection[int] | Collection[str]) -> str:
    return json.dumps(sorted(values))
