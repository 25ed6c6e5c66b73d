"""The C family: declarators, `static`, and what a broken tree hides. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import Family
from ctxd.parse.families.macros import reach
from ctxd.parse.families.recovery import end_of, inside, text_definition

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
# The same where the line above holds all but the name and its parameters.
_BELOW = re.compile(rb"^[A-Za-z_][\w \t*]{0,200}\n(?P<name>[A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
# Macros with arguments stand in front of the name: `void *ATTR(malloc) go(int a)`, on one line or on several.
_BEHIND = re.compile(
    rb"^[A-Za-z_][\w \t*]{0,200}\n?(?<=[\s*])"
    rb"(?>(?:[A-Z][A-Z0-9_]*_[A-Z0-9_]*[ \t]*\((?>[^(){};]|\([^(){};]*\))*\)\s+)+)(?P<name>[a-z_]\w*)[ \t]*\(",
    re.MULTILINE,
)
_RECORD = re.compile(
    rb"^(?:typedef[ \t]+)?(?P<kind>struct|union|enum)[ \t]+(?P<name>[A-Za-z_]\w*)[ \t]*\n?\{", re.MULTILINE
)
_RECORDS = {b"struct": "struct", b"union": "struct", b"enum": "enum"}
_CALLED = re.compile(rb"[ \t]*\w*[ \t]*;")
# It begins with a character that is searched for fast: ten times faster than the beginning of a line.
_MACRO = re.compile(rb"#(?<!\S#)[ \t]*define[ \t]+(?P<name>[A-Za-z_]\w*)(?>[^\\\n]*(?>(?:\\\n?[^\\\n]*)*))")
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
_STARTS = frozenset({"struct", "class", "union", "enum", "typedef", "if", "for", "while", "do", "return"})
_NO_NAMES = frozenset(b"if for while switch sizeof defined __attribute__ __declspec".split()).union(
    name.encode() for name in _TYPES
)
# A kind, what its text matched, where its body begins (-1: none), where it ends.
_Head = tuple[str, re.Match[bytes], int, int]


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
        if kind == "macro" and text in _STARTS:  # a comment in a macro's text ends it for the grammar
            return "", ""
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

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        reach(found, source, starts)

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        by_start = {definition.start: key for key, definition in found.definitions.items()}
        known = {definition.name_start for definition in found.definitions.values()}
        skips = sorted(found.skips)
        begun, heads = _functions(found, source, skips)
        heads += [(_RECORDS[head.group("kind")], head, head.end() - 1, _record_end(source, head.end() - 1))
                  for head in _RECORD.finditer(source) if not inside(skips, head.start())]  # fmt: skip
        for kind, pattern in (("macro", _MACRO), ("variable", _POINTER), ("function", _BRACKETED)):
            for head in pattern.finditer(source):
                if not inside(skips, head.start()) and not _KEYWORD.match(head.group()):
                    # The tree takes the type of `API size_t (*f)(int);` for the name of a function.
                    wrong = found.definitions.get(by_start.get(head.start(), -1))
                    if wrong is not None and wrong.name_start < head.start("name"):
                        del found.definitions[by_start[head.start()]]
                    heads.append((kind, head, -1, head.end()))
        for kind, head, body, end in heads:
            at = head.start("name")
            if at not in known:
                known.add(at)
                found.definitions[at] = text_definition(kind, head, starts, body, end)
        _clip(found, begun, source, starts)


def _functions(found: Captured, source: bytes, skips: Sequence[tuple[int, int]]) -> tuple[list[int], list[_Head]]:
    """Return where functions with a body begin, and all heads; drop what stands for a name in front of their names."""
    keys = {definition.name_start: key for key, definition in found.definitions.items()}
    known = sorted(keys)
    begun: list[int] = []
    heads: list[_Head] = []
    # From the beginning of a head to its name: macros with arguments, which the tree takes for names.
    before: list[tuple[int, int]] = []
    for pattern in (_BEHIND, _HEAD, _BELOW):
        for head in pattern.finditer(source):
            name, at = head.group("name"), head.start("name")
            if _KEYWORD.match(head.group()) or name in _NO_NAMES or inside(skips, head.start()) or inside(before, at):
                continue
            end = _head_end(source, head.end() - 1)
            if source[end - 1 : end] == b"{":
                begun.append(head.start())
                heads.append(("function", head, end - 1, end_of(source, end - 1)))
            elif end != -1 and not name.isupper() and pattern is not _BELOW:
                heads.append(("function", head, -1, end))
            if pattern is _BEHIND and end != -1:
                before.append((head.start(), at))
                for wrong in known[bisect_left(known, head.start()) : bisect_left(known, at)]:
                    found.definitions.pop(keys[wrong], None)
    return sorted(begun), heads


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


def _record_end(source: bytes, body: int) -> int:
    """Return the end of a record whose body begins at `body`, with the name that a typedef gives it."""
    end = end_of(source, body)
    called = _CALLED.match(source, end)
    return called.end() if called else end


def _clip(found: Captured, begun: Sequence[int], source: bytes, starts: Sequence[int]) -> None:
    """End functions before the next one in column 0: unbalanced `#if` branches make them swallow what follows."""
    for definition in found.definitions.values():
        if definition.kind != "function" or definition.body == -1:
            continue
        following = bisect_right(begun, definition.body)
        if following < len(begun) and begun[following] < definition.end:
            definition.end = min(end_of(source, definition.body), begun[following])
            definition.end_row = bisect_left(starts, definition.end) - 1
