"""Makefiles: targets with their recipes, variables, defined macros, line by line. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence

import msgspec

from ctxd.model import Import
from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.families.family import is_constant
from ctxd.parse.readers.outline import Entry, Mention, comment_above, comment_text, line_text, outline

_VARIABLE = re.compile(
    rb"[ ]*(?:(?:export|override|private|unexport)[ \t]+)*([\w.%/-]+(?:\$[({][\w.]+[)}][\w.-]*)*)[ \t]*"
    rb"(:{0,3}=|\+=|\?=|!=)"
)
_DEFINE = re.compile(rb"[ ]*(?:override[ \t]+|export[ \t]+)*define[ \t]+([^\s=:?+]+)")
_RULE = re.compile(rb"((?:\$[({][^(){}\n]*(?:[({][^(){}\n]*[)}][^(){}\n]*)*[)}]|[^\s:=#$])(?:\$[({][^(){}\n]*"
                   rb"(?:[({][^(){}\n]*[)}][^(){}\n]*)*[)}]|[^:=#$\n]|\$\$)*?)[ \t]*&?::?(?!=)(.*)$")  # fmt: skip
_TARGET_VARIABLE = re.compile(rb"[ \t]*(?:(?:export|override|private)[ \t]+)*[\w.-]+[ \t]*(?::{0,3}|\+|\?)=")
_INCLUDE = re.compile(rb"[ ]*[-s]?include[ \t]+([^#\n]+)")
_READ = re.compile(rb"\$[({]([A-Z][A-Z0-9_]+)[)}:]")
_CALL = re.compile(rb"\$[({]call[ \t]+([\w.-]+)")
_WORD = re.compile(rb"(?:\$[({](?:[^(){}]|[({][^(){}]*[)}])*[)}]|[^\s$])+")
_CONDITIONAL = (b"if", b"else", b"endif")
_MAX_LINE = 2000


class _State(msgspec.Struct):
    """What has been read so far; `recipe` are the targets whose recipe may still go on."""

    lines: Sequence[bytes]
    ends: list[int]  # rows of `endef`
    entries: list[Entry] = []
    mentions: list[Mention] = []
    imports: list[Import] = []
    recipe: list[Entry] = []
    seen: set[str] = set()


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return targets, variables and macros; prerequisites and called macros are references."""
    lines = [line.rstrip(b"\r") for line in source.split(b"\n")]
    state = _State(lines, [row for row, line in enumerate(lines) if line.lstrip().startswith(b"endef")])
    row = 0
    while row < len(lines):
        line = lines[row][:_MAX_LINE]
        end = row
        while end + 1 < len(lines) and lines[end].endswith(b"\\"):
            end += 1
        if line[:1] == b"\t":
            for target in state.recipe:
                target.end_row = end
        elif line.strip() and line.lstrip()[:1] != b"#":
            end = _statement(state, row, end, line)
        for at in range(row, min(end + 1, len(lines))):
            _mention(state, at)
        row = end + 1
    return outline(lines, state.entries, state.mentions, state.imports)


def _statement(state: _State, row: int, end: int, line: bytes) -> int:
    """Read what begins at `row` and is continued to `end`; return its last row."""
    stripped = line.lstrip()
    if stripped.startswith(_CONDITIONAL) and not state.recipe:
        return end
    if found := _DEFINE.match(line):
        place = bisect_right(state.ends, row)
        end = state.ends[place] if place < len(state.ends) else row
        _add(state, "macro", found[1], row, end)
        state.recipe = []
    elif (found := _INCLUDE.match(line)) and not stripped.startswith(b"include:"):
        state.imports += [Import(path.decode("utf-8", "replace"), row + 1) for path in found[1].split()]
        state.recipe = []
    elif found := _VARIABLE.match(line):
        name = found[1].decode("utf-8", "replace")
        if found[2] != b"+=" or name not in state.seen:
            state.seen.add(name)
            _add(state, "constant" if is_constant(name) else "variable", found[1], row, end)
        else:
            state.entries.append(Entry("", "", row, end))
        state.recipe = []
    elif (found := _RULE.match(line)) and not stripped.startswith(_CONDITIONAL):
        _rule(state, found, row, end)
    return end


def _rule(state: _State, found: re.Match[bytes], row: int, end: int) -> None:
    if _TARGET_VARIABLE.match(found[2]):
        state.entries.append(Entry("", "", row, end))
        return
    state.recipe = []
    for name in _WORD.findall(found[1]):
        if name.isupper() and name[:1] == b".":
            continue
        state.recipe.append(_add(state, "function", name, row, end))
    rest = b" ".join([found[2], *state.lines[row + 1 : end + 1]]).partition(b"#")
    text = rest[0].partition(b";")[0]
    if not found[1].startswith(b"."):
        for name in _WORD.findall(text[:_MAX_LINE]):
            if not any(mark in name for mark in (b"$", b"%", b"\\", b"|")):
                state.mentions.append(Mention(name.decode("utf-8", "replace"), "call", row))
    if not state.recipe:
        state.entries.append(Entry("", "", row, end))
    elif rest[2].strip(b"# ") and not state.recipe[0].doc:
        for target in state.recipe:
            target.doc = rest[2].strip(b"# ").decode("utf-8", "replace")


def _add(state: _State, kind: str, name: bytes, row: int, end: int) -> Entry:
    first = comment_above(state.lines, row, (b"#",))
    doc = comment_text(state.lines, first, row)
    entry = Entry(kind, name.decode("utf-8", "replace"), row, end, first, line_text(state.lines[row]), doc)
    state.entries.append(entry)
    return entry


def _mention(state: _State, row: int) -> None:
    line = state.lines[row][:_MAX_LINE]
    if b"$" in line and line.lstrip()[:1] != b"#":
        state.mentions += [Mention(name.decode(), "constant", row) for name in _READ.findall(line)]
        if b"call" in line:
            state.mentions += [Mention(name.decode(), "call", row) for name in _CALL.findall(line)]
