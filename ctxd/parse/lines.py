"""Where the lines of a text begin. Pure; runs in a parse worker.

A line ends at LF, CRLF or CR and nowhere else: str.splitlines also knows form feeds, vertical tabs and
U+2028, and would count lines that no editor and no compiler counts.
"""

from __future__ import annotations

import re
from itertools import accumulate

import msgspec

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")


class Lines(msgspec.Struct, frozen=True):
    """A text cut into lines, each with its line break. Line n (1-based) is `text[n - 1]`.

    `byte_starts[n - 1]` is the offset of line n in the text as UTF-8; one entry more than lines, the last
    is its size.
    """

    text: list[str]
    byte_starts: list[int]

    def __len__(self) -> int:
        return len(self.text)

    def join(self, line_start: int, line_end: int) -> str:
        """Return lines `line_start` to `line_end`, 1-based and inclusive, as they stand."""
        return "".join(self.text[line_start - 1 : line_end])


def split(text: str) -> Lines:
    """Return the lines of `text`. An empty text has none; a last line needs no line break."""
    if "\r" in text:
        lines = _LINE.findall(text)
    else:
        lines = [line + "\n" for line in text.split("\n")]
        last = lines.pop()[:-1]
        if last:
            lines.append(last)
    sizes = map(len, lines) if text.isascii() else (len(line.encode()) for line in lines)
    return Lines(lines, list(accumulate(sizes, initial=0)))


def source(text: str) -> bytes:
    """Return `text` as UTF-8 for a parser, which knows LF alone: a lone CR becomes LF, offsets stay."""
    if "\r" in text:
        text = re.sub(r"\r(?!\n)", "\n", text)
    return text.encode()
