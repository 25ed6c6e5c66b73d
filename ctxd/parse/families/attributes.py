"""What stands above a definition as a statement of its own and belongs to it: doc attributes, type signatures. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence

from ctxd.parse.capture import Definition, Mark

# Comments may stand between; more than this is no neighbour.
_BETWEEN = re.compile(rb"(?>(?:\s|#[^\n]*(?:\n|\Z))*)\Z")
_MAX_BETWEEN = 4000
# No definition has more.
_MOST = 40


def attach(
    definitions: Iterable[Definition], marks: Sequence[Mark], source: bytes
) -> list[tuple[Definition, list[Mark]]]:
    """Move each definition's start up to the marks directly above it; return it with those, the nearest first."""
    ordered = sorted(marks, key=lambda mark: mark.end)
    ends = [mark.end for mark in ordered]
    made: list[tuple[Definition, list[Mark]]] = []
    for definition in definitions:
        place = bisect_right(ends, definition.start) - 1
        above: list[Mark] = []
        while place >= 0 and len(above) < _MOST and adjacent(source, ends[place], definition.start):
            mark = ordered[place]
            above.append(mark)
            definition.start, definition.row = mark.start, mark.row
            place -= 1
        if above:
            made.append((definition, above))
    return made


def adjacent(source: bytes, end: int, start: int) -> bool:
    """Return whether nothing but blanks and `#` comments stands between two bytes."""
    return start - end <= _MAX_BETWEEN and _BETWEEN.match(source, end, start) is not None
