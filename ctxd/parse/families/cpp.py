"""The C++ family: qualified names, operators, sections of a class, macros that break the tree. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.c import C
from ctxd.parse.families.macros import has_macros, reach, without_macros
from ctxd.parse.families.recovery import by_heads, indented_end, inside, text_definition

if TYPE_CHECKING:
    import tree_sitter

    from ctxd.parse.capture import Captured, Definition

_STATIC = re.compile(rb"\bstatic\b")
_NAMES = frozenset({
    "identifier", "type_identifier", "field_identifier", "namespace_identifier", "nested_namespace_specifier",
    "qualified_identifier", "template_type", "template_function", "destructor_name", "operator_name", "operator_cast",
    "primitive_type",
})  # fmt: skip
_OPERATOR = re.compile(r"\boperator\b\s*")
_SYMBOL = re.compile(r"\(\s*\)|\[\s*\]|\"\"\s*\w+|[^\w\s(]+|(?:new|delete|co_await)\b(?:\s*\[\s*\])?")
# The line that begins a type, for trees that are broken all the same.
_HEAD = re.compile(
    rb"^[ \t]*(?:template[ \t]*<[^;{}()\n]*>[ \t]*)?(?P<kind>class|struct|union|enum[ \t]+class|enum|namespace)[ \t]+"
    rb"(?:[A-Z][A-Z0-9_]+(?:\([^()\n]*\))?[ \t]+(?=[A-Za-z_]))?(?P<name>[A-Za-z_]\w*)"
    rb"(?=\s*(?:final\b\s*)?(?::[^;(){}]{0,400})?\{)",
    re.MULTILINE,
)
# A test of googletest, Catch, doctest or Boost.
_TEST = re.compile(
    rb"^[ \t]*(?P<kind>(?:TYPED_)?TEST(?:_[A-Z]+)*|SCENARIO|(?:BOOST|DOCTEST)_[A-Z_]*TEST_CASE)[ \t]*\(\s*"
    rb"(?:(?P<suite>\w+)\s*,\s*)?(?P<name>\w+|\"(?:[^\"\\\n]|\\.)*\")[^(){};]*\)\s*\{",
    re.MULTILINE,
)
_KINDS = {b"class": "class", b"struct": "struct", b"union": "struct", b"enum": "enum", b"enum class": "enum",
          b"namespace": "module"}  # fmt: skip


class Cpp(C):
    """Qualified names, operators, sections."""

    def peel(self, named: tree_sitter.Node, kind: str) -> tuple[tree_sitter.Node | None, str]:
        node: tree_sitter.Node | None = named
        function = False
        while node is not None and node.type not in _NAMES:
            inner = node.child_by_field_name("declarator")
            if node.type == "function_declarator":
                function = inner is not None and inner.type != "parenthesized_declarator"
            elif inner is None:
                inner = node.named_child(0) if node.type.endswith("_declarator") else None
            node = inner
        if node is not None and node.type in ("template_type", "template_function"):
            node = node.child_by_field_name("name")
        if kind in ("variable", "field") and (function or (node is not None and node.type == "operator_cast")):
            kind = "function"
        return node, kind

    def name(self, text: str, kind: str) -> tuple[str, str]:
        operator = _OPERATOR.search(text)
        scopes = _scopes(text[: operator.start()] if operator else text)
        name = _operator(text[operator.end() :]) if operator else scopes.pop()
        name, _ = super().name(name, kind)
        return name, ".".join(scope for scope in scopes if scope)

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None and parent.kind != "module":
            return parent.exported and definition.exported
        free = definition.kind in ("function", "variable") and not definition.owner
        return definition.exported and not (free and _STATIC.search(source, definition.start, definition.name_start))

    def breaks(self, source: bytes) -> bool:
        return has_macros(source)

    def mute(self, source: bytes) -> bytes:
        return without_macros(source)

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        _test(found, source, starts)
        _see(found, source)
        reach(found, source, starts)

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        super().recover(found, source, starts)
        by_heads(found, source, starts, _HEAD, _KINDS)


def _test(found: Captured, source: bytes, starts: Sequence[int]) -> None:
    """Take tests that macros begin for what they are: to the grammar they are functions named TEST, or calls."""
    skips = sorted(found.skips)
    for head in _TEST.finditer(source):
        if inside(skips, head.start("kind")):
            continue
        body = head.end() - 1
        definition = text_definition("test", head, starts, body, indented_end(source, body, head.group()))
        suite, name = head.group("suite"), definition.name.strip('"')
        definition.name = f"{suite.decode()}.{name}" if suite else name
        definition.start = definition.head = head.start("kind")
        found.definitions.pop(head.start("kind"), None)
        found.definitions[head.start("name")] = definition


def _scopes(text: str) -> list[str]:
    """Return what `::` separates, without template arguments."""
    depth = 0
    kept: list[str] = []
    for character in text:
        depth -= character == ">"
        if depth <= 0:
            kept.append(character)
        depth += character == "<"
    return ["".join(part.strip(" <>").split()) for part in "".join(kept).split("::")]


def _operator(text: str) -> str:
    """Return `operator==`, `operator bool` for what follows the word."""
    if symbol := _SYMBOL.match(text):
        joint = " " if symbol.group()[0].isalpha() else ""
        return "operator" + joint + "".join(symbol.group().split())
    return "operator " + " ".join(text.partition("(")[0].split())


def _see(found: Captured, source: bytes) -> None:
    """Mark as exported what stands in a public section, and not in a namespace without a name."""
    definitions = found.definitions.values()
    # Where each begins, the longer first, and what it is; a mark has no definition.
    events: list[tuple[int, int, Definition | None, str]] = [(d.start, -d.end, d, d.kind) for d in definitions]
    events += [(mark.start, -mark.end, None, mark.kind) for mark in found.marks]
    events.sort(key=lambda event: event[:2])
    # What is open: where it ends, and whether its present section is visible.
    stack: list[tuple[int, bool]] = []
    for start, end, definition, kind in events:
        while stack and stack[-1][0] <= start:
            stack.pop()
        visible = stack[-1][1] if stack else True
        if definition is not None:
            definition.exported = visible
            if kind in ("class", "struct") and definition.body != -1:
                stack.append((-end, kind == "struct"))
        elif kind == "unnamed":
            stack.append((-end, False))
        elif stack:
            stack[-1] = (stack[-1][0], source.startswith(b"public", start))
