"""Jupyter notebooks: code cells in their kernel's language, Markdown cells as sections, outputs left out. Pure.

The cells' text is read as one program and one document; what is found there is moved to the lines of the notebook
file where it stands. The full-text index takes the text of the cells and nothing of the JSON around it.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from ctxd.model import Symbol
from ctxd.parse.extracted import Extracted, ExtractFailed, Inner
from ctxd.parse.languages import named, resolve
from ctxd.parse.readers import markdown
from ctxd.parse.readers.jsontext import Item, items, text_of
from ctxd.parse.structure import Block, nest
from ctxd.parse.symbols import line_starts

_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"')
# What IPython understands and Python does not: magics, shell commands, help.
_MAGIC = re.compile(r"(\s*)(?:%|!|\?)|.*\?\s*$")
# Cells that are no Python, unlike those that are timed or written to a module.
_CELL_MAGIC = re.compile(r"\s*%%(?!time|capture|prun|memit|(?:write)?file\s+\S+\.py\b)\w")
_EMBEDDED = re.compile(r"base64,[A-Za-z0-9+/=]{60,}")
# Without cells to read, a line of more than this is an output.
_MAX_PLAIN = 400
_CELL_DEPTH = 3


class _Cell(msgspec.Struct):
    """One cell. Rows are 0-based and inclusive; `text` are its lines with the row on which each stands."""

    is_code: bool
    row: int
    end_row: int
    source_row: int
    outputs_row: int  # -1 without outputs
    text: list[tuple[int, str]]


class _Joined(msgspec.Struct):
    """The text of several cells and the row of each of its lines."""

    lines: list[str] = []
    rows: list[int] = []

    def add(self, cell: _Cell, lines: Sequence[str]) -> None:
        """Append a cell and an empty line."""
        self.lines += [*lines, ""]
        self.rows += [*(row for row, _ in cell.text), cell.text[-1][0]]


def read(source: bytes, inner: Inner) -> Extracted:
    """Return definitions, uses and imports of the code cells, sections of the others."""
    lines = source.split(b"\n")
    cells, kernel = _cells(source, line_starts(lines))
    if not cells:
        return Extracted(plain=tuple("" if len(line) > _MAX_PLAIN else line.decode() for line in lines))
    code, prose = _Joined(), _Joined()
    plain = [""] * len(lines)
    for cell in cells:
        for row, line in cell.text:
            plain[row] += f"{_EMBEDDED.sub(' ', line)}\n"
        if cell.text:
            if cell.is_code:
                code.add(cell, _without_magics(cell))
            else:
                prose.add(cell, [line for _, line in cell.text])
    try:
        program = inner(named(kernel), "\n".join(code.lines).encode())
    except ExtractFailed:
        program = Extracted()
    document = markdown.read("\n".join(prose.lines).encode(), inner)
    return _placed(program, code.rows, _sections(document, prose, cells), cells, plain)


def _cells(source: bytes, starts: Sequence[int]) -> tuple[list[_Cell], str]:
    """Return the cells and the name of the kernel's language."""
    cells: list[_Cell] = []
    made: list[_Cell] = []
    fields: dict[bytes, Item] = {}
    kernel = "python"
    for item in items(source, _CELL_DEPTH):
        if item.depth == _CELL_DEPTH:
            fields[item.key] = item
        elif item.depth == _CELL_DEPTH - 1:
            if b'"source"' in fields:
                made.append(_cell(item, fields, source, starts))
            fields = {}
        elif item.key == b'"cells"':
            cells, made = made, []
        else:
            made = []
            if item.key == b'"metadata"':
                kernel = _kernel(source[item.value : item.end]) or kernel
    return cells, kernel


def _kernel(metadata: bytes) -> str:
    try:
        values = msgspec.json.decode(metadata, type=dict[str, object])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return ""
    for key, field in (("language_info", "name"), ("kernelspec", "language")):
        described = values.get(key)
        name = described.get(field) if isinstance(described, dict) else None
        if isinstance(name, str) and (found := resolve("r" if name == "ir" else name)):
            return found[0]
    return ""


