"""Sections of a document, from the headings and paragraphs that a reader found in its lines. Pure.

A reader of one markup goes through the lines once and tells a `Sheet` what it sees; `sections` makes symbols and
blocks of that: sections nest by level, long ones hold their paragraphs.
"""

from __future__ import annotations

import re

import msgspec

from ctxd.model import Symbol
from ctxd.parse.extracted import Extracted
from ctxd.parse.structure import LONG_BYTES, Block, nest

MAX_TITLE = 200
MAX_DOC = 400
_MAX_SIGNATURE = 240
_MARKUP = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|<[^>]+>|\{#[^}]*\}|\*\*|__|`")


class Heading(msgspec.Struct):
    """One heading. Rows are 0-based; `first_row` is where the section begins, `text_row` the first row below it.

    `owner` is the written owner of what the heading names ("" = the section around it). `signature` "" = the title.
    """

    level: int
    title: str
    row: int
    first_row: int
    text_row: int
    signature: str = ""
    owner: str = ""
    end_row: int = 0  # the last row of the section; set by a reader where no heading ends it


class Piece(msgspec.Struct):
    """A run of lines without a blank one, or a delimited block. `is_text`: words that can be quoted as a summary."""

    row: int
    end_row: int
    is_text: bool = True


def split_rows(source: bytes) -> list[str]:
    """Return the lines without their breaks; a line break at the end opens no further line."""
    lines = [line.rstrip("\r") for line in source.decode("utf-8", "replace").split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    return lines


def plain(text: str, limit: int, markup: re.Pattern[str] = _MARKUP) -> str:
    """Return text without its markup; cut first, since unclosed brackets cost their length squared."""
    kept = markup.sub(lambda found: next(filter(None, found.groups()), ""), text[: 3 * limit])
    return " ".join(kept.split())[:limit]


class Sheet:
    """What a reader has seen so far: headings and pieces, in the order of their rows."""

    markup = _MARKUP

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.headings: list[Heading] = []
        self.pieces: list[Piece] = []
        self.begun = -1

    def heading(self, level: int, title: str, row: int, first_row: int = -1, text_row: int = -1) -> Heading:
        """Note a heading; what was begun above it must have been ended."""
        made = Heading(
            level,
            plain(title, MAX_TITLE, self.markup),
            row,
            row if first_row == -1 else first_row,
            row + 1 if text_row == -1 else text_row,
        )
        made.signature = f"{'#' * level} {made.title}"
        self.headings.append(made)
        return made

    def begin(self, row: int) -> None:
        """Begin a piece at `row` unless one is open."""
        if self.begun == -1:
            self.begun = row

    def end(self, row: int, *, is_text: bool = True) -> None:
        """End the open piece with `row`; nothing is left of one whose lines a heading took for its own."""
        if self.begun != -1:
            if self.begun <= row:
                self.pieces.append(Piece(self.begun, row, is_text))
            self.begun = -1


def sections(sheet: Sheet) -> Extracted:
    """Return the sections as symbols, nested by level, and the blocks: sections and what they are made of."""
    lines = sheet.lines
    made = _symbols(sheet)
    entries = [(s.line_start, -s.line_end, 0, i) for i, s in enumerate(made)]
    entries += [(piece.row + 1, -piece.end_row - 1, 1, -1) for piece in sheet.pieces]
    entries.sort()
    long = [sum(map(len, lines[s.line_start - 1 : s.line_end])) > LONG_BYTES for s in made]
    wanted: list[Block] = []
    around: list[int] = []
    for start, end, is_piece, index in entries:
        while around and made[around[-1]].line_end < start:
            around.pop()
        if not is_piece:
            around.append(index)
        elif around and not long[around[-1]]:
            continue
        wanted.append(Block("statement" if is_piece else "section", index, start, -end, 0))
    return Extracted(symbols=made, blocks=nest(wanted, made))


def _symbols(sheet: Sheet) -> tuple[Symbol, ...]:
    _close(sheet)
    first_pieces = {piece.row: piece for piece in reversed(sheet.pieces)}
    made: list[Symbol] = []
    owners: list[tuple[int, str]] = []
    for heading in sheet.headings:
        while owners and owners[-1][0] >= heading.level:
            owners.pop()
        parent = heading.owner or (owners[-1][1] if owners else "")
        qualified = f"{parent}.{heading.title}" if parent else heading.title
        owners.append((heading.level, qualified))
        made.append(
            Symbol(
                name=heading.title,
                qualified_name=qualified,
                kind="section",
                parent=parent,
                exported=True,
                line_start=heading.first_row + 1,
                line_end=max(heading.end_row, heading.text_row - 1, heading.row) + 1,
                definition_line=heading.row + 1,
                signature=heading.signature[:_MAX_SIGNATURE],
                doc=_first_paragraph(heading, first_pieces, sheet),
            )
        )
    return tuple(made)


def _close(sheet: Sheet) -> None:
    """Let every section end above the next heading of its own or a higher level."""
    waiting: list[Heading] = []
    for heading in sheet.headings:
        while waiting and waiting[-1].level >= heading.level:
            last = waiting.pop()
            last.end_row = last.end_row or heading.first_row - 1
        waiting.append(heading)
    for heading in waiting:
        heading.end_row = heading.end_row or len(sheet.lines) - 1


def _first_paragraph(heading: Heading, pieces: dict[int, Piece], sheet: Sheet) -> str:
    row, lines = heading.text_row, sheet.lines
    while row <= heading.end_row and not lines[row].strip():
        row += 1
    piece = pieces.get(row)
    if piece is None or not piece.is_text:
        return ""
    text = " ".join(lines[row : min(piece.end_row, heading.end_row) + 1])
    return plain(text, MAX_DOC, sheet.markup)
