"""The families of Java, Kotlin and Scala: visibility by modifiers, markup in doc comments, companions. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ctxd.parse.families import CLASSES, FUNCTIONS, Family

if TYPE_CHECKING:
    from ctxd.parse.capture import Definition

_SHOWN = re.compile(rb"\b(?:public|protected)\b")
_HIDDEN = re.compile(rb"\b(?:private|internal)\b")
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
