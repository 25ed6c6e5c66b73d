"""The families of R and Julia: definitions by assignment, roxygen and docstrings, what modules export. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.capture import Imported
from ctxd.parse.families import FUNCTIONS, Family

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_TAG = re.compile(rb"@(?:title|description|details|field\s+\S+)\s+")
_EXPORT = re.compile(rb"^#'[ \t]*@export(?:Class|Method|S3Method|Pattern)?\b[^\n]*\n(?:#[^\n]*\n)*", re.MULTILINE)
_IMPORT = re.compile(rb"^#'[ \t]*@import(?P<names>From)?[ \t]+(?P<module>[\w.]+)(?P<list>[^\n]*)", re.MULTILINE)
_FUNCTION = re.compile(rb"(?:\bfunction|\\)\s*\(")
_BRACKET = re.compile(rb"[()]")
_MAX_HEAD = 2000
# Said in every file: nobody asks who calls them.
_R_COMMON = frozenset({"c", "list", "library", "require", "return", "invisible", "requireNamespace"})


class R(Family):
    """`#'` comments with tags; names in backticks."""

    line_comments = (b"#",)
    block_comments = False
    values_own = True

    def name(self, text: str, kind: str) -> tuple[str, str]:
        return text.strip("`\"' \t\n"), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None:
            return parent.exported and parent.kind not in FUNCTIONS and definition.exported
        return definition.exported

    def prose(self, comment: bytes) -> bytes:
        return _TAG.sub(b"", comment)

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        tagged = {match.end() for match in _EXPORT.finditer(source)}
        hidden = [(mark.start, mark.end) for mark in found.marks]
        for one in found.definitions.values():
            if source.startswith(b"\n", one.start - 1) or one.start == 0:
                one.exported = one.start in tagged if tagged else not one.name.startswith(".")
            else:  # a member
                one.exported = not any(start < one.start < end for start, end in hidden)
            if one.body == -1 and one.kind in ("function", "method"):
                one.body = _after_parameters(source, one.name_start, one.end)
        found.uses = {
            start: use for start, use in found.uses.items() if use.kind != "call" or use.name not in _R_COMMON
        }
        for tag in _IMPORT.finditer(source):
            row = bisect_right(starts, tag.start()) - 1
            names = tag["list"].decode("utf-8", "replace").split() if tag["names"] else ["*"]
            found.imports[tag.start()] = Imported(tag["module"].decode(), row, row, names, [""] * len(names))


def _after_parameters(source: bytes, start: int, end: int) -> int:
    """Return the byte after the parameters of the first function written from `start` on; -1 without one."""
    opening = _FUNCTION.search(source, start, end)
    depth = 0
    for bracket in _BRACKET.finditer(source, opening.end() - 1, min(end, opening.end() + _MAX_HEAD)) if opening else ():
        depth += 1 if bracket.group() == b"(" else -1
        if depth == 0:
            return bracket.end()
    return -1
