"""The C family: declarators, `static`, and functions that a broken tree hides. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.capture import Definition
from ctxd.parse.families import Family

if TYPE_CHECKING:
    import tree_sitter

    from ctxd.parse.capture import Captured

_STATIC = re.compile(rb"\bstatic\b")
_NAMES = frozenset({"identifier", "type_identifier", "field_identifier"})
# A line that begins in the first column and may be the head of a function.
_HEAD = re.compile(rb"^[A-Za-z_][\w \t*]{0,200}?\b([A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
_PAREN = re.compile(rb"[()]")
# What may stand between the parameters and the body: comments, attributes, macros.
_BEFORE_BODY = re.compile(rb"(?>\s+|/\*(?>[^*]|\*(?!/))*\*/|//[^\n]*|[A-Za-z_]\w*|\((?>[^(){};]|\([^(){};]*\))*\))*+\{")
_MAX_HEAD = 3000
_KEYWORDS = frozenset(
    b"if for while switch return else sizeof do case defined typedef __attribute__ __declspec".split()
)


class C(Family):
    """Declarators, `static`, macros."""

    def peel(self, named: tree_sitter.Node, kind: str) -> tuple[tree_sitter.Node | None, str]:
        node: tree_sitter.Node | None = named
        function = False
        while node is not None and node.type not in _NAMES:
            kind_of = node.type
            if kind_of == "primitive_type":  # a type name that the grammar believes built in
                return node, kind
            inner = node.child_by_field_name("declarator")
            if kind_of == "function_declarator":
                function = inner is not None and inner.type != "parenthesized_declarator"
            elif inner is None and kind_of in ("parenthesized_declarator", "attributed_declarator"):
                inner = node.named_child(0)
            node = inner
        if kind == "variable" and function:
            kind = "function"
        return node, kind

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if definition.kind in ("function", "variable"):
            return not _STATIC.search(source, definition.start, definition.name_start)
        return True

    def kind(self, definition: Definition, source: bytes) -> str:
        return definition.kind

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        known = {definition.name_start for definition in found.definitions.values()}
        skips = sorted(found.skips)
        begun: list[int] = []
        for head in _HEAD.finditer(source):
            if head.group(1) in _KEYWORDS or _inside(skips, head.start()):
                continue
            body = _body_of(source, head.end() - 1)
            if body == -1:
                continue
            begun.append(head.start())
            if head.start(1) not in known:
                found.definitions[head.start(1)] = _function(source, starts, head, body)
        _clip(found, begun, source, starts)


def _inside(skips: Sequence[tuple[int, int]], at: int) -> bool:
    place = bisect_right(skips, (at, len(skips) + at)) - 1
    return place >= 0 and skips[place][1] > at


def _body_of(source: bytes, opening: int) -> int:
    """Return where the `{` of a function's body is, given the `(` of its parameters; -1 when none follows."""
    depth = 0
    for paren in _PAREN.finditer(source, opening, opening + _MAX_HEAD):
        depth += 1 if paren.group() == b"(" else -1
        if depth == 0:
            after = _BEFORE_BODY.match(source, paren.end(), paren.end() + _MAX_HEAD)
            return after.end() - 1 if after else -1
    return -1


def _function(source: bytes, starts: Sequence[int], head: re.Match[bytes], body: int) -> Definition:
    end = _end_of(source, body)
    row = bisect_right(starts, head.start()) - 1
    return Definition(
        kind="function",
        name=head.group(1).decode(),
        start=head.start(),
        end=end,
        row=row,
        end_row=bisect_left(starts, end) - 1,
        head=head.start(),
        name_start=head.start(1),
        name_row=bisect_right(starts, head.start(1)) - 1,
        body=body,
        pattern=-1,
    )


def _end_of(source: bytes, body: int) -> int:
    """Return the end of a body that begins at `body`: its line when it closes there, else the next `}` in column 0."""
    line_end = source.find(b"\n", body)
    line = source[body : line_end if line_end != -1 else len(source)]
    if line.count(b"{") == line.count(b"}"):
        return body + line.rfind(b"}") + 1
    close = source.find(b"\n}", body)
    return close + 2 if close != -1 else body + len(line)


def _clip(found: Captured, begun: Sequence[int], source: bytes, starts: Sequence[int]) -> None:
    """End functions before the next one in column 0: unbalanced `#if` branches make them swallow what follows."""
    for definition in found.definitions.values():
        if definition.kind != "function" or definition.body == -1:
            continue
        following = bisect_right(begun, definition.body)
        if following < len(begun) and begun[following] < definition.end:
            definition.end = min(_end_of(source, definition.body), begun[following])
            definition.end_row = bisect_left(starts, definition.end) - 1
