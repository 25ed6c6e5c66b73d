"""The blocks of a file: definitions, import runs and the statements between, as a forest by lines. Pure.

What is promised to the chunker is in the docstring of `extract`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from ctxd.model import Symbol
from ctxd.parse.capture import Imported

if TYPE_CHECKING:
    import tree_sitter

# A node of more bytes than this is opened: about 350 tokens, so that what is not opened fits one chunk.
LONG_BYTES = 1200
MAX_DEPTH = 12
# They belong to what follows them.
_COMMENTS = ("comment", "haddock", "pod", "attribute_item")
# Nodes that begin with their first statement and not with a bracket or a keyword.
_BARE = frozenset({"block", "body_statement", "statement_list", "declarations", "document", "ERROR"})
# Nodes that hold the whole of a file below its header: their children are the top.
_WHOLE = frozenset({"declarations", "document"})

BlockKind = Literal["definition", "imports", "statement", "section"]


class Block(msgspec.Struct, frozen=True, array_like=True):
    """One node of a file's structure; see the docstring of `extract`. Lines are 1-based and inclusive."""

    kind: BlockKind
    symbol: int
    line_start: int
    line_end: int
    depth: int


# (first row, last row, is an import)
_Span = tuple[int, int, bool]


def blocks(root: tree_sitter.Node, symbols: Sequence[Symbol], imports: Sequence[Imported]) -> tuple[Block, ...]:
    """Return the forest in document order."""
    entries: list[tuple[int, int, int, BlockKind, int]] = [
        (symbol.line_start, -symbol.line_end, 0, "definition", index) for index, symbol in enumerate(symbols)
    ]
    for first, last, is_import in _statements(root, _rows_of(imports)):
        entries.append((first + 1, -last - 1, 1, "imports" if is_import else "statement", -1))
    entries.sort()
    return nest([Block(kind, symbol, start, -end, 0) for start, end, _, kind, symbol in entries], symbols)


def nest(entries: Sequence[Block], symbols: Sequence[Symbol]) -> tuple[Block, ...]:
    """Give depths to blocks that are sorted by (line_start, -line_end), dropping what would break the promises."""
    made: list[Block] = []
    stack: list[Block] = []
    for entry in entries:
        while stack and stack[-1].line_end < entry.line_start:
            stack.pop()
        if stack:
            outer = stack[-1]
            if entry.line_end > outer.line_end or len(stack) > MAX_DEPTH or _repeats(entry, outer, symbols):
                continue
        block = Block(entry.kind, entry.symbol, entry.line_start, entry.line_end, len(stack))
        stack.append(block)
        made.append(block)
    return tuple(made)


def _repeats(entry: Block, outer: Block, symbols: Sequence[Symbol]) -> bool:
    """Return whether a block says no more than the one around it: the same lines, or them without the comment."""
    if entry.line_end != outer.line_end:
        return False
    if entry.line_start == outer.line_start:
        return True
    definition = entry.kind != "definition" and outer.kind == "definition"
    return definition and entry.line_start <= symbols[outer.symbol].definition_line


def _rows_of(imports: Sequence[Imported]) -> set[int]:
    rows: set[int] = set()
    for imported in imports:
        rows.update(range(imported.row, imported.end_row + 1))
    return rows


def _statements(root: tree_sitter.Node, import_rows: set[int]) -> list[_Span]:
    """Return the nodes that begin on a line of their own, at the top and inside long nodes; no recursion."""
    spans: list[_Span] = []
    # A node to open, whether it is the top of the file, and the last row that is taken before its first child.
    waiting: list[tuple[tree_sitter.Node, bool, int]] = [(root, True, -1)]
    while waiting:
        node, top, taken = waiting.pop()
        children = node.named_children
        final = len(children) - 1
        run = False
        for place, child in enumerate(children):
            if child.type.endswith(_COMMENTS):
                continue
            first = child.start_point[0]
            last, column = child.end_point
            if column == 0 and last > first:
                last -= 1
            if "import" in child.type:
                last = _without_comments(child, last)
            is_long = last > first and child.end_byte - child.start_byte > LONG_BYTES
            whole = top and child.type in _WHOLE
            inside = whole or (top and is_long and (child.type.startswith("preproc_if") or child.type == "ERROR"))
            # The last child of a node, when long, is its body: it is opened without being a block itself.
            body = is_long and place == final and not inside
            if first > taken and not body and not inside:
                is_import = top and _is_import(child, first, last, import_rows)
                if is_import and run:
                    spans[-1] = (spans[-1][0], last, True)
                else:
                    spans.append((first, last, is_import))
                run = is_import
            elif first > taken:
                run = False
            if is_long or whole:
                waiting.append((child, inside, taken if child.type in _BARE else first))
            taken = max(taken, last)
    return spans


def _without_comments(child: tree_sitter.Node, last: int) -> int:
    """Return the last row of imports: some grammars file the comment above the first definition under them."""
    node: tree_sitter.Node | None = child
    while node is not None and (inner := node.named_children):
        place = len(inner) - 1
        while place and inner[place].type.endswith(_COMMENTS):
            place -= 1
        if place != len(inner) - 1:
            return inner[place].end_point[0]
        node = inner[-1] if "import" in inner[-1].type else None
    return last


def _is_import(child: tree_sitter.Node, first: int, last: int, rows: set[int]) -> bool:
    """Return whether a node is an import statement, or a small one that mostly imports (`try: import x`)."""
    if first not in rows and first + 1 not in rows:
        return False
    if "import" in child.type or "include" in child.type:
        return True
    return last - first < 60 and sum(row in rows for row in range(first, last + 1)) * 2 > last - first
