"""Rows -> candidates: places that may become results, each once. Runs on a reader thread, in one snapshot.

A definition that was found by name stands for itself, with its own span; the chunks that are (part of) it lend
it their words. Any other chunk stands for the definition it belongs to, with its own span.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from ctxd.search.retrieve import Definition, Located, Verbatim
from ctxd.search.shortlist import Shortlist
from ctxd.store import read
from ctxd.store.read import ChunkRow, FileRow, SymbolRow, Use
from ctxd.store.snapshot import Snapshot


class Retrieved(msgspec.Struct, frozen=True):
    """What every retriever found for one plan."""

    lexical: Shortlist
    definitions: tuple[Definition, ...] = ()
    located: tuple[Located, ...] = ()
    verbatim: tuple[Verbatim, ...] = ()
    uses: tuple[Use, ...] = ()

    def via(self, one: Candidate) -> tuple[str, ...]:
        """Return the retrievers that found a candidate."""
        ids = {chunk.id for chunk in one.chunks}
        checks = (
            ("symbol", one.definition is not None),
            ("lexical", not ids.isdisjoint(self.lexical.base)),
            ("path", any(row.chunk.id in ids for row in self.located)),
            ("literal", any(row.chunk in ids for row in self.verbatim)),
            ("references", any(row.chunk in ids for row in self.uses)),
        )
        return tuple(name for name, yes in checks if yes)


class Candidate(msgspec.Struct, frozen=True, eq=False):
    """A place that may become a result. `chunks` are those that it consists of.

    `order` is its place among the definitions of the name it was found by (from 0), -1 when it was not.
    """

    file: FileRow
    symbol: SymbolRow | None
    chunks: tuple[ChunkRow, ...]
    line_start: int
    line_end: int
    type: str
    definition: Definition | None = None
    order: int = -1

    @property
    def place(self) -> tuple[str, int, int]:
        """Where it is, for ordering."""
        return (self.file.path, self.line_start, self.line_end)

    @property
    def tokens(self) -> int:
        """How many tokens its text has, about."""
        return sum(chunk.tokens for chunk in self.chunks)


def assemble(snapshot: Snapshot, found: Retrieved, order: Mapping[int, int]) -> list[Candidate]:
    """Return the candidates, in no order that means anything. `order`: symbol id -> place among its name's."""
    owned = read.covering(snapshot, [one.symbol for one in found.definitions])
    rows = dict(found.lexical.chunks)
    ids = {one.chunk for one in found.verbatim} | {one.chunk for one in found.uses}
    rows.update(read.chunks(snapshot, ids - rows.keys()))
    rows.update((one.chunk.id, one.chunk) for one in found.located)
    symbols = read.symbols(snapshot, {row.symbol for row in rows.values()} - {0})
    files = dict(found.lexical.files)
    wanted = {row.file for row in rows.values()} | {one.symbol.file for one in found.definitions}
    files.update(read.files(snapshot, wanted - files.keys()))
    candidates: dict[tuple[int, int, int], Candidate] = {}
    taken: set[int] = set()
    for one in found.definitions:
        row = one.symbol
        chunks = tuple(owned.get(row.id, ()))
        key = (row.file, row.line_start, row.line_end)
        if key not in candidates and chunks:
            candidates[key] = Candidate(
                files[row.file], row, chunks, row.line_start, row.line_end, row.kind, one, order.get(row.id, 0)
            )
        taken |= {chunk.id for chunk in chunks if chunk.symbol == row.id or _within(chunk, row)}
    lines = {one.chunk.id: one.line for one in found.located if one.line}
    for chunk in rows.values():
        inner = _innermost(snapshot, chunk, lines[chunk.id]) if chunk.id in lines else None
        if inner is not None and (chunk.file, inner.line_start, inner.line_end) not in candidates:
            key = (chunk.file, inner.line_start, inner.line_end)
            candidates[key] = Candidate(
                files[chunk.file], inner, (chunk,), inner.line_start, inner.line_end, inner.kind
            )
            continue
        key = (chunk.file, chunk.line_start, chunk.line_end)
        if chunk.id not in taken and key not in candidates:
            symbol = symbols.get(chunk.symbol)
            kind = symbol.kind if symbol else chunk.kind
            candidates[key] = Candidate(files[chunk.file], symbol, (chunk,), chunk.line_start, chunk.line_end, kind)
    return list(candidates.values())


def _innermost(snapshot: Snapshot, chunk: ChunkRow, line: int) -> SymbolRow | None:
    """Return the smallest definition around a line that lies in its chunk, if it is less than the chunk."""
    rows = read.inside(snapshot, chunk.file, chunk.line_start, chunk.line_end)
    around = [row for row in rows if row.line_start <= line <= row.line_end and row.id != chunk.symbol]
    return min(around, key=lambda row: (row.line_end - row.line_start, -row.line_start), default=None)


def _within(chunk: ChunkRow, row: SymbolRow) -> bool:
    """A chunk inside a definition that is not a member with a life of its own."""
    return chunk.symbol in (0, row.id) and row.line_start <= chunk.line_start and chunk.line_end <= row.line_end
