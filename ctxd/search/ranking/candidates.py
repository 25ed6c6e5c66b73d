"""Rows -> candidates: places that may become results, each once. Runs on a reader thread, in one snapshot.

A definition that was found by name stands for itself, with its own span; the chunks that are (part of) it lend
it their words. Any other chunk stands for the definition it belongs to, with its own span.
"""

from __future__ import annotations

from collections.abc import Mapping, Sized

import msgspec

from ctxd.search.ranking.naming import Definition
from ctxd.search.ranking.retrieve import Located, Verbatim
from ctxd.search.ranking.shortlist import Shortlist
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
    semantic: Mapping[int, float] = {}

    def strategies(self) -> tuple[str, ...]:
        """Return the retrievers that found anything."""
        found: tuple[tuple[str, Sized], ...] = (
            ("symbol", self.definitions),
            ("lexical", self.lexical.base),
            ("path", self.located),
            ("literal", self.verbatim),
            ("references", self.uses),
            ("vector", self.semantic),
        )
        return tuple(name for name, rows in found if rows)

    def via(self, one: Candidate) -> tuple[str, ...]:
        """Return the retrievers that found a candidate."""
        ids = {chunk.id for chunk in one.chunks}
        checks = (
            ("symbol", one.definition is not None),
            ("lexical", not ids.isdisjoint(self.lexical.base)),
            ("path", any(row.chunk.id in ids for row in self.located)),
            ("literal", any(row.chunk in ids for row in self.verbatim)),
            ("references", any(row.chunk in ids for row in self.uses)),
            ("vector", not ids.isdisjoint(self.semantic)),
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


def assemble(snapshot: Snapshot, found: Retrieved, order: Mapping[int, int], kind: str = "") -> list[Candidate]:
    """Return the candidates, in no order that means anything.

    `order`: symbol id -> its place among the definitions of its name. `kind`: only definitions of that kind.
    """
    rows = dict(found.lexical.chunks)
    ids = {one.chunk for one in found.verbatim} | {one.chunk for one in found.uses} | found.semantic.keys()
    rows.update(read.chunks(snapshot, ids - rows.keys()))
    rows.update((one.chunk.id, one.chunk) for one in found.located)
    files = dict(found.lexical.files)
    wanted = {row.file for row in rows.values()} | {one.symbol.file for one in found.definitions}
    files.update(read.files(snapshot, wanted - files.keys()))
    making = _Making(snapshot, files)
    making.add_definitions(found, order)
    symbols = read.symbols(snapshot, {row.symbol for row in rows.values()} - {0})
    lines = {one.chunk.id: one.line for one in found.located if one.line}
    for chunk in rows.values():
        symbol = symbols.get(chunk.symbol)
        if kind and (symbol is None or symbol.kind != kind):
            making.add_inner(chunk, kind)
        elif not (chunk.id in lines and making.add_innermost(chunk, lines[chunk.id])):
            making.add(chunk, symbol)
    return list(making.made.values())


class _Making:
    """The candidates so far, by place: each is made once."""

    def __init__(self, snapshot: Snapshot, files: Mapping[int, FileRow]) -> None:
        self._snapshot = snapshot
        self._files = files
        self._taken: set[int] = set()
        self.made: dict[tuple[int, int, int], Candidate] = {}

    def add_definitions(self, found: Retrieved, order: Mapping[int, int]) -> None:
        """Add what was found by name; the chunks that are no more than a part of it are taken."""
        owned = read.covering(self._snapshot, [one.symbol for one in found.definitions])
        for one in found.definitions:
            row = one.symbol
            chunks = tuple(owned.get(row.id, ()))
            key = (row.file, row.line_start, row.line_end)
            if key not in self.made and chunks:
                self.made[key] = Candidate(
                    self._files[row.file],
                    row,
                    chunks,
                    row.line_start,
                    row.line_end,
                    row.kind,
                    one,
                    order.get(row.id, 0),
                )
            self._taken |= {chunk.id for chunk in chunks if chunk.symbol == row.id or is_part(chunk, row)}

    def add(self, chunk: ChunkRow, symbol: SymbolRow | None) -> None:
        """Add a chunk as it is, with the definition it belongs to."""
        key = (chunk.file, chunk.line_start, chunk.line_end)
        if chunk.id not in self._taken and key not in self.made:
            kind = symbol.kind if symbol else chunk.kind
            self.made[key] = Candidate(
                self._files[chunk.file], symbol, (chunk,), chunk.line_start, chunk.line_end, kind
            )

    def add_innermost(self, chunk: ChunkRow, line: int) -> bool:
        """Add the smallest definition around a line, if it is less than its chunk."""
        inner = _innermost(self._snapshot, chunk, line)
        if inner is not None:
            self._add_symbol(chunk, inner)
        return inner is not None

    def add_inner(self, chunk: ChunkRow, kind: str) -> None:
        """Add the definitions of one kind that a chunk holds."""
        for row in read.inside(self._snapshot, chunk.file, chunk.line_start, chunk.line_end):
            if row.kind == kind:
                self._add_symbol(chunk, row)

    def _add_symbol(self, chunk: ChunkRow, row: SymbolRow) -> None:
        key = (row.file, row.line_start, row.line_end)
        if key not in self.made:
            self.made[key] = Candidate(self._files[row.file], row, (chunk,), row.line_start, row.line_end, row.kind)


def _innermost(snapshot: Snapshot, chunk: ChunkRow, line: int) -> SymbolRow | None:
    """Return the smallest definition around a line that lies in its chunk, if it is less than the chunk."""
    rows = read.inside(snapshot, chunk.file, chunk.line_start, chunk.line_end)
    around = [row for row in rows if row.line_start <= line <= row.line_end and row.id != chunk.symbol]
    return min(around, key=lambda row: (row.line_end - row.line_start, -row.line_start), default=None)


def is_part(chunk: ChunkRow, row: SymbolRow) -> bool:
    """A chunk inside a definition that is not a member with a life of its own."""
    return chunk.symbol in (0, row.id) and row.line_start <= chunk.line_start and chunk.line_end <= row.line_end
