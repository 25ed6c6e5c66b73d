"""Markdown by headings, line by line: ATX and setext; what stands in fences and comments is no heading. Pure."""

from __future__ import annotations

import re

import msgspec

from ctxd.model import Symbol
from ctxd.parse.structure import LONG_BYTES, Block, nest

MAX_TITLE = 200
MAX_DOC = 400
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(?:[-*+]\s+|>\s?)*(`{3,}|~{3,})(.*)$")
_NOT_A_TITLE = re.compile(r" {0,3}(?:[-*+>|]|\d+[.)]|#|`{3}|~{3}|<)|\t| {4}")
_MARKUP = re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])|<[^>]+>|\{#[^}]*\}|\*\*|__|`")


def _plain(text: str, limit: int) -> str:
    """Return text without its markup; cut first, since unclosed brackets cost their length squared."""
    return " ".join(_MARKUP.sub(r"\1", text[: 3 * limit]).split())[:limit]


class _Heading(msgspec.Struct):
    level: int
    title: str
    row: int  # the title's own row
    end_row: int = 0  # the last row of the section


class _Piece(msgspec.Struct):
    """A run of lines without a blank one, or a fenced block."""

    row: int
    end_row: int


class _Reader:
    """Goes through the lines once and keeps headings and pieces."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.headings: list[_Heading] = []
        self.pieces: list[_Piece] = []
        self._begun = -1

    def read(self) -> None:
        fence = ""
        comment = False
        for row in range(self._front_matter(), len(self.lines)):
            line = self.lines[row]
            if fence:
                if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                    fence = ""
                    self._end(row)
            elif comment:
                comment = "-->" not in line
            elif opened := _FENCE.match(line):
                if opened.group(1)[0] == "`" and "`" in opened.group(2):
                    self._begin(row)
                    continue
                self._end(row - 1)
                self._begin(row)
                fence = opened.group(1)
            elif line.lstrip().startswith("<!--"):
                self._begin(row)
                comment = "-->" not in line
            elif not line.strip():
                self._end(row - 1)
            elif not self._heading(row, line):
                self._begin(row)
        self._end(len(self.lines) - 1)

    def _front_matter(self) -> int:
        if self.lines and self.lines[0].rstrip() == "---":
            for row in range(1, min(len(self.lines), 200)):
                if self.lines[row].rstrip() in ("---", "..."):
                    return row + 1
        return 0

    def _heading(self, row: int, line: str) -> bool:
        if (atx := _ATX.match(line)) and atx.group(2):
            self._end(row - 1)
            self._add(len(atx.group(1)), atx.group(2), row)
            return True
        if self._begun == row - 1 and (under := _SETEXT.match(line)):
            above = self.lines[row - 1]
            if _NOT_A_TITLE.match(above):
                return False
            self._begun = -1
            self._add(1 if under.group(1)[0] == "=" else 2, above.strip(), row - 1)
            return True
        return False

    def _add(self, level: int, title: str, row: int) -> None:
        self.headings.append(_Heading(level, _plain(title, MAX_TITLE), row))

    def _begin(self, row: int) -> None:
        if self._begun == -1:
            self._begun = row

    def _end(self, row: int) -> None:
        if self._begun != -1:
            self.pieces.append(_Piece(self._begun, row))
            self._begun = -1


def sections(source: bytes) -> tuple[tuple[Symbol, ...], tuple[Block, ...]]:
    """Return the sections as symbols, nested by level, and the blocks: sections and what they are made of."""
    lines = [line.rstrip("\r") for line in source.decode("utf-8", "replace").split("\n")]
    if lines and not lines[-1]:
        lines.pop()
    reader = _Reader(lines)
    reader.read()
    made = _symbols(reader, lines)
    entries = [(s.line_start, -s.line_end, 0, i) for i, s in enumerate(made)]
    entries += [(piece.row + 1, -piece.end_row - 1, 1, -1) for piece in reader.pieces]
    entries.sort()
    long = [sum(map(len, lines[s.line_start - 1 : s.line_end])) > LONG_BYTES for s in made]
    wanted: list[Block] = []
    current = -1
    for start, end, is_piece, index in entries:
        if not is_piece:
            current = index
        elif current != -1 and not long[current]:
            continue
        wanted.append(Block("statement" if is_piece else "section", index, start, -end, 0))
    return made, nest(wanted, made)


def _symbols(reader: _Reader, lines: list[str]) -> tuple[Symbol, ...]:
    open_headings: list[_Heading] = []
    for heading in reader.headings:
        while open_headings and open_headings[-1].level >= heading.level:
            open_headings.pop().end_row = heading.row - 1
        open_headings.append(heading)
    for heading in open_headings:
        heading.end_row = len(lines) - 1
    first_pieces = {piece.row: piece for piece in reversed(reader.pieces)}
    made: list[Symbol] = []
    owners: list[tuple[int, str]] = []
    for heading in reader.headings:
        while owners and owners[-1][0] >= heading.level:
            owners.pop()
        parent = owners[-1][1] if owners else ""
        qualified = f"{parent}.{heading.title}" if parent else heading.title
        owners.append((heading.level, qualified))
        made.append(
            Symbol(
                name=heading.title,
                qualified_name=qualified,
                kind="section",
                parent=parent,
                exported=True,
                line_start=heading.row + 1,
                line_end=max(heading.end_row, heading.row) + 1,
                definition_line=heading.row + 1,
                signature=f"{'#' * heading.level} {heading.title}"[:240],
                doc=_first_paragraph(heading, first_pieces, lines),
            )
        )
    return tuple(made)


def _first_paragraph(heading: _Heading, pieces: dict[int, _Piece], lines: list[str]) -> str:
    row = heading.row + 1
    while row <= heading.end_row and (not lines[row].strip() or _SETEXT.match(lines[row])):
        row += 1
    piece = pieces.get(row)
    if piece is None or _FENCE.match(lines[row]):
        return ""
    text = " ".join(lines[row : min(piece.end_row, heading.end_row) + 1])
    return _plain(text, MAX_DOC)
