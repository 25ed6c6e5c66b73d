"""Cutting a file along its structure: from the forest of blocks to spans that partition its lines. Pure.

What fits is one piece; what does not is its header, its members and the gaps between them. Small neighbours
(fields, constants, prototypes, statements) are grouped; the parts of a long body are of about equal size and
end between statements. Blank lines belong to what they follow, comments to what they precede.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import msgspec

from ctxd.model import ChunkKind, Symbol
from ctxd.parse.extract import Block
from ctxd.parse.paragraphs import cut_lines

# Neighbours are grouped up to this size, and a pause (blank line) ends a group from the smaller one on: a
# group is found by all its words, so it should be about one thing.
GROUP_TOKENS, PAUSE_TOKENS = 250, 120
# A definition of one line, or of values only, is grouped up to this size.
_TINY_TOKENS = 60
_WORD = re.compile(r"\w")
_VALUES = frozenset({"constant", "variable", "field", "key", "environment", "macro", "type"})
# A body is cut into parts of equal size; a type or a file into what belongs together.
_BODIES = frozenset({"function", "method", "test", "route", "constant", "variable", "macro", "section"})


class Piece(msgspec.Struct, frozen=True):
    """Lines that become one chunk. `owners` are the symbols around it, outermost first; `symbol` is -1 or
    what it is or is part of."""

    kind: ChunkKind
    symbol: int
    line_start: int
    line_end: int
    owners: tuple[int, ...] = ()


class _Node(msgspec.Struct):
    block: Block
    children: list[_Node] = []


class _Atom(msgspec.Struct, frozen=True):
    """Lines that stay together. `single` ones are pieces; others may be joined with their neighbours."""

    kind: ChunkKind
    symbol: int
    line_start: int
    line_end: int
    owners: tuple[int, ...]
    single: bool


class Cutter:
    """One file's cut. `sizes[n - 1]` is the number of tokens of line n."""

    def __init__(
        self,
        lines: Sequence[str],
        sizes: Sequence[int],
        symbols: Sequence[Symbol],
        max_tokens: int,
        group_tokens: int = GROUP_TOKENS,
    ) -> None:
        self._lines = lines
        self._group = min(group_tokens, max_tokens)
        self._symbols = symbols
        self._max = max_tokens
        self._sizes = sizes
        self._before = [0]
        for size in sizes:
            self._before.append(self._before[-1] + size)

    def cut(self, blocks: Iterable[Block]) -> list[Piece]:
        """Return pieces that partition the lines of the file."""
        atoms: list[_Atom] = []
        roots = _forest(blocks)
        self._walk(roots, 1, len(self._lines), (), atoms)
        return self._join(atoms)

    def _tokens(self, line_start: int, line_end: int) -> int:
        return self._before[line_end] - self._before[line_start - 1]

    def _walk(
        self, nodes: Sequence[_Node], line_start: int, line_end: int, owners: tuple[int, ...], out: list[_Atom]
    ) -> None:
        """Append the atoms of the lines that these siblings and the gaps around them cover."""
        starts = self._starts(nodes, line_start)
        first = starts[0] if starts else line_end + 1
        if first > line_start:
            self._loose("header" if owners else "gap", line_start, first - 1, owners, out)
        for index, node in enumerate(nodes):
            stop = starts[index + 1] - 1 if index + 1 < len(starts) else line_end
            self._visit(node, starts[index], stop, owners, out)

    def _starts(self, nodes: Sequence[_Node], line_start: int) -> list[int]:
        """Return where each sibling's lines begin: above its block, with the comments that precede it."""
        starts: list[int] = []
        floor = line_start
        for node in nodes:
            start = node.block.line_start
            blank = floor
            while blank < start and not self._lines[blank - 1].strip():
                blank += 1
            if starts:
                # Blank lines at the top of a gap belong to what they follow.
                start = blank
            elif not any(map(_WORD.search, self._lines[floor - 1 : start - 1])):
                # At the top of a file they follow nothing, and neither does a bracket that only opens it.
                start = floor
            starts.append(start)
            floor = node.block.line_end + 1
        return starts

    def _visit(self, node: _Node, line_start: int, line_end: int, owners: tuple[int, ...], out: list[_Atom]) -> None:
        block = node.block
        fits = self._tokens(line_start, line_end) <= self._max
        match block.kind:
            case "imports":
                if fits:
                    out.append(_Atom("imports", -1, line_start, line_end, owners, True))
                else:
                    self._loose("imports", line_start, line_end, owners, out)
            case "statement":
                inner = [child.block.symbol for child in node.children if child.block.kind == "definition"]
                if fits and inner:
                    # An extension, a guarded definition: it is about what it defines, not about its neighbours.
                    alone = len(inner) == 1
                    symbol = inner[0] if alone else -1
                    out.append(_Atom("definition" if alone else "gap", symbol, line_start, line_end, owners, True))
                elif fits or not node.children:
                    self._loose("gap", line_start, line_end, owners, out)
                else:
                    self._walk(node.children, line_start, line_end, owners, out)
            case _:
                kind: ChunkKind = "section" if block.kind == "section" else "definition"
                if fits:
                    single = not self._is_tiny(block, line_start, line_end)
                    out.append(_Atom(kind, block.symbol, line_start, line_end, owners, single))
                else:
                    self._walk(node.children, line_start, line_end, (*owners, block.symbol), out)

    def _is_tiny(self, block: Block, line_start: int, line_end: int) -> bool:
        symbol = self._symbols[block.symbol]
        one_line = symbol.definition_line == symbol.line_end
        return (one_line or symbol.kind in _VALUES) and self._tokens(line_start, line_end) <= _TINY_TOKENS

    def _loose(
        self, kind: ChunkKind, line_start: int, line_end: int, owners: tuple[int, ...], out: list[_Atom]
    ) -> None:
        """Append lines that may be joined with their neighbours, cut at pauses when they are too many."""
        if self._tokens(line_start, line_end) <= self._max:
            spans = [(line_start, line_end)]
        else:
            spans = cut_lines(self._lines, self._sizes, line_start, line_end, self._max)
        for start, end in spans:
            out.append(_Atom(kind, -1, start, end, owners, False))

    def _join(self, atoms: Sequence[_Atom]) -> list[Piece]:
        pieces: list[Piece] = []
        run: list[_Atom] = []
        for atom in atoms:
            if run and (atom.single or atom.owners != run[-1].owners):
                self._pack(run, pieces)
                run = []
            if atom.single:
                pieces.append(Piece(atom.kind, atom.symbol, atom.line_start, atom.line_end, atom.owners))
            else:
                run.append(atom)
        if run:
            self._pack(run, pieces)
        return pieces

    def _pack(self, run: Sequence[_Atom], pieces: list[Piece]) -> None:
        """Append a run of small neighbours as groups, or, in a long body, as parts of about equal size."""
        owner = run[0].owners[-1] if run[0].owners else -1
        is_body = owner >= 0 and self._symbols[owner].kind in _BODIES
        total = self._tokens(run[0].line_start, run[-1].line_end)
        parts = -(-total // self._max)
        target = total / parts
        group: list[_Atom] = []
        size = 0
        for atom in run:
            more = self._tokens(atom.line_start, atom.line_end)
            limit = self._max if is_body else self._group
            full = size + more > limit or (is_body and parts > 1 and size + more / 2 > target)
            pause = not is_body and size >= PAUSE_TOKENS and not self._lines[atom.line_start - 2].strip()
            if group and (full or pause):
                pieces.append(self._piece(group, owner, is_body))
                group, size, parts = [], 0, parts - 1  # the last one takes what is left
            group.append(atom)
            size += more
        pieces.append(self._piece(group, owner, is_body))

    def _piece(self, group: Sequence[_Atom], owner: int, is_body: bool) -> Piece:
        line_start, line_end, owners = group[0].line_start, group[-1].line_end, group[0].owners
        named = [atom for atom in group if atom.symbol >= 0]
        if len(named) == 1 and not is_body:
            atom = named[0]
            if 2 * self._tokens(atom.line_start, atom.line_end) >= self._tokens(line_start, line_end):
                return Piece(atom.kind, atom.symbol, line_start, line_end, owners)
        kind = group[0].kind if len(group) == 1 or group[0].kind in ("header", "imports") else "gap"
        if owner >= 0 and self._symbols[owner].kind == "section":
            kind = "section"
        elif is_body:
            kind = "part"
        elif kind == "definition":
            kind = "gap"
        return Piece(kind, owner, line_start, line_end, owners)


def _forest(blocks: Iterable[Block]) -> list[_Node]:
    """Return the roots of the forest that blocks in document order, with their depths, describe."""
    roots: list[_Node] = []
    path: list[_Node] = []
    for block in blocks:
        node = _Node(block, [])
        del path[block.depth :]
        (path[-1].children if path else roots).append(node)
        path.append(node)
    return roots
