"""What a query cannot say about a family of languages: comment marks, visibility, declarators, docstrings. Pure.

A language names its family in its row. `Family` itself is right for languages with `//` and `/* */` comments whose
visibility is not written.
"""

# Hooks take what any family may need.
# ruff: noqa: ARG002

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tree_sitter

    from ctxd.parse.capture import Captured, Definition

_DOCSTRING = re.compile(rb'[rRuU]?("""|\'\'\'|"|\')')
CLASSES = frozenset({"class", "struct", "interface", "trait", "enum", "type"})
FUNCTIONS = frozenset({"function", "method", "test"})
# They hold no definitions but functions, and inside a function they are locals.
VALUES = frozenset({"variable", "constant", "field"})


class Family:
    """Hooks with the answers that fit most languages."""

    line_comments: tuple[bytes, ...] = (b"//",)
    block_comments = True
    block_marks = (b"/*", b"*/")
    # Lines that begin with `@` directly above a definition belong to it.
    annotations = False
    # Functions written inside a value (an object literal) are its members.
    values_own = False

    def peel(self, named: tree_sitter.Node, kind: str) -> tuple[tree_sitter.Node | None, str]:
        """Return the node of the name itself and the kind; None when there is no name in it."""
        return named, kind

    def name(self, text: str, kind: str) -> tuple[str, str]:
        """Return the name and the owner that the name's own text tells; "" drops the definition."""
        return text, ""

    def own(self, definition: Definition) -> None:
        """Correct a definition whose owner is written."""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        """Return whether other files can see it."""
        return parent is None or (parent.exported and parent.kind not in FUNCTIONS)

    def kind(self, definition: Definition, source: bytes) -> str:
        """Return the kind of a variable at the top or in a class, before it is called a field."""
        if definition.kind == "variable" and is_constant(definition.name):
            return "constant"
        return definition.kind

    def docstring(self, source: bytes, body: int) -> bytes:
        """Return the text of the docstring that opens the body at byte `body`."""
        return b""

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        """Correct what the query found before owners are told: join equations, name the unnamed, drop what is none."""

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        """Add definitions that a broken tree hides, by the text."""


def is_constant(name: str) -> bool:
    """Return whether a name is written as a constant: UPPER_CASE, two characters or more."""
    return len(name) > 1 and name.isupper()


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


class Go(Family):
    """A capital exports."""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        return definition.name[:1].isupper()

    def kind(self, definition: Definition, source: bytes) -> str:
        return definition.kind
