"""The families of R and Julia: definitions by assignment, roxygen and docstrings, what modules export. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.capture import Imported
from ctxd.parse.families.family import FUNCTIONS, Family
from ctxd.parse.families.recovery import inside, text_definition

if TYPE_CHECKING:
    import tree_sitter

    from ctxd.parse.capture import Captured, Definition

_TAG = re.compile(rb"@(?:title|description|details|field\s+\S+)\s+")
_EXPORT = re.compile(rb"^#'[ \t]*@export(?:Class|Method|S3Method|Pattern)?\b[^\n]*\n(?:#[^\n]*\n)*", re.MULTILINE)
_IMPORT = re.compile(rb"^#'[ \t]*@import(?P<names>From)?[ \t]+(?P<module>[\w.]+)(?P<list>[^\n]*)", re.MULTILINE)
_FUNCTION = re.compile(rb"(?:\bfunction|\\)\s*\(")
_BRACKET = re.compile(rb"[()]")
_MAX_HEAD = 2000
# Looking further for an `end` would cost the file's length for each definition.
_MAX_BODY = 100_000
# Said in every file: nobody asks who calls them.
_R_COMMON = frozenset({"c", "list", "library", "require", "return", "invisible", "requireNamespace"})
_JULIA_NAMES = frozenset({"identifier", "operator", "macro_identifier", "string_literal"})
_JULIA_DOC = re.compile(
    rb'(?:@doc\s+)?(?:raw|md|doc)?(?:"""(?P<block>.*?)"""|"(?P<line>(?:[^"\\\n]|\\.)*)")', re.DOTALL
)
# A docstring opens with how the thing is called, indented.
_JULIA_USAGE = re.compile(rb"\A\s*?\n?(?:(?: {4}|\t)[^\n]*\n)+\s*\n")
_JULIA_EXTENDS = re.compile(rb"\.:?\(?$")
_JULIA_HEAD = re.compile(
    rb"^(?P<indent>[ \t]*)(?:@[\w.]+[ \t]+)*(?P<kind>function|macro|(?:mutable[ \t]+)?struct|abstract[ \t]+type|module)"
    rb"[ \t]+(?:\w+\.)*(?P<name>[^\W\d]\w*!?)(?![\w.])",
    re.MULTILINE,
)
_JULIA_KINDS = {b"function": "function", b"macro": "macro", b"struct": "struct", b"type": "type", b"module": "module"}
_JULIA_COMMON = frozenset(
    """Any Bool Char Float32 Float64 Int Int32 Int64 Integer Nothing Number Real String Symbol Type UInt8 Union Vector
    include new throw""".split()  # noqa: SIM905
)


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
        hidden = sorted((mark.start, mark.end) for mark in found.marks)
        for one in found.definitions.values():
            if source.startswith(b"\n", one.start - 1) or one.start == 0:
                one.exported = one.start in tagged if tagged else not one.name.startswith(".")
            else:  # a member
                one.exported = not inside(hidden, one.start)
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


class Julia(Family):
    """Signatures that are expressions; docstrings above what they document; what modules export."""

    line_comments = (b"#",)
    block_marks = (b"#=", b"=#")
    owned_macros = True
    method_owners = frozenset({"struct"})

    def peel(self, named: tree_sitter.Node, kind: str) -> tuple[tree_sitter.Node | None, str]:
        node: tree_sitter.Node | None = named
        while node is not None and node.type not in _JULIA_NAMES:
            parts = node.named_children
            match node.type:
                case "binary_expression" if kind == "function":
                    node = next((part for part in parts if part.type == "operator"), None)
                case "field_expression":
                    node = parts[-1] if parts else None
                case "parenthesized_expression" if parts and parts[0].type == "typed_expression":
                    # What can be called: `(circle::Circle)(x) = ...`.
                    node = parts[0].named_children[-1] if parts[0].named_children else None
                case "argument_list" | "interpolation_expression":
                    return None, kind
                case _:
                    node = parts[0] if parts else None
        return node, kind

    def name(self, text: str, kind: str) -> tuple[str, str]:
        return text.strip('"\n\t '), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is None or parent.kind == "module":
            return definition.exported
        return parent.exported and parent.kind not in FUNCTIONS

    def prose(self, comment: bytes) -> bytes:
        return _JULIA_USAGE.sub(b"", comment, count=1) or comment

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        names: set[int] = set()
        for one in found.definitions.values():
            names.add(one.name_start)
            extends = _JULIA_EXTENDS.search(source[max(0, one.name_start - 3) : one.name_start]) is not None
            one.exported = (
                one.kind == "module"
                or extends
                or (one.name in found.exports if found.exports else not one.name.startswith("_"))
            )
            if (text := _JULIA_DOC.match(source, _top(found, one.start))) is not None:
                one.doc = text["block"] or text["line"] or b""
        found.uses = {
            start: use
            for start, use in found.uses.items()
            if use.kind == "import" or (start not in names and use.name not in _JULIA_COMMON)
        }

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        known = {one.name_start for one in found.definitions.values()}
        skips = sorted(found.skips)
        for head in _JULIA_HEAD.finditer(source):
            if head.start("name") in known or inside(skips, head.start("name")):
                continue
            line_end = source.find(b"\n", head.end())
            line_end = line_end if line_end != -1 else len(source)
            closing = b"\n" + head["indent"] + b"end"
            one_line = source[head.end() : line_end].rstrip().endswith(b" end")
            close = -1 if one_line else source.find(closing, line_end, line_end + _MAX_BODY)
            end = close + len(closing) if close != -1 else line_end
            kind = _JULIA_KINDS[head["kind"].split()[-1]]
            found.definitions[head.start("name")] = text_definition(kind, head, starts, line_end, end)


def _top(found: Captured, start: int) -> int:
    """Return where the outermost wrapper of what starts at `start` begins."""
    while (wrapper := found.wrappers.get(start)) is not None and wrapper.start < start:
        start = wrapper.start
    return start
