"""The text that `ctx query` gives an agent, taken apart again into its rows. Pure.

A row begins with a line in column 0 that names a place: `path  L8-L45  kind name`, its code below, or a stub,
`name — path:8-45`. It ends where the next one, or the closing line, begins. Lines of code are behind a space or a
number. The closing line says how many tokens the whole has.
"""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec

from ctxclient.bench.datasets import Span
from ctxclient.bench.metrics import same_file

_PATH = r'("(?:[^"\\]|\\.)*"|[^\s"\\:\u2014]+)'
_HEAD = re.compile(rf"{_PATH}  L(\d+)(?:-L(\d+))?(?:  .*)?")
_STUB = re.compile(rf"(?:.* \u2014 )?{_PATH}:(\d+)(?:-(\d+))?(?: \(.*\))?(?:  \(changed since it was indexed\))?")
_CODE = re.compile(r"\s|\d+(?:  |$)|$")
_CLOSING = re.compile(r"\d[\d,]* results?\b.*?(?: · (\d[\d,]*) tokens?)?$")
_ESCAPED = re.compile(r"\\(.)")


class Part(msgspec.Struct, frozen=True):
    """A row of an answer: its place, and the characters of the text at which its first line and the row itself end.

    `coded`: there is code, or an outline, below its first line.
    """

    place: Span
    named: int
    end: int
    coded: bool


class Text(msgspec.Struct, frozen=True):
    """An answer as text. `tokens` is what it says of itself, 0 where it does not."""

    out: str
    parts: tuple[Part, ...]
    tokens: int

    def of(self, files: Collection[str]) -> list[Part]:
        """Return the rows of `files`."""
        return [part for part in self.parts if any(same_file(file, part.place.path) for file in files)]


def parsed(out: str) -> Text:
    """Return an answer with its rows."""
    starts: list[tuple[int, int, Span]] = []
    at, end, tokens = 0, len(out), 0
    for line in out.splitlines(keepends=True):
        shown = line.rstrip("\n")
        if not _CODE.match(shown):
            row = _HEAD.fullmatch(shown) or _STUB.fullmatch(shown)
            closing = None if row else _CLOSING.fullmatch(shown)
            if row:
                starts.append((at, at + len(line), _place(row)))
            elif closing:
                end, tokens = at, int((closing[1] or "0").replace(",", ""))
        at += len(line)
    ends = [start for start, _, _ in starts[1:]] + [end]
    parts = [
        Part(place, named, stop, bool(out[named:stop].strip()))
        for (_, named, place), stop in zip(starts, ends, strict=False)
    ]
    return Text(out, tuple(parts), tokens)


def _place(row: re.Match[str]) -> Span:
    path = row[1]
    if path.startswith('"'):
        path = _ESCAPED.sub(r"\1", path[1:-1])
    return Span(path, int(row[2]), int(row[3] or row[2]))
