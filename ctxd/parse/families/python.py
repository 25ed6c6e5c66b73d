"""The Python family: docstrings, underscores, constants by their annotation. Pure."""

# Hooks take what any family may need.

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxd.parse.families.family import Family

if TYPE_CHECKING:
    from ctxd.parse.capture import Definition

_DOCSTRING = re.compile(rb'[rRuU]?("""|\'\'\'|"|\')')


class Python(Family):
    """Docstrings, underscores and annotations."""

    line_comments = (b"#",)
    block_comments = False

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        name = definition.name
        if name.startswith("_") and not (name.startswith("__") and name.endswith("__")):
            return False
        return super().exported(definition, parent, source)

    def kind(self, definition: Definition, source: bytes) -> str:
        if definition.kind == "variable":
            annotation = source[definition.name_start + len(definition.name.encode()) :][:24]
            if b"TypeAlias" in annotation.partition(b"=")[0]:
                return "type"
            if b"Final" in annotation.partition(b"=")[0]:
                return "constant"
        return super().kind(definition, source)

    def docstring(self, source: bytes, body: int) -> bytes:
        opening = _DOCSTRING.match(source, body)
        if opening is None:
            return b""
        quote = opening.group(1)
        end = source.find(quote, opening.end())
        if end == -1:
            return b""
        return source[opening.end() : end]
