"""The family of JavaScript and TypeScript: export statements, `exports.x`, prototypes, `this.x`. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import FUNCTIONS, Family
from ctxd.parse.families.recovery import end_of, inside, text_definition

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_PRIVATE = re.compile(rb"\b(?:private|protected)\b")
# A declaration that begins in the first column.
_HEAD = re.compile(
    rb"^(?=[a-z])(?:export +)?(?:default +)?(?:declare +)?(?:abstract +)?(?:async +)?"
    rb"(?P<kind>function|class|interface|enum|type|namespace)\*? +(?P<name>[A-Za-z_$][\w$]*)",
    re.MULTILINE,
)
_KINDS = {
    b"function": "function",
    b"class": "class",
    b"interface": "interface",
    b"enum": "enum",
    b"type": "type",
    b"namespace": "module",
}


class Ecma(Family):
    """JavaScript and TypeScript: export statements, `exports.x`, prototypes, `this.x`."""

    annotations = True
    values_own = True

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "test":
            return " ".join(text.strip("\"'`").split()), ""
        text = text.strip("[]\"'` ")
        if "\n" in text:
            return "", ""
        owner, dot, last = text.rpartition(".")
        return (last, owner) if dot and kind == "module" else (text, "")

    def own(self, definition: Definition) -> None:
        owner, name = definition.owner, definition.name
        if owner == "this":
            definition.belongs, definition.owner = True, ""
        elif owner == "module" and name == "exports":
            definition.name, definition.owner, definition.exported = "default", "", True
        elif owner in ("exports", "module.exports"):
            definition.owner, definition.exported = "", True
        elif definition.kind != "module":
            definition.owner = owner.removesuffix(".prototype").rpartition(".")[2].strip("()[]\"' ")

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if definition.name.startswith("#"):
            return False
        if parent is None:
            return definition.exported
        if parent.kind in ("module", "test") or parent.kind in FUNCTIONS:
            return definition.exported and parent.exported
        return parent.exported and not _PRIVATE.search(source, definition.start, definition.name_start)

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        known = {definition.name_start for definition in found.definitions.values()}
        skips = sorted(found.skips)
        for head in _HEAD.finditer(source):
            if head.start("name") in known or inside(skips, head.start()):
                continue
            line_end = source.find(b"\n", head.end())
            body = source.find(b"{", head.end(), line_end if line_end != -1 else len(source))
            end = end_of(source, body) if body != -1 else max(line_end, head.end())
            definition = text_definition(_KINDS[head.group("kind")], head, starts, body, end)
            definition.exported = head.group().startswith(b"export")
            found.definitions[head.start("name")] = definition
