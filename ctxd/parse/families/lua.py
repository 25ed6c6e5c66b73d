"""Lua: what a file returns is exported, tables own by their written name; classes that comments declare. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.capture import Definition, Use
from ctxd.parse.families.family import FUNCTIONS, VALUES, Family

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured

_INDEX = re.compile(r"\[\s*[\"']([^\"']*)[\"']\s*\]")
# What the language server reads: `---@class (exact) a.Name<T>: Base`, and the fields that follow it.
_DECLARED = re.compile(
    rb"^[ \t]*---[ \t]*@(?P<what>class|alias|enum|field)[ \t]+(?:\([^)\n]*\)[ \t]*)?"
    rb"(?:(?:public|private|protected|package)[ \t]+(?=\w))?(?P<name>[A-Za-z_][\w.]*)\??"
    rb"(?:<[^>\n]*>)?(?:[ \t]*:[ \t]*(?P<bases>[^\n]*))?",
    re.MULTILINE,
)
# The type ends at the first blank outside brackets; what follows is prose.
_TYPED = re.compile(
    rb"^[ \t]*---[ \t]*@"
    rb"(?:return|type|(?:param|field[ \t]+(?:(?:public|private|protected|package)(?=[ \t]))?)[ \t]*\S+)"
    rb"[ \t]+(?P<text>(?:[^\s<({]|<[^>\n]*>|\([^)\n]*\)|\{[^}\n]*\})+)",
    re.MULTILINE,
)
_NAME = re.compile(rb"[A-Za-z_][\w.]*[A-Za-z_0-9]")
_PLAIN = re.compile(rb"[ \t]*---(?![ \t]*@)")
_KINDS = {b"class": "class", b"alias": "type", b"enum": "enum", b"field": "field"}
_BUILT_IN = frozenset(
    b"any bool boolean false fun function integer nil number self string table thread true unknown userdata".split()
)
# A comment that declares more lines than this is cut.
_MAX_LINES = 400


class Lua(Family):
    """A local is hidden unless the file returns it; a table's members are seen when the table is."""

    line_comments = (b"--",)
    block_marks = (b"--[[", b"]]")
    values_own = True
    written_owner_makes_method = False

    def name(self, text: str, kind: str) -> tuple[str, str]:
        name = " ".join(text.strip("\"'").split())
        if kind in VALUES and name.startswith("__"):
            return "", ""
        return name, ""

    def own(self, definition: Definition) -> None:
        definition.owner = _INDEX.sub(r".\1", definition.owner)
        if definition.owner == "self":
            definition.owner, definition.belongs = "", True
        elif definition.owner == "_G":
            definition.owner = ""
        if "\n" in definition.owner or len(definition.owner) > 200:
            definition.owner = ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if definition.name.startswith("_"):
            return False
        if parent is not None:
            return parent.exported and parent.kind not in FUNCTIONS
        return definition.exported

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        _declare(found, source, starts)
        for start in [start for start, use in found.uses.items() if use.name == "require" and use.kind == "call"]:
            del found.uses[start]
        found_locals = {
            definition.name
            for definition in found.definitions.values()
            if not definition.owner and _is_local(definition, found, source)
        }
        for definition in found.definitions.values():
            root = re.split(r"[.\[]", definition.owner or definition.name, maxsplit=1)[0]
            definition.exported = root not in found_locals or root in found.exports


def _is_local(definition: Definition, found: Captured, source: bytes) -> bool:
    wrapper = found.wrappers.get(definition.start)
    return source.startswith(b"local", wrapper.start if wrapper is not None else definition.start)


def _declare(found: Captured, source: bytes, starts: Sequence[int]) -> None:
    """Add what comments declare; a table of the same name below is that class itself."""
    if b"---" not in source:
        return
    tables = {d.row: d for d in found.definitions.values() if d.kind == "variable"}
    declared, declared_end = "", -1
    for head in _DECLARED.finditer(source):
        row = bisect_right(starts, head.start("what")) - 1
        last = _last_row(source, starts, row)
        kind, at = _KINDS[head.group("what")], head.start("name")
        owner, _, name = head.group("name").decode().rpartition(".")
        if kind == "field":
            last = row
            if declared_end < at:
                continue
            owner, name = declared, head.group("name").decode()
        elif (table := tables.get(last + 1)) is not None and name == table.name:
            table.kind = kind
            declared, declared_end = name, table.start
            _extend(found, head, row)
            continue
        start = head.start("what")
        end = starts[last + 1] - 1
        made = Definition(kind, name, start, end, row, last, start, at, row, -1, -1, owner=owner)
        made.doc = _text_above(source, starts, row)
        found.definitions[at] = made
        if kind != "field":
            declared, declared_end = head.group("name").decode(), end
            _extend(found, head, row)
    _add_types(found, source, starts)


def _last_row(source: bytes, starts: Sequence[int], row: int) -> int:
    """Return the last row of a declaring comment: before what is no comment or declares the next."""
    last = row
    while last - row < _MAX_LINES and last + 2 < len(starts):
        line = source[starts[last + 1] : starts[last + 2]].lstrip()
        head = _DECLARED.match(line)
        if not line.startswith(b"---") or (head is not None and head.group("what") != b"field"):
            break
        last += 1
    return last


def _text_above(source: bytes, starts: Sequence[int], row: int) -> bytes:
    first = row
    while first > 0 and row - first < _MAX_LINES and _PLAIN.match(source, starts[first - 1], starts[first]):
        first -= 1
    return source[starts[first] : starts[row]]


def _extend(found: Captured, head: re.Match[bytes], row: int) -> None:
    for base in _NAME.finditer(head.group("bases") or b""):
        start = head.start("bases") + base.start()
        owner, _, name = base.group().decode().rpartition(".")
        if base.group() not in _BUILT_IN:
            found.uses[start] = Use(name, "extends", start, row, 0, owner)


def _add_types(found: Captured, source: bytes, starts: Sequence[int]) -> None:
    for typed in _TYPED.finditer(source):
        row = bisect_right(starts, typed.start("text")) - 1
        for word in _NAME.finditer(typed.group("text")):
            start = typed.start("text") + word.start()
            text = word.group()
            # Types are told from names and prose by a capital or a dot.
            if text not in _BUILT_IN and (b"." in text.strip(b".") or text[:1].isupper()):
                owner, _, name = text.decode().rpartition(".")
                found.uses.setdefault(start, Use(name, "type", start, row, 0, owner))
