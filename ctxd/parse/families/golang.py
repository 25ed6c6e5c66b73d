"""The Go family: a capital exports. Pure."""

# Hooks take what any family may need.
# ruff: noqa: ARG002

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxd.parse.families.family import Family

if TYPE_CHECKING:
    from ctxd.parse.capture import Definition


class Go(Family):
    """A capital exports."""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        return definition.name[:1].isupper()

    def kind(self, definition: Definition, source: bytes) -> str:
        return definition.kind