def _cell(item: Item, fields: dict[bytes, Item], source: bytes, starts: Sequence[int]) -> _Cell:
    def row_of(at: int) -> int:
        return bisect_right(starts, at) - 1

    written = fields[b'"source"']
    text: list[tuple[int, str]] = []
    goes_on = False
    for string in _STRING.finditer(source, written.value, written.end):
        row = row_of(string.start())
        parts = text_of(string.group()).split("\n")
        if goes_on:
            text[-1] = (text[-1][0], text[-1][1] + parts.pop(0))
        text += [(row, part) for part in parts]
        # A string that ends its line leaves an empty part behind.
        goes_on = not (text and text[-1][1] == "")
        if not goes_on:
            text.pop()
    outputs = fields.get(b'"outputs"')
    is_empty = outputs is None or row_of(outputs.start) == row_of(outputs.end - 1)
    kind = fields.get(b'"cell_type"')
    return _Cell(
        is_code=kind is not None and source[kind.value : kind.end] == b'"code"',
        row=row_of(item.start),
        end_row=row_of(item.end - 1),
        source_row=row_of(written.start),
        outputs_row=-1 if outputs is None or is_empty else row_of(outputs.start),
        text=text,
    )


def _without_magics(cell: _Cell) -> list[str]:
    """Return the lines of a code cell with `pass` for what is no Python; all blank when it is another language."""
    first = next((line for _, line in cell.text if line.strip()), "")
    if _CELL_MAGIC.match(first):
        return [""] * len(cell.text)
    made: list[str] = []
    for _, line in cell.text:
        magic = _MAGIC.match(line) if line.lstrip()[:1] in ("%", "!", "?") or line.rstrip().endswith("?") else None
        made.append(f"{magic[1] or ''}pass" if magic and not line.lstrip().startswith("#") else line)
    return made


def _sections(document: Extracted, prose: _Joined, cells: Sequence[_Cell]) -> list[Symbol]:
    """Return the sections by the lines of the notebook: from their cell to the cell of the heading that ends them."""
    begins = {cell.text[0][0]: cell.row for cell in cells if cell.text and not cell.is_code}
    last = cells[-1].end_row + 1
    made: list[Symbol] = []
    for symbol in document.symbols:
        row = prose.rows[symbol.definition_line - 1]
        end = last
        if symbol.line_end < len(prose.lines) - 1:
            following = prose.rows[symbol.line_end]
            end = begins.get(following, following)
        made.append(
            msgspec.structs.replace(
                symbol,
                line_start=begins.get(row, row) + 1,
                line_end=max(end, row + 1),
                definition_line=row + 1,
            )
        )
    return made


def _placed(
    program: Extracted, rows: Sequence[int], sections: Sequence[Symbol], cells: Sequence[_Cell], plain: Sequence[str]
) -> Extracted:
    """Return all that was found, by the lines of the notebook."""
    moved = [
        msgspec.structs.replace(
            symbol,
            line_start=rows[symbol.line_start - 1] + 1,
            line_end=rows[symbol.line_end - 1] + 1,
            definition_line=rows[symbol.definition_line - 1] + 1,
        )
        for symbol in program.symbols
    ]
    count = len(moved)
    both = [*moved, *sections]
    order = sorted(range(len(both)), key=lambda i: (both[i].line_start, -both[i].line_end, both[i].definition_line))
    places = {index: place for place, index in enumerate(order)}
    symbols = tuple(both[index] for index in order)
    references = tuple(
        msgspec.structs.replace(use, line=rows[use.line - 1] + 1, enclosing=places.get(use.enclosing, -1))
        for use in program.references
    )
    imports = tuple(msgspec.structs.replace(entry, line=rows[entry.line - 1] + 1) for entry in program.imports)
    blocks = [
        Block("section", places[count + index], symbol.line_start, symbol.line_end, 0)
        for index, symbol in enumerate(sections)
    ]
    for block in program.blocks:
        start, end = rows[block.line_start - 1] + 1, rows[block.line_end - 1] + 1
        blocks.append(Block(block.kind, places.get(block.symbol, -1), start, end, 0))
    blocks += _cell_blocks(cells, blocks)
    blocks.sort(key=lambda block: (block.line_start, -block.line_end, block.kind == "statement"))
    return Extracted(symbols, references, imports, nest(blocks, symbols), note=program.note, plain=tuple(plain))


def _cell_blocks(cells: Sequence[_Cell], blocks: Sequence[Block]) -> list[Block]:
    """Return the outputs, and the cells in which nothing is defined and no section begins."""
    cut = sorted(block.line_start - 1 for block in blocks if block.kind != "statement")
    made: list[Block] = []
    for cell in cells:
        row, end_row = cell.row, cell.end_row
        if cell.outputs_row > cell.source_row:
            made.append(Block("statement", -1, cell.outputs_row + 1, end_row + 1, 0))
            end_row = cell.outputs_row - 1
        elif cell.outputs_row != -1:
            made.append(Block("statement", -1, row + 1, cell.source_row, 0))
            row = cell.source_row
        inside = bisect_right(cut, end_row) - bisect_right(cut, row)
        if not inside and row <= end_row:
            made.append(Block("statement", -1, row + 1, end_row + 1, 0))
    return made
