"""The C family: declarators, `static`, and what a broken tree hides. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families import Family
from ctxd.parse.recovery import end_of, inside, text_definition

if TYPE_CHECKING:
    import tree_sitter

    from ctxd.parse.capture import Captured, Definition

# `int a; ///< what it is`
_TRAILING = re.compile(rb"^([ \t]*(?://[/!]|/\*[*!]))<", re.MULTILINE)
_BRIEF = re.compile(rb"[@\\](?:brief|short)\b[ \t]*")
_STATIC = re.compile(rb"\bstatic\b")
_NAMES = frozenset({"identifier", "type_identifier", "field_identifier"})
# A line that begins in the first column and may be the head of a function.
_HEAD = re.compile(rb"^[A-Za-z_][\w \t*]{0,200}?\b(?P<name>[A-Za-z_]\w*)[ \t]*\((?![ \t]*\*)", re.MULTILINE)
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)(?>(?:[^\\\n]|\\\n?)*)", re.MULTILINE)
_PAREN = re.compile(rb"[()]")
# What may stand between the parameters and the body: comments, attributes, macros.
_AFTER_HEAD = re.compile(
    rb"(?>(?:\s+|/\*(?>[^*]|\*(?!/))*\*/|//[^\n]*|[A-Za-z_]\w*|\((?>[^(){};]|\([^(){};]*\))*\))*)[{;]"
)
# `API int (*name)(...);`, and `API int (name)(...);` as Lua writes it.
_POINTER = re.compile(
    rb"^[A-Za-z_][\w \t*]{0,200}?\([ \t]*\*+[ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*\)[ \t]*\([^;{}]{0,3000};", re.MULTILINE
)
_BRACKETED = re.compile(
    rb"^[A-Za-z_][\w \t*]{0,200}?\([ \t]*(?P<name>[A-Za-z_]\w*)[ \t]*\)[ \t]*\([^;{}]{0,3000};", re.MULTILINE
)
# No head is longer, no parameter nests deeper.
_MAX_HEAD = 3000
_MAX_PARENS = 20
_KEYWORD = re.compile(rb"(?:if|for|while|switch|return|else|do|case|goto|typedef)\b")
_TYPES = frozenset({"void", "int", "char", "long", "short", "float", "double", "unsigned", "signed", "const"})
_NO_NAMES = frozenset(b"if for while switch sizeof defined __attribute__ __declspec".split()).union(
    name.encode() for name in _TYPES
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

    def name(self, text: str, kind: str) -> tuple[str, str]:
        # `API void (*f)(int);` is read as a function named void.
        return ("" if text in _TYPES and kind != "type" else text), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if definition.kind in ("function", "variable"):
            return not _STATIC.search(source, definition.start, definition.name_start)
        return True

    def kind(self, definition: Definition, source: bytes) -> str:
        return definition.kind

    def prose(self, comment: bytes) -> bytes:
        return _BRIEF.sub(b"", _TRAILING.sub(rb"\1", comment))

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        known = {definition.name_start for definition in found.definitions.values()}
        by_start = {definition.start: key for key, definition in found.definitions.items()}
        skips = sorted(found.skips)
        begun: list[int] = []

        def add(kind: str, head: re.Match[bytes], body: int, end: int) -> None:
            if head.start("name") not in known:
                found.definitions[head.start("name")] = text_definition(kind, head, starts, body, end)

        for head in _HEAD.finditer(source):
            name = head.group("name")
            if _KEYWORD.match(head.group()) or name in _NO_NAMES or inside(skips, head.start()):
                continue
            end = _head_end(source, head.end() - 1)
            if source[end - 1 : end] == b"{":
                begun.append(head.start())
                add("function", head, end - 1, end_of(source, end - 1))
            elif end != -1 and not name.isupper():
                add("function", head, -1, end)
        for kind, pattern in (("macro", _MACRO), ("variable", _POINTER), ("function", _BRACKETED)):
            for head in pattern.finditer(source):
                if not inside(skips, head.start()) and not _KEYWORD.match(head.group()):
                    # The tree takes the type of `API size_t (*f)(int);` for the name of a function.
                    wrong = found.definitions.get(by_start.get(head.start(), -1))
                    if wrong is not None and wrong.name_start < head.start("name"):
                        del found.definitions[by_start[head.start()]]
                    add(kind, head, -1, head.end())
        _clip(found, begun, source, starts)


def _head_end(source: bytes, opening: int) -> int:
    """Return the byte after the `{` or `;` that follows the parameters, given their `(`; -1 for anything else."""
    depth = 0
    for paren in _PAREN.finditer(source, opening, opening + _MAX_HEAD):
        depth += 1 if paren.group() == b"(" else -1
        if depth == 0:
            after = _AFTER_HEAD.match(source, paren.end(), paren.end() + _MAX_HEAD)
            return after.end() if after else -1
        if depth > _MAX_PARENS:
            break
    return -1


def _clip(found: Captured, begun: Sequence[int], source: bytes, starts: Sequence[int]) -> None:
    """End functions before the next one in column 0: unbalanced `#if` branches make them swallow what follows."""
    for definition in found.definitions.values():
        if definition.kind != "function" or definition.body == -1:
            continue
        following = bisect_right(begun, definition.body)
        if following < len(begun) and begun[following] < definition.end:
            definition.end = min(end_of(source, definition.body), begun[following])
            definition.end_row = bisect_left(starts, definition.end) - 1
