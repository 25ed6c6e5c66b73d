"""The Swift family: `private`, extensions, computed properties. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import FUNCTIONS, Family
from ctxd.parse.families.recovery import by_heads

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

# `private(set)` hides the setter only.
_PRIVATE = re.compile(rb"\b(?:private|fileprivate)\b(?!\s*\(\s*set)")

# Words and lines that are newer than the grammar or that it takes at the top of a file only.
_UNKNOWN = re.compile(
    rb"^[ \t]*#(?:if|elseif|else|endif|warning|error|sourceLocation)\b[^\n]*"
    rb"|(?<=\bthrows)\([^()\n]*\)|(?<=\bnonisolated)\(\w+\)"
    rb"|\b(?:sending|consuming|borrowing|unsafe|consume|copy|discard)[ \t]+(?=[\w@(\[])"
    rb"|~(?=Copyable\b|Escapable\b|Sendable\b)|#(?=_\w)|(?<=\()\(\)(?=[,)])",
    re.MULTILINE,
)

# A line that begins a definition, for trees that are broken all the same.
_HEAD = re.compile(
    rb"^[ \t]*(?:@\w+(?:\([^()\n]*\))?[ \t]+)*(?:(?:public|package|internal|private|fileprivate|open|final|static|"
    rb"class|override|mutating|required|convenience|indirect|nonisolated)[ \t]+)*"
    rb"(?P<kind>func|class|actor|struct|enum|protocol|extension|typealias)[ \t]+(?P<name>[A-Za-z_]\w*)"
    rb"(?=[ \t]*[({<:=]|[ \t]+where\b)",
    re.MULTILINE,
)
_KINDS = {b"func": "function", b"class": "class", b"actor": "class", b"struct": "struct", b"enum": "enum",
          b"protocol": "interface", b"extension": "extension", b"typealias": "type"}  # fmt: skip


class Swift(Family):
    """What is not private is seen in other files: `internal` is the default."""

    # A function in a computed property.
    values_own = True

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "extension":
            return "".join(text.partition("<")[0].split()), ""
        return text.strip("`"), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None and (not parent.exported or parent.kind in FUNCTIONS):
            return False
        return not _PRIVATE.search(source, definition.start, definition.name_start)

    def mute(self, source: bytes) -> bytes:
        return _UNKNOWN.sub(_muted, source)

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        by_heads(found, source, starts, _HEAD, _KINDS)


def _muted(match: re.Match[bytes]) -> bytes:
    text = match.group()
    # An empty tuple and a magic literal are values.
    return {b"()": b"0 ", b"#": b"_"}.get(text, b" " * len(text))
