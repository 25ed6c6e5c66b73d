"""JSON and its relaxed forms (comments, bare keys, trailing commas): items with their places, by one scan. Pure.

Not a validator: what is broken gives the items up to where it breaks.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

import msgspec

from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.readers.outline import Entry, comment_above, comment_text, line_text, outline
from ctxd.parse.symbols import line_starts

_TOKEN = re.compile(
    rb'"[^"\\]*(?:\\.[^"\\]*)*"|\'[^\'\\\n]*(?:\\.[^\'\\\n]*)*\'|[{}\[\],:]|//[^\n]*|/\*.*?(?:\*/|\Z)|[^\s{}\[\],:"\'/]+',
    re.S,
)
# Keys of the first two levels are names; items of so many levels are places to cut.
_NAMED_DEPTH, _CUT_DEPTH = 2, 5


# From this size on, a file of numbers is a table that nobody searches for words.
_TABLE_BYTES = 20_000
_MAX_LINE = 400
_NUMBERS = re.compile(rb"[\s\d.,eE+\-\[\]]*\d[\s\d.,eE+\-\[\]]*$")


class Item(msgspec.Struct):
    """One member of an object or element of an array. Bytes are half-open; `depth` 1 is the outermost value's own.

    `named`: nothing but objects is around it.
    """

    depth: int
    key: bytes
    start: int
    value: int
    end: int
    named: bool


class _Frame(msgspec.Struct):
    """An open bracket: the item that is being read in it."""

    is_object: bool
    named: bool
    start: int = -1
    value: int = -1
    key: bytes = b""


def items(source: bytes, max_depth: int = _CUT_DEPTH) -> Iterator[Item]:
    """Yield the items down to a depth, inner ones first."""
    stack: list[_Frame] = []
    last, end = b"", 0
    for token in _TOKEN.finditer(source):
        text = token.group()
        first = text[:1]
        frame = stack[-1] if stack else None
        if first == b"/":
            continue
        if first in b"{[":
            _open(frame, token.start())
            is_object = first == b"{"
            stack.append(_Frame(is_object, is_object and (frame is None or frame.named)))
        elif first in b"}],":
            if frame is None:
                continue
            if frame.start != -1 and len(stack) <= max_depth:
                yield Item(len(stack), frame.key, frame.start, frame.value, end, frame.named)
            frame.start = frame.value = -1
            frame.key = b""
            if first != b",":
                stack.pop()
                if not stack:
                    return
        elif first == b":":
            if frame is not None and frame.is_object and not frame.key:
                frame.key, frame.value = last, -1
        else:
            _open(frame, token.start())
            last = text
        end = token.end()


def _open(frame: _Frame | None, start: int) -> None:
    if frame is not None:
        if frame.start == -1:
            frame.start = start
        if frame.value == -1:
            frame.value = start


def text_of(string: bytes) -> str:
    """Return the value of a string as it is written, or a bare word as it stands."""
    if string[:1] != b'"':
        return string.strip(b"'").decode("utf-8", "replace")
    try:
        return str(msgspec.json.decode(string))
    except (msgspec.DecodeError, UnicodeDecodeError):
        return string[1:-1].decode("utf-8", "replace")


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return the keys of the two outer levels, and where long values may be cut."""
    lines = source.split(b"\n")
    starts = line_starts(lines)
    made: list[tuple[int, Entry]] = []
    inner: list[Entry] = []
    for item in items(source):
        row = bisect_right(starts, item.start) - 1
        end_row = bisect_right(starts, max(item.end - 1, item.start), row) - 1
        if item.named and item.key and item.depth <= _NAMED_DEPTH:
            first = comment_above(lines, row, (b"//",))
            doc = comment_text(lines, first, row) if first < row else ""
            signature = line_text(source[item.start : min(item.end, starts[row + 1])])
            entry = Entry("key", text_of(item.key), row, end_row, first, signature, doc)
            made.append((item.start, entry))
            if item.depth == _NAMED_DEPTH:
                inner.append(entry)
            else:
                # Said, since of several keys on one line none lies around another.
                for below in inner:
                    below.owner = entry.name
                inner = []
        elif not source[starts[row] : item.start].strip():
            made.append((item.start, Entry("", "", row, end_row)))
    made.sort(key=lambda entry: entry[0])
    return msgspec.structs.replace(outline(lines, [entry for _, entry in made]), plain=_plain(source, lines))


def _plain(source: bytes, lines: list[bytes]) -> tuple[str, ...]:
    """Return the lines without those that hold nothing but numbers, when these are most of a large file."""
    if len(source) < _TABLE_BYTES:
        return ()
    numbers = [_NUMBERS.match(line[:_MAX_LINE]) is not None for line in lines]
    if 2 * sum(numbers) < len(lines):
        return ()
    return tuple(
        "" if skipped else line.decode("utf-8", "replace") for line, skipped in zip(lines, numbers, strict=True)
    )
