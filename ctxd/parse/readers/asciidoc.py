"""AsciiDoc by its titles: `== Title`, `## Title` and, in old documents, underlined ones. Pure.

What stands in delimited blocks and comments is no title; a discrete heading is one all the same.
"""

from __future__ import annotations

import re

from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.readers.sections import Sheet, sections, split_rows

_TITLE = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*$")
_UNDERLINE = re.compile(r"([=\-~^+])\1{2,}[ \t]*$")
_LEVELS = "=-~^+"
# Blocks whose content is not read, and those that hold other blocks; each ends with the line it begins with.
_DELIMITER = re.compile(r"(?:-{4,}|\.{4,}|\+{4,}|/{4,}|={4,}|\*{4,}|_{4,}|`{3,}|[|,:!]={3,}|--)[ \t]*$")
_HOLDERS = ("=", "*", "_")
_ATTRIBUTE = re.compile(
    r":!?[\w-]+!?:(?:[ \t]|$)|\[.*\][ \t]*$|\.[^\s.].*$|(?:include|ifdef|ifndef|ifeval|endif|toc|image)::"
)
_MARKUP = re.compile(
    r"(?:https?|link|xref|mailto):[^\s\[]*\[([^\]]*)\]|<<[^,>]*(?:,\s*([^>]*))?>>|\[\[[^\]]*\]\]|\[[^\]]*\](?=[#*_`])"
    r"|\{[\w-]+\}|\*\*|__|``?|\+\+\+"
)


class _Reader(Sheet):
    """Goes through the lines once."""

    markup = _MARKUP

    def read(self) -> None:
        fence = ""
        lines = self.lines
        for row, line in enumerate(lines):
            text = line.rstrip()
            if fence:
                if text == fence or (fence[0] == "`" and text == "```"):
                    fence = ""
                    self.end(row, is_text=False)
            elif not text:
                self.end(row - 1, is_text=self._is_text())
            elif self._title(row, text):
                pass
            elif _DELIMITER.match(text) or text.startswith("```"):
                if text[0] not in _HOLDERS and text != "--":
                    self.end(row - 1, is_text=self._is_text())
                    self.begin(row)
                    fence = text if text[0] != "`" else "```"
            else:
                self.begin(row)
        self.end(len(lines) - 1, is_text=not fence and self._is_text())

    def _is_text(self) -> bool:
        return self.begun != -1 and not _ATTRIBUTE.match(self.lines[self.begun])

    def _title(self, row: int, text: str) -> bool:
        if found := _TITLE.match(text):
            first = self._first_row(row)
            self.end(first - 1, is_text=self._is_text())
            self.begun = -1
            made = self.heading(len(found[1]), found[2], row, first)
            made.signature = text
            if len(self.headings) == 1:
                # Author, revision and attributes follow the document's title up to a blank line.
                rows = range(row + 1, len(self.lines))
                made.text_row = next((r for r in rows if not self.lines[r].strip()), row + 1)
            return True
        under = _UNDERLINE.match(text)
        if under is None or self.begun == -1 or row == 0:
            return False
        above = self.lines[row - 1].rstrip()
        alone = self.begun == row - 1 or self._first_row(row - 1) == self.begun
        if not alone or abs(len(above) - len(text)) > 1 or not above[:1].isalnum():
            return False
        first = self.begun
        self.begun = -1
        self.heading(_LEVELS.index(under[1]) + 1, above, row - 1, first, row + 1).signature = above
        return True

    def _first_row(self, row: int) -> int:
        """Return the first of the anchors and attribute lines directly above a title."""
        while row and self.lines[row - 1].startswith("[") and self.lines[row - 1].rstrip().endswith("]"):
            row -= 1
        return row


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return the sections of an AsciiDoc document."""
    reader = _Reader(split_rows(source))
    reader.read()
    return sections(reader)
