"""PHP: names without `$` and `\\`, visibility by keyword, words that stand where a class may. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import FUNCTIONS, Family
from ctxd.parse.families.recovery import by_heads

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_HIDING = re.compile(rb"\b(?:private|protected)\b(?!\()")
_ATTRIBUTE = re.compile(rb"^[ \t]*#\[[^\n]*\n?", re.MULTILINE)
_BESIDE = re.compile(rb"__DIR__\s*\.\s*['\"]/")
_HEAD = re.compile(
    rb"^[ \t]*(?:(?:abstract|final|public|private|protected|static|readonly)[ \t]+)*"
    rb"(?P<kind>function|class|interface|trait|enum)[ \t]+&?(?P<name>[A-Za-z_]\w*)(?=[ \t\r\n({:])",
    re.MULTILINE,
)
_KINDS = {b"function": "function", b"class": "class", b"interface": "interface", b"trait": "trait", b"enum": "enum"}
_NO_CLASSES = frozenset({"self", "static", "parent", "mixed"})


class Php(Family):
    """Everything is seen that is neither private nor protected."""

    line_comments = (b"//", b"#")
    signature_ends = " ,:=>"
    constants = re.compile(rb"(?<![\w$])[A-Z][A-Z0-9_]*[A-Z_][A-Z0-9_]+\b")

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "test":
            return " ".join(text.strip("\"'").split()), ""
        return text.removeprefix("$").replace("\\", "."), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is None or parent.kind == "module":
            return True
        if parent.kind in FUNCTIONS and not definition.belongs:
            return False
        return parent.exported and not _HIDING.search(source, definition.head, definition.name_start)

    def prose(self, comment: bytes) -> bytes:
        return _ATTRIBUTE.sub(b"", comment)

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        for start in [start for start, use in found.uses.items() if use.name in _NO_CLASSES]:
            del found.uses[start]
        for use in found.uses.values():
            use.receiver = use.receiver.strip("\\")
        for imported in found.imports.values():
            imported.module = imported.module.strip("\\")
            if imported.module.startswith("/") and _BESIDE.search(
                source, starts[imported.row], starts[imported.row + 1]
            ):
                imported.module = "." + imported.module

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        by_heads(found, source, starts, _HEAD, _KINDS)
