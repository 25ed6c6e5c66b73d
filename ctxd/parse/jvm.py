"""The families of Java, Kotlin and Scala: visibility by modifiers, markup in doc comments, accessors. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families import CLASSES, FUNCTIONS, VALUES, Bound, Family

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_SHOWN = re.compile(rb"\b(?:public|protected)\b")
_HIDDEN = re.compile(rb"\b(?:private|internal)\b")
# T and T1 are no types that could own a definition.
_PARAMETER = re.compile(r"[A-Z]\d?$")
_IMPORT = re.compile(rb"import\s+([^\s;*]*[^\s;*.])(\.\*)?(?:\s+as\s+([^\s;]+))?")
_MEMBER = re.compile(rb"\b(?:fun|va[lr]|class|interface|object|init|constructor)\b")
_CONTEXT = re.compile(rb"(?<=\n)[ \t]*context\([^()\n]*\)")
_DELEGATE = re.compile(rb"\bby [A-Za-z_][\w.]*(?:\([^()\n]*\))?(?=\s*[{,])")
_PROPERTY = re.compile(rb"\bva[lr]\b[^()\n]*$")
# {@link Type#member label}, {@code text}; references keep their dots.
_INLINE = re.compile(rb"\{@(?:link|linkplain|code|literal|value|inheritDoc)\b\s*([^{}]*)\}")
_TAG = re.compile(rb"</?(?:p|code|em|i|b|tt|ul|li|a|strong|pre|br)\b[^<>]*>")


class Modifiers(Family):
    """What is common to languages whose visibility is a word before the definition."""

    values_own = True

    def prose(self, comment: bytes) -> bytes:
        if b"{@" in comment:
            comment = _INLINE.sub(lambda found: found.group(1).replace(b"#", b"."), comment)
        return _TAG.sub(b"", comment) if b"<" in comment else comment


class Java(Modifiers):
    """What no word makes visible is seen in its package only."""

    # Those of anonymous classes are in methods.
    method_owners = CLASSES | FUNCTIONS

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None:
            if not parent.exported or parent.kind in FUNCTIONS:
                return False
            if parent.kind == "interface" or (definition.kind == "constant" and parent.kind == "enum"):
                return not _HIDDEN.search(source, definition.start, definition.name_start)
            if definition.kind == "field" and definition.start < parent.body:  # a record's component
                return True
        return bool(_SHOWN.search(source, definition.start, definition.name_start))


class Kotlin(Modifiers):
    """What no word hides is seen; extensions of a type parameter have no owner; accessors follow their property."""

    def name(self, text: str, kind: str) -> tuple[str, str]:
        return text.strip("`"), ""

    def own(self, definition: Definition) -> None:
        if _PARAMETER.match(definition.owner):
            definition.owner = ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None and (not parent.exported or parent.kind in FUNCTIONS):
            return False
        return not _HIDDEN.search(source, definition.start, definition.name_start)

    def imports(self, clause: bytes) -> list[Bound]:
        found = _IMPORT.match(clause)
        if found is None:
            return []
        path, wildcard, alias = (part.decode("utf-8", "replace").replace("`", "") for part in found.groups(b""))
        module, _, name = path.rpartition(".")
        if wildcard:
            return [Bound(path, "*", "", found.start(2))]
        if not module:
            return [Bound(path)]
        return [Bound(module, name, alias, found.end(1) - len(name.encode()))]

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        values = sorted((d for d in found.definitions.values() if d.kind in VALUES), key=lambda d: d.end)
        ends = [definition.end for definition in values]
        for mark in found.marks:
            place = bisect_right(ends, mark.start) - 1
            if place >= 0:
                values[place].end, values[place].end_row = mark.end, bisect_left(starts, mark.end) - 1

    def mute(self, source: bytes) -> bytes:
        """Unknown to the grammar: members that end before a bracket on their line, delegates of a class, contexts."""
        lines = source.split(b"\n")
        for row, line in enumerate(lines):
            if b" }" in line and _MEMBER.search(line):
                lines[row] = line.replace(b" }", b";}")
        muted = _CONTEXT.sub(_spaces, b"\n".join(lines).replace(b"..<", b".. "))
        return _DELEGATE.sub(lambda found: found.group() if _delegates(muted, found.start()) else _spaces(found), muted)


def _spaces(found: re.Match[bytes]) -> bytes:
    return b" " * len(found.group())


def _delegates(source: bytes, at: int) -> bool:
    """Return whether the `by` at a byte is that of a property; that of a class makes its body a lambda."""
    return _PROPERTY.search(source, max(source.rfind(b"\n", 0, at), at - 300), at) is not None
