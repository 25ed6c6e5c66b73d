"""From what a reader found in a file's lines to its facts: nesting, names by owners, bounds, blocks. Pure.

For configuration and other formats that are read line by line. A file's keys are bounded so that data does not flood
the index: a level with very many keys is a table, and no row of a table is asked for by its name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import msgspec

from ctxd.model import Import, Reference, ReferenceKind, Symbol, SymbolKind
from ctxd.parse.extracted import Extracted
from ctxd.parse.structure import LONG_BYTES, MAX_DEPTH, Block, nest

MAX_NAME, MAX_SIGNATURE, MAX_DOC = 120, 240, 400
# More keys than this under one owner are a table; one file has so many keys, and so many names of any kind.
MAX_SIBLINGS, MAX_KEYS, MAX_NAMES = 100, 200, 1000
# What begins a line that is no beginning of anything.
_CLOSERS = (b"}", b"]", b")", b"#", b"")
# Comments further up are not about what follows.
_MAX_COMMENT_ROWS = 40


class Entry(msgspec.Struct):
    """Something that has lines: a definition, or, with kind "", what is only cut there. Rows are 0-based, inclusive.

    `first_row` is the first of its comment (-1: `row`). `owner` is the written owner; None: what stands around it.
    """

    kind: str
    name: str
    row: int
    end_row: int
    first_row: int = -1
    signature: str = ""
    doc: str = ""
    owner: str | None = None
    exported: bool = True
    parent: int = -1


class Mention(msgspec.Struct, frozen=True):
    """A use of a name, before it knows what is around it."""

    name: str
    kind: ReferenceKind
    row: int
    receiver: str = ""


def outline(
    lines: Sequence[bytes],
    entries: Sequence[Entry],
    mentions: Sequence[Mention] = (),
    imports: Sequence[Import] = (),
    note: str = "",
    max_names: int = MAX_NAMES,
) -> Extracted:
    """Return the facts: symbols with owners by nesting, blocks, references with what encloses them."""
    last = len(lines) - 1
    if last > 0 and not lines[last]:
        # A line break at the end opens no further line.
        last -= 1
    for entry in entries:
        entry.first_row = entry.row if entry.first_row == -1 else entry.first_row
        entry.end_row = min(max(entry.end_row, entry.row), last)
    ordered = sorted(entries, key=lambda e: (e.first_row, -e.end_row, e.row))
    _find_parents(ordered)
    _bound(ordered, max_names)
    symbols, places = _symbols(ordered)
    wanted = [
        Block(
            "statement" if not entry.kind else "section" if entry.kind == "section" else "definition",
            places[index],
            entry.first_row + 1,
            entry.end_row + 1,
            0,
        )
        for index, entry in enumerate(ordered)
    ]
    return Extracted(
        symbols=symbols,
        references=references_of(symbols, mentions),
        imports=tuple(imports),
        blocks=nest(wanted, symbols),
        note=note,
    )


def _find_parents(ordered: Sequence[Entry]) -> None:
    stack: list[int] = []
    for index, entry in enumerate(ordered):
        while stack and ordered[stack[-1]].end_row < entry.end_row:
            stack.pop()
        above = len(stack) - 1
        # What begins and ends with it stands beside it: two targets of one rule.
        while (
            above >= 0
            and ordered[stack[above]].first_row == entry.first_row
            and ordered[stack[above]].end_row == entry.end_row
        ):
            above -= 1
        entry.parent = stack[above] if above >= 0 else -1
        if entry.kind:
            stack.append(index)


def _bound(ordered: Sequence[Entry], max_names: int) -> None:
    """Leave blocks without a name for the rows of tables and for what is over the limits; outer names go first."""
    siblings: dict[int, int] = {}
    inner: list[int] = []
    outer: list[int] = []
    for index, entry in enumerate(ordered):
        if entry.kind == "key":
            siblings[entry.parent] = siblings.get(entry.parent, 0) + 1
        is_inner = entry.kind in ("key", "field") and entry.parent != -1
        (inner if is_inner else outer).append(index)
    keys = names = 0
    dropped: set[int] = set()
    for index in [*outer, *inner]:
        entry = ordered[index]
        full = not entry.name or len(entry.name) > MAX_NAME
        if entry.kind == "key":
            full |= siblings[entry.parent] > MAX_SIBLINGS or entry.parent in dropped or keys >= MAX_KEYS
            keys += not full
        elif entry.kind:
            full |= names >= max_names
            names += not full
        if full:
            dropped.add(index)
    for index in dropped:
        ordered[index].kind = ""


def _symbols(ordered: Sequence[Entry]) -> tuple[tuple[Symbol, ...], list[int]]:
    """Return the symbols, and for each entry the index of its symbol or -1."""
    made: list[Symbol] = []
    places: list[int] = []
    for entry in ordered:
        if not entry.kind:
            places.append(-1)
            continue
        above = places[entry.parent] if entry.parent != -1 else -1
        owner = entry.owner if entry.owner is not None else made[above].qualified_name if above != -1 else ""
        places.append(len(made))
        made.append(
            Symbol(
                name=entry.name,
                qualified_name=f"{owner}.{entry.name}" if owner else entry.name,
                kind=cast(SymbolKind, entry.kind),
                parent=owner,
                exported=entry.exported,
                line_start=entry.first_row + 1,
                line_end=entry.end_row + 1,
                definition_line=entry.row + 1,
                signature=entry.signature[:MAX_SIGNATURE],
                doc=entry.doc[:MAX_DOC],
            )
        )
    return tuple(made), places


def references_of(symbols: Sequence[Symbol], mentions: Sequence[Mention]) -> tuple[Reference, ...]:
    """Return the uses by line, each with the innermost symbol around its line."""
    made: dict[Reference, None] = {}
    stack: list[int] = []
    following = 0
    for mention in sorted(mentions, key=lambda m: m.row):
        line = mention.row + 1
        while following < len(symbols) and symbols[following].line_start <= line:
            stack.append(following)
            following += 1
        while stack and symbols[stack[-1]].line_end < line:
            stack.pop()
        made[Reference(mention.name, mention.kind, line, stack[-1] if stack else -1, mention.receiver)] = None
    return tuple(made)


def comment_above(lines: Sequence[bytes], row: int, marks: tuple[bytes, ...]) -> int:
    """Return the first row of the comment lines that end directly above `row`, or `row` itself."""
    first = row
    while first > max(0, row - _MAX_COMMENT_ROWS) and lines[first - 1].lstrip().startswith(marks):
        if first == 1 and lines[0].startswith(b"#!"):
            break
        first -= 1
    return first


def comment_text(lines: Sequence[bytes], first: int, row: int) -> str:
    """Return the first paragraph of the comment lines from `first` to the one above `row`."""
    words: list[str] = []
    for line in lines[first:row]:
        bare = line.decode("utf-8", "replace").strip().lstrip("#;/*!").strip(" \t=-*/#")
        if not bare and words:
            break
        words.extend(bare.split())
    return " ".join(words)[:MAX_DOC]


def line_text(line: bytes) -> str:
    """Return a line as a signature: without indentation and the bracket that opens what follows."""
    text = line[: 4 * MAX_SIGNATURE].decode("utf-8", "replace").strip()
    return (
        " ".join(text.rstrip("{[ \t").rstrip().split())[:MAX_SIGNATURE] if text[-1:] in "{[" else text[:MAX_SIGNATURE]
    )


def cuts_by_indentation(lines: Sequence[bytes], first_row: int, end_row: int) -> list[Entry]:
    """Return where a long block may be cut: the lines of least indentation below its first, and so on inside them.

    A line that only closes (`}`, `],`) belongs to what it closes.
    """
    made: list[Entry] = []
    waiting = [(first_row, end_row, 0)]
    while waiting:
        first, last, level = waiting.pop()
        if last <= first or level > MAX_DEPTH or sum(map(len, lines[first : last + 1])) <= LONG_BYTES:
            continue
        depths = [(row, _indentation(lines[row])) for row in range(first + 1, last + 1) if lines[row].strip()]
        inner = [(row, depth) for row, depth in depths if lines[row].lstrip()[:1] not in _CLOSERS]
        if not inner:
            continue
        least = min(depth for _, depth in inner)
        starts = [row for row, depth in inner if depth == least]
        for start, stop in zip(starts, [*starts[1:], last + 1], strict=True):
            end = stop - 1
            while end > start and not lines[end].strip():
                end -= 1
            made.append(Entry("", "", start, end))
            if end > start and (start, end) != (first, last):
                waiting.append((start, end, level + 1))
    return made


def _indentation(line: bytes) -> int:
    return len(line) - len(line.lstrip())
