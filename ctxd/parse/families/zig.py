"""The Zig family: `pub` and `export`, names of tests, quoted names. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import FUNCTIONS, VALUES, Family

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

# What begins a declaration without `pub` and `export`; fields and tags begin with their names.
_PRIVATE = re.compile(rb"(?:const|var|fn|extern|inline|noinline|threadlocal|test|comptime)\b")


class Zig(Family):
    """`pub`, and what stands in a container as visible as the container."""

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "test":
            return " ".join(text.strip('"').split()), ""
        # `const Self = @This();` stands in every container.
        return "" if text == "Self" and kind in VALUES else text.removeprefix('@"').removesuffix('"'), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None and (not parent.exported or parent.kind in FUNCTIONS):
            return False
        return definition.exported or _PRIVATE.match(source, definition.start) is None

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        # The doc comment of a field is a part of its node.
        for definition in found.definitions.values():
            if source.startswith(b"//", definition.start):
                line = starts[definition.name_row]
                text = source[line : definition.name_start]
                definition.start = definition.head = line + len(text) - len(text.lstrip())
                definition.row = definition.name_row
