"""Elixir: clauses of one function are one symbol, attributes above belong to it, modules are named by paths. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.capture import Mark
from ctxd.parse.families.attributes import adjacent, attach
from ctxd.parse.families.family import CLASSES, FUNCTIONS, NEVER, Bound, Family

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_HIDDEN = (b"defp ", b"defp(", b"defmacrop", b"defguardp", b"@typep")
_TEXT = re.compile(rb"@\w+\s+(?:~[sS])?(\"\"\"|'''|\")")
_CLAUSE = re.compile(rb"(?P<word>alias|import|require|use)[\s(]+(?P<module>[A-Z_][\w.]*)(?P<rest>.*)", re.DOTALL)
_AS = re.compile(rb"\bas:\s*(?P<name>[A-Z][\w.]*)")
_ONLY = re.compile(rb"\bonly:\s*\[(?P<names>[^\]]*)\]")
_KEY = re.compile(rb"([a-z_]\w*[?!]?):")
_MODULE = re.compile(rb"[A-Z][\w.]*")
# Attributes that the language reads itself.
_ATTRIBUTES = frozenset(
    """after_compile after_verify before_compile behaviour callback compile deprecated derive describetag dialyzer doc
    enforce_keys external_resource fallback_to_any impl macrocallback moduledoc moduletag on_definition on_load opaque
    optional_callbacks since spec tag type typedoc typep vsn""".split()  # noqa: SIM905
)
_BUILT_IN = frozenset(
    """Access Agent Application Atom Enum Exception File Float GenServer IO Inspect Integer Kernel Keyword List Logger
    Macro Map MapSet Module Path Process Range Regex Registry Stream String System Task Tuple""".split()  # noqa: SIM905
)
# Words of the language and of its libraries that are written as calls.
_WORDS = frozenset(
    """alias assert case cond def defdelegate defexception defguard defguardp defimpl defmacro defmacrop defmodule
    defoverridable defp defprotocol defstruct describe elem field fn for hd if import inspect is_atom is_binary
    is_bitstring is_boolean is_exception is_float is_function is_integer is_list is_map is_map_key is_nil is_number
    is_pid is_port is_reference is_struct is_tuple length map_size quote raise receive refute require send test throw
    tl try tuple_size unless unquote unquote_splicing use with""".split()  # noqa: SIM905
)


class Elixir(Family):
    """Everything is seen that its own word does not hide."""

    line_comments = (b"#",)
    block_comments = False
    owned_macros = True
    written_owner_makes_method = False
    # The query sees every attribute.
    constants = NEVER

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "test":
            return " ".join(text.strip('"').split()), ""
        if kind in CLASSES or kind == "module":
            owner, _, name = text.rpartition(".")
            return name, owner
        if (kind == "constant" and text in _ATTRIBUTES) or text == "unquote":
            return "", ""
        return text.strip(": "), ""

    def kind(self, definition: Definition, source: bytes) -> str:
        return definition.kind

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if source.startswith(_HIDDEN, definition.head) or definition.kind == "constant":
            return False
        return parent is None or (parent.exported and parent.kind not in FUNCTIONS)

    def imports(self, clause: bytes) -> list[Bound]:
        match = _CLAUSE.match(clause)
        if match is None:
            return []
        module, rest, at = match.group("module").decode(), match.group("rest"), match.start("module")
        if module.endswith(".") and rest.lstrip().startswith(b"{"):
            inner = rest.partition(b"}")[0]
            parts = [(found.group().decode(), match.start("rest") + found.start()) for found in _MODULE.finditer(inner)]
            return [Bound(module + part, "*", part.rpartition(".")[2], start) for part, start in parts]
        renamed = _AS.search(rest)
        if match.group("word") == b"alias" or renamed is not None:
            short = renamed.group("name").decode() if renamed is not None else module.rpartition(".")[2]
            return [Bound(module, "*", short, at)]
        if match.group("word") == b"import":
            only = _ONLY.search(rest)
            if only is None:
                return [Bound(module, "*", "", at)]
            start = match.start("rest") + only.start("names")
            names = _KEY.finditer(only.group("names"))
            return [Bound(module, key.group(1).decode(), "", start + key.start()) for key in names]
        return [Bound(module, "", "", at)]

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        _settle_uses(found)
        ordered = sorted(found.definitions.values(), key=lambda definition: definition.start)
        attributes = [mark for mark in found.marks if mark.kind == "attribute"]
        for definition, marks in attach(ordered, attributes, source):
            for mark in marks:
                definition.doc = definition.doc or _text(mark, source)
        _document_modules(found, ordered, source)
        _join(found, source)


def _document_modules(found: Captured, ordered: Sequence[Definition], source: bytes) -> None:
    """Give each `@moduledoc` to the innermost module around it."""
    events: list[Definition | Mark] = [d for d in ordered if d.kind in ("module", "interface")]
    events += [mark for mark in found.marks if mark.kind == "moduledoc"]
    events.sort(key=lambda event: event.start)
    stack: list[Definition] = []
    for event in events:
        while stack and stack[-1].end <= event.start:
            stack.pop()
        if isinstance(event, Mark):
            if stack:
                stack[-1].doc = stack[-1].doc or _text(event, source)
        else:
            stack.append(event)


def _text(mark: Mark, source: bytes) -> bytes:
    """Return the string of a doc attribute; nothing for others."""
    if not source.startswith((b"@doc", b"@typedoc", b"@moduledoc"), mark.start):
        return b""
    opening = _TEXT.match(source, mark.start, mark.end)
    if opening is None:
        return b""
    end = source.rfind(opening.group(1), opening.end(), mark.end)
    return source[opening.end() : end] if end != -1 else b""


def _settle_uses(found: Captured) -> None:
    """Split module paths; what stands in a specification is no call, nor is a head of a definition."""
    heads = {definition.name_start for definition in found.definitions.values()}
    specs = sorted((mark.start, mark.end) for mark in found.marks if mark.kind == "types")
    for start, use in list(found.uses.items()):
        if use.kind == "call":
            place = bisect_right(specs, (start,)) - 1
            inside = place >= 0 and specs[place][1] > start
            if inside or start in heads or (not use.receiver and (use.name in _WORDS or use.name in _ATTRIBUTES)):
                del found.uses[start]
        elif (use.kind == "constant" and use.name in _ATTRIBUTES) or (use.kind == "type" and use.name in _BUILT_IN):
            del found.uses[start]
        elif "." in use.name:
            owner, _, use.name = use.name.rpartition(".")
            use.receiver = use.receiver or owner


def _join(found: Captured, source: bytes) -> None:
    """Make one definition of clauses that follow each other: the same name and number of parameters."""
    clauses = [(at, d) for at, d in found.definitions.items() if d.kind in ("function", "macro")]
    clauses.sort(key=lambda clause: clause[1].start)
    first: Definition | None = None
    for at, clause in clauses:
        if first is not None and _is_clause(first, clause) and adjacent(source, first.end, clause.start):
            if first.body == -1:
                first.body = first.end  # a head of its own: the signature ends with it
            first.end, first.end_row = clause.end, clause.end_row
            del found.definitions[at]
        else:
            first = clause


def _is_clause(first: Definition, other: Definition) -> bool:
    return (first.name, first.kind, max(first.arity, 0)) == (other.name, other.kind, max(other.arity, 0))
