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

import msgspec

if TYPE_CHECKING:
    import tree_sitter

    from ctxd.parse.capture import Captured, Definition

# An extension owns what stands in it and, in most languages, is no symbol of its own.
CLASSES = frozenset({"class", "struct", "interface", "trait", "enum", "type", "extension"})
# No text in UTF-8 holds it: for languages whose query sees every constant.
NEVER = re.compile(rb"\xff\xff")
FUNCTIONS = frozenset({"function", "method", "test"})
# They hold no definitions but functions, and inside a function they are locals.
VALUES = frozenset({"variable", "constant", "field"})


class Bound(msgspec.Struct, frozen=True):
    """A name that an import statement binds; `at` is the byte of it in the statement's text. No name: the module."""

    module: str
    name: str = ""
    alias: str = ""
    at: int = 0


class Family:
    """Hooks with the answers that fit most languages."""

    line_comments: tuple[bytes, ...] = (b"//",)
    block_comments = True
    block_marks = (b"/*", b"*/")
    # Lines that begin with `@` directly above a definition belong to it.
    annotations = False
    # Functions written inside a value (an object literal) are its members.
    values_own = False
    # Functions of these are methods.
    method_owners = CLASSES
    # What has its owner written is a method; else it stays the function it was.
    written_owner_makes_method = True
    # A written owner is the whole name, whatever stands around it.
    absolute_owners = False
    # The kind of the symbol that an extension is, in a language that gives it a name of its own; "" = it is none.
    extension_kind = ""
    # Macros have owners like functions.
    owned_macros = False
    # A second value of a name is an assignment to the first, and no definition.
    values_vary = True
    # Types of the language itself: nobody asks who uses them.
    built_in: frozenset[str] = frozenset()
    # What stands between a signature and the body and is of neither.
    signature_ends = " ,:="
    # How a constant's name is written where it is read.
    constants = re.compile(rb"\b[A-Z][A-Z0-9_]*[A-Z_][A-Z0-9_]+\b")

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

    def prose(self, comment: bytes) -> bytes:
        """Return a doc comment without the markup that its language writes into comments."""
        return comment

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        """Correct what the query found before owners are told: join equations, name the unnamed, drop what is none."""

    def imports(self, clause: bytes) -> list[Bound]:
        """Return what an import clause binds that was captured as `@import.clause`."""
        return []

    def breaks(self, source: bytes) -> bool:
        """Return whether a look tells that the tree of a source would be broken, to save the time of a first one."""
        return False

    def mute(self, source: bytes) -> bytes:
        """Return the source of a broken tree with spaces for what its grammar does not know, as long as before."""
        return source

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        """Add definitions that a broken tree hides, by the text."""


def is_constant(name: str) -> bool:
    """Return whether a name is written as a constant: UPPER_CASE, two characters or more."""
    return len(name) > 1 and name.isupper()
