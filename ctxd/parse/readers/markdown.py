"""Markdown by headings, line by line: ATX and setext; what stands in fences and comments is no heading. Pure."""

from __future__ import annotations

import re

from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.readers.sections import Sheet, sections, split_rows

_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(?:[-*+]\s+|>\s?)*(`{3,}|~{3,})(.*)$")
_NOT_A_TITLE = re.compile(r" {0,3}(?:[-*+](?:\s|$)|[>|]|\d+[.)](?:\s|$)|#|`{3}|~{3}|<)|\t| {4}")


class _Reader(Sheet):
    """Goes through the lines once and keeps headings and pieces."""

    def read(self) -> None:
        fence = ""
        quoted = comment = False
        for row in range(self._front_matter(), len(self.lines)):
            line = self.lines[row]
            if fence and quoted:
                # A block in a quotation ends with it.
                if (text := line.lstrip())[:1] == ">":
                    line = text.lstrip("> \t")
                else:
                    fence = ""
                    self.end(row - 1, is_text=False)
            if fence:
                if line.strip().startswith(fence) and not line.strip().strip(fence[0]):
                    fence = ""
                    self.end(row, is_text=False)
            elif comment:
                comment = "-->" not in line
            elif opened := _FENCE.match(line):
                if opened.group(1)[0] == "`" and "`" in opened.group(2):
                    self.begin(row)
                    continue
                self.end(row - 1)
                self.begin(row)
                fence, quoted = opened.group(1), line.lstrip()[:1] == ">"
            elif line.lstrip().startswith("<!--"):
                self.begin(row)
                comment = "-->" not in line
            elif not line.strip():
                self.end(row - 1)
            elif not self._heading(row, line):
                self.begin(row)
        self.end(len(self.lines) - 1, is_text=not fence)

    def _front_matter(self) -> int:
        if self.lines and self.lines[0].rstrip() == "---":
            for row in range(1, min(len(self.lines), 200)):
                if self.lines[row].rstrip() in ("---", "..."):
                    return row + 1
        return 0

    def _heading(self, row: int, line: str) -> bool:
        if (atx := _ATX.match(line)) and atx.group(2):
            self.end(row - 1)
            self.heading(len(atx.group(1)), atx.group(2), row)
            return True
        if self.begun != -1 and self.begun == row - 1 and (under := _SETEXT.match(line)):
            above = self.lines[row - 1]
            if _NOT_A_TITLE.match(above):
                return False
            self.begun = -1
            self.heading(1 if under.group(1)[0] == "=" else 2, above.strip(), row - 1, text_row=row + 1)
            return True
        return False


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return the sections of a Markdown text."""
    reader = _Reader(split_rows(source))
    reader.read()
    return sections(reader)
