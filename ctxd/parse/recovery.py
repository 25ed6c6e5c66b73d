"""Definitions by their text, for families whose broken trees hide them. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence

from ctxd.parse.capture import Definition

# Where no `}` follows in this many bytes, looking on would cost the file's length for each definition.
_MAX_BODY = 100_000


def inside(skips: Sequence[tuple[int, int]], at: int) -> bool:
    """Return whether a byte lies in a comment or a string; `skips` are sorted."""
    place = bisect_right(skips, (at + 1,)) - 1
    return place >= 0 and skips[place][1] > at


def text_definition(kind: str, head: re.Match[bytes], starts: Sequence[int], body: int, end: int) -> Definition:
    """Return a definition found by its text: the group `name` of `head` is its name, `body` -1 without one."""
    row = bisect_right(starts, head.start()) - 1
    return Definition(
        kind=kind,
        name=head.group("name").decode(),
        start=head.start(),
        end=end,
        row=row,
        end_row=bisect_left(starts, end) - 1,
        head=head.start(),
        name_start=head.start("name"),
        name_row=bisect_right(starts, head.start("name")) - 1,
        body=body,
        pattern=-1,
    )


def end_of(source: bytes, body: int) -> int:
    """Return the end of a body that begins at `body`: its line when it closes there, else the next `}` in column 0."""
    line_end = source.find(b"\n", body)
    line = source[body : line_end if line_end != -1 else len(source)]
    if line.count(b"{") == line.count(b"}"):
        return body + line.rfind(b"}") + 1
    close = source.find(b"\n}", body, body + _MAX_BODY)
    return close + 2 if close != -1 else body + len(line)
