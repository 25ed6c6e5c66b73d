"""Definitions by their text, for families whose broken trees hide them. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from ctxd.parse.capture import Captured, Definition
from ctxd.parse.families.family import VALUES

# Where no `}` follows in this many bytes, looking on would cost the file's length for each definition.
_MAX_BODY = 100_000
# No head is longer.
_MAX_HEAD = 2000
_WORD_IN_COLUMN = re.compile(rb"^(?=\w)", re.MULTILINE)
_OPENING = re.compile(rb"[{;]|\n[ \t]*\n")


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


def trimmed_end(source: bytes, begin: int, end: int) -> int:
    """Return the end of a text without the space at its end."""
    return begin + len(source[begin:end].rstrip())


def end_of(source: bytes, body: int) -> int:
    """Return the end of a body that begins at `body`: its line when it closes there, else the next `}` in column 0."""
    line_end = source.find(b"\n", body)
    line = source[body : line_end if line_end != -1 else len(source)]
    if line.count(b"{") == line.count(b"}"):
        return body + line.rfind(b"}") + 1
    close = source.find(b"\n}", body, body + _MAX_BODY)
    return close + 2 if close != -1 else body + len(line)


def by_heads(
    found: Captured, source: bytes, starts: Sequence[int], heads: re.Pattern[bytes], kinds: Mapping[bytes, str]
) -> None:
    """Add a definition for each line that `heads` matches and no node stood for, in a language with braces.

    The groups `kind` (a key of `kinds`) and `name` are what they say. A body ends at the `}` as deep as its head.
    """
    known = {definition.name_start for definition in found.definitions.values()}
    skips = sorted(found.skips)
    for head in heads.finditer(source):
        at = head.start("name")
        if at in known or inside(skips, at):
            continue
        kind = kinds[head.group("kind")]
        opening = _OPENING.search(source, head.end(), head.end() + _MAX_HEAD)
        body = opening.start() if opening is not None and opening.group() == b"{" else -1
        if body != -1:
            end = indented_end(source, body, head.group())
        else:
            end = opening.end() if opening is not None and opening.group() == b";" else source.find(b"\n", at)
        definition = text_definition(kind, head, starts, body if kind not in VALUES else -1, max(end, head.end()))
        text = head.group()
        definition.start = definition.head = head.start() + len(text) - len(text.lstrip())
        found.definitions[at] = definition
        found.uses.pop(at, None)


def indented_end(source: bytes, body: int, head: bytes) -> int:
    """Return the end of a body that begins at `body`: its line when it closes there, else the next `}` as deep as the
    text of its head."""
    line_end = source.find(b"\n", body)
    line = source[body : line_end if line_end != -1 else len(source)]
    if line.count(b"{") == line.count(b"}"):
        return body + line.rfind(b"}") + 1
    closing = b"\n" + head[: len(head) - len(head.lstrip())] + b"}"
    close = source.find(closing, body, body + _MAX_BODY)
    return close + len(closing) if close != -1 else body + len(line)


def by_column(
    found: Captured, source: bytes, starts: Sequence[int], heads: re.Pattern[bytes], kinds: Mapping[bytes, str]
) -> None:
    """Add a definition for each line that `heads` matches and no node stood for, where the first column tells them.

    The groups are those of `by_heads`. A definition ends at the last blank line before the next word in column 0.
    """
    known = {definition.name_start for definition in found.definitions.values()}
    skips = sorted(found.skips)
    for head in heads.finditer(source):
        at = head.start("name")
        if at in known or inside(skips, at):
            continue
        line_end = source.find(b"\n", head.end())
        line_end = line_end if line_end != -1 else len(source)
        following = _WORD_IN_COLUMN.search(source, line_end, line_end + _MAX_BODY)
        limit = following.start() if following else line_end
        blank = source.rfind(b"\n\n", line_end, limit)
        end = trimmed_end(source, head.start(), blank if blank != -1 else limit)
        body = line_end if kinds[head.group("kind")] not in VALUES else -1
        found.definitions[at] = text_definition(kinds[head.group("kind")], head, starts, body, end)
        found.uses.pop(at, None)
