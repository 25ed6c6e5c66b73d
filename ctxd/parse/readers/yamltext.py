"""YAML by its keys, line by line: the grammar gives up after row 32,767 and is thirty times slower. Pure.

Names are the keys of the two outer levels, the documents of Kubernetes by what they are called, and the titled
elements of a list that is the whole file (Ansible). What stands in block scalars and in flow brackets is text.
"""

from __future__ import annotations

import re

import msgspec

from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.readers.outline import Entry, comment_above, comment_text, cuts_by_indentation, line_text, outline

_KEY = re.compile(
    rb"""(?P<indent>\ *) (?P<dash>-\ +)?
    (?P<key>"[^"\\]*(?:\\.[^"\\]*)*" | '[^']*' | <<
        | (?:[^\s#&*!|>%@`"'{\[\]},?-] | [?-](?=[^\s]))[^\n]*?)
    \ *:(?:[ \t]+(?P<value>.*))?\s*$""",
    re.X,
)
# What may stand between a key and the block below it: anchors, tags, comments.
_OPEN = re.compile(rb"(?:[&!]\S*[ \t]*)*(?:#.*)?$")
# What a chart fills in is no part of a name.
_TEMPLATE = re.compile(r"\{\{.*?\}\}")
_MARKS = (b"#",)
# Longer lines are data; a bound for the time that matching takes.
_MAX_LINE = 400
# What every Kubernetes document has; its name says more than these keys.
_BOILERPLATE = frozenset({"apiVersion", "kind", "metadata", "status"})


class _Line(msgspec.Struct, frozen=True):
    """A line that begins with a key. `opens`: what it holds stands below it."""

    row: int
    indent: int
    in_list: bool
    key: str
    value: bytes
    opens: bool


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return the keys, documents and titled elements, and where long ones may be cut."""
    lines = [line.rstrip(b"\r") for line in source.split(b"\n")]
    if lines and not lines[-1]:
        lines.pop()
    entries: list[Entry] = []
    start = 0
    for row in [*(r for r, line in enumerate(lines) if line[:3] in (b"---", b"...")), len(lines)]:
        if row > start:
            _document(lines, start, row - 1, entries)
        start = row + 1
    return outline(lines, entries)


def _document(lines: list[bytes], first: int, last: int, entries: list[Entry]) -> None:
    outer = _level(lines, first, last)
    if not outer:
        return
    if outer[0].in_list:
        _elements(lines, first, last, entries)
        return
    outer = [line for line in outer if not line.in_list]
    names = {line.key: line for line in outer}
    is_object = {"apiVersion", "kind"} <= names.keys()
    if is_object:
        entries.append(_object(lines, outer, last))
    for line, end in _ends(lines, outer, last):
        if is_object and line.key in _BOILERPLATE:
            entries.append(Entry("", "", line.row, end))
        else:
            entries.append(_key(lines, line, end))
            if line.opens:
                inner = _level(lines, line.row + 1, end)
                entries += [_key(lines, below, stop) for below, stop in _ends(lines, inner, end) if not below.in_list]
        entries += cuts_by_indentation(lines, line.row, end)


def _elements(lines: list[bytes], first: int, last: int, entries: list[Entry]) -> None:
    """A document that is a list: its elements are cut, those with a name are called by it."""
    starts = [row for row in range(first, last + 1) if lines[row].startswith((b"- ", b"-\t")) or lines[row] == b"-"]
    for start, stop in zip(starts, [*starts[1:], last + 1], strict=True):
        end = _trim(lines, start, stop - 1)
        title = ""
        for row in range(start, min(end, start + 20) + 1):
            found = _KEY.match(lines[row])
            at = len(found["indent"]) + len(found["dash"] or b"") if found else 0
            if (
                found
                and found["key"] == b"name"
                and found["value"]
                and (row == start or (at == 2 and not found["dash"]))
            ):
                title = _unquoted(found["value"])
                break
        comment = comment_above(lines, start, _MARKS)
        signature = f"- name: {title}" if title else ""
        doc = comment_text(lines, comment, start)
        entries.append(Entry("section" if title else "", title, start, end, comment, signature, doc))
        entries += cuts_by_indentation(lines, start, end)


def _level(lines: list[bytes], first: int, last: int) -> list[_Line]:
    """Return the keys of least indentation among the lines, or of the list that stands there."""
    found: list[_Line] = []
    least = -1
    for row in range(first, last + 1):
        line = lines[row]
        stripped = line.lstrip()
        if not stripped or stripped.startswith((b"#", b"{{")) or line[:1] == b"%":
            continue
        indent = len(line) - len(stripped)
        if least == -1:
            least = indent
        if indent > least:
            continue
        if indent < least:
            break
        match = _KEY.match(line[:_MAX_LINE])
        if match is None:
            continue
        value = (match["value"] or b"").strip()
        opens = _OPEN.match(value) is not None
        found.append(_Line(row, indent, match["dash"] is not None, _unquoted(match["key"]), value, opens))
    return found


def _ends(lines: list[bytes], level: list[_Line], last: int) -> list[tuple[_Line, int]]:
    """Return each line with the last row of what it begins."""
    stops = [*(line.row for line in level[1:]), last + 1]
    return [(line, _trim(lines, line.row, stop - 1)) for line, stop in zip(level, stops, strict=False)]


def _key(lines: list[bytes], line: _Line, end: int) -> Entry:
    comment = comment_above(lines, line.row, _MARKS)
    doc = comment_text(lines, comment, line.row)
    kind = "" if line.in_list else "key"
    return Entry(kind, line.key, line.row, end, comment, line_text(lines[line.row]), doc)


def _object(lines: list[bytes], outer: list[_Line], last: int) -> Entry:
    """Return a document of Kubernetes, called by its kind and, where it is written, by its name."""
    first = outer[0].row
    kind = next(line.value for line in outer if line.key == "kind").decode("utf-8", "replace").strip()
    made = Entry("section", kind, first, _trim(lines, first, last), first, f"kind: {kind}")
    for line, end in _ends(lines, outer, last):
        if line.key == "metadata":
            for below in _level(lines, line.row + 1, end):
                if below.key in ("name", "generateName") and below.value:
                    name = _unquoted(below.value)
                    made.name = _TEMPLATE.sub("", name).strip("-_. ") or kind
                    made.row, made.signature = below.row, f"kind: {kind}, name: {name}"
                    return made
    return made


def _unquoted(value: bytes) -> str:
    text = value.decode("utf-8", "replace").strip()
    if text[:1] in "\"'" and text[:1] == text[-1:] and len(text) > 1:
        return text[1:-1]
    return text.partition(" #")[0].strip()


def _trim(lines: list[bytes], first: int, last: int) -> int:
    """Return the last row that is neither blank nor a comment: that is about what follows."""
    while last > first and lines[last].strip()[:1] in (b"", b"#"):
        last -= 1
    return last
