"""HCL by its blocks, named as they are spoken of in expressions: `aws_vpc.main`, `var.region`, `local.tags`. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

import msgspec

from ctxd.model import Import
from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.readers.outline import (
    Entry,
    Mention,
    comment_above,
    comment_text,
    cuts_by_indentation,
    line_text,
    outline,
)
from ctxd.parse.symbols import line_starts

# Strings may hold templates with strings inside: quotes stay even and brackets balanced all the same.
_TOKEN = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"|<<[-~]?(?P<word>[A-Za-z_]\w*)[^\n]*|#[^\n]*|//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)|[{}\[\]()]'
)
_HEAD = re.compile(rb'[ \t]*([A-Za-z_][\w-]*)((?:[ \t]+(?:"[^"\n]*"|[A-Za-z_][\w-]*))*)[ \t]*\{')
_LABEL = re.compile(rb'"([^"\n]*)"|([A-Za-z_][\w-]*)')
_ATTRIBUTE = re.compile(rb'[ \t]*(?:([A-Za-z_][\w-]*)|"([^"\n]+)")[ \t]*=(?![=>])')
_USE = re.compile(rb"\b(var|local|module|data\.[\w-]+|[a-z][a-z0-9]*_\w+)\.([A-Za-z_][\w-]*)")
_SOURCE = re.compile(rb'[ \t]*source[ \t]*=[ \t]*"([^"\n]+)"')
_DESCRIPTION = re.compile(rb'[ \t]*description[ \t]*=[ \t]*"((?:[^"\\\n]|\\.)*)"')
_MARKS = (b"#", b"//")
# How the blocks of Terraform are called where they are used: what stands before the name.
_OWNERS = {"variable": "var", "output": "output", "module": "module", "provider": "provider", "data": "data"}
_KINDS = {"variable": "variable", "module": "module", "output": "variable"}
_MAX_LINE = 2000


class _Block(msgspec.Struct):
    """A block of the first level, or an attribute there (`labels` None)."""

    word: str
    labels: list[str] | None
    row: int
    end_row: int


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return the blocks with their labels, locals, attributes outside blocks; uses of variables and resources."""
    lines = source.split(b"\n")
    entries: list[Entry] = []
    imports: list[Import] = []
    starts = line_starts(lines)
    depths = _depths(source, starts, len(lines))
    for block in _level(lines, depths, 0, len(lines) - 1, 0):
        entry = _named(block, lines)
        entries.append(entry)
        if block.labels is not None and block.word == "locals":
            entries += [
                _entry("variable", inner.word, inner.row, inner.end_row, lines, "local")
                for inner in _level(lines, depths, block.row + 1, block.end_row - 1, 1)
                if inner.labels is None
            ]
        elif block.word == "module":
            found = (_SOURCE.match(lines[row]) for row in range(block.row, block.end_row + 1))
            source_line = next((match for match in found if match), None)
            if source_line:
                imports.append(Import(source_line[1].decode("utf-8", "replace"), block.row + 1))
        entries += cuts_by_indentation(lines, block.row, block.end_row)
    return outline(lines, entries, _mentions(lines), imports)


def _depths(source: bytes, starts: Sequence[int], count: int) -> list[int]:
    """Return how many brackets are open at the beginning of each row; -1 inside comments and here-documents."""
    depths = [0] * (count + 1)
    depth = at = 0
    for start, end in _tokens(source):
        text = source[start:end]
        change = (text in b"{[(") - (text in b"}])")
        row = bisect_right(starts, start) - 1
        while at < row:
            at += 1
            depths[at] = depth
        if len(text) > 1:
            while at < bisect_right(starts, end - 1, row) - 1:
                at += 1
                depths[at] = -1
        depth = max(0, depth + change)
        if row and text == b"}" and source[starts[row] : end] == b"}":
            # Whatever went wrong above, a bracket in the first column closes a block of the first level.
            depth = 0
    while at < count:
        at += 1
        depths[at] = depth
    return depths


def _tokens(source: bytes) -> Iterator[tuple[int, int]]:
    """Yield the bytes of strings, comments, here-documents and brackets."""
    at = 0
    endless: set[bytes] = set()
    while token := _TOKEN.search(source, at):
        at, word = token.end(), token["word"]
        if word and word not in endless:
            closing = re.compile(rb"\n[ \t]*" + word + rb"\b").search(source, at)
            if closing:
                at = closing.end()
            else:
                # None follows any later one either.
                endless.add(word)
        yield token.start(), at


def _level(lines: Sequence[bytes], depths: Sequence[int], first: int, last: int, depth: int) -> list[_Block]:
    made: list[_Block] = []
    row = first
    while row <= last:
        line = lines[row][:_MAX_LINE]
        if depths[row] != depth or line.lstrip()[:1] in (b"", b"#", b"/"):
            row += 1
            continue
        end = row
        while end < last and depths[end + 1] != depth:
            end += 1
        if head := _HEAD.match(line):
            labels = [(quoted or bare).decode("utf-8", "replace") for quoted, bare in _LABEL.findall(head[2])]
            made.append(_Block(head[1].decode(), labels, row, end))
        elif found := _ATTRIBUTE.match(line):
            made.append(_Block((found[1] or found[2]).decode("utf-8", "replace"), None, row, end))
        row = end + 1
    return made


def _named(block: _Block, lines: Sequence[bytes]) -> Entry:
    labels = block.labels
    if labels is None:
        return _entry("key", block.word, block.row, block.end_row, lines, None)
    owner = _OWNERS.get(block.word, "") if labels else ""
    path = ".".join(part for part in [owner, *labels[:-1]] if part)
    name = labels[-1] if labels else block.word
    return _entry(_KINDS.get(block.word, "section"), name, block.row, block.end_row, lines, path or None)


def _entry(kind: str, name: str, row: int, end: int, lines: Sequence[bytes], owner: str | None) -> Entry:
    first = comment_above(lines, row, _MARKS)
    doc = comment_text(lines, first, row)
    if not doc and kind == "variable":
        found = (_DESCRIPTION.match(line) for line in lines[row : min(end, row + 12) + 1])
        doc = next((match[1].decode("utf-8", "replace") for match in found if match), "")
    return Entry(kind, name, row, end, first, line_text(lines[row]), doc, owner)


def _mentions(lines: Sequence[bytes]) -> list[Mention]:
    made: list[Mention] = []
    for row, line in enumerate(lines):
        if b"." in line and line.lstrip()[:1] != b"#":
            made += [
                Mention(name.decode(), "constant", row, receiver.decode())
                for receiver, name in _USE.findall(line[:_MAX_LINE])
            ]
    return made
