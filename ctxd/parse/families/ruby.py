"""Ruby: visibility by sections and by names, owners in paths, constants told from classes by their case. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from ctxd.parse.capture import Mark, Use
from ctxd.parse.families.attributes import attach
from ctxd.parse.families.family import CLASSES, FUNCTIONS, NEVER, Family, is_constant

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_SYMBOL = re.compile(rb":\"?(\w+[?!=]?)")
# Comment lines that speak to tools.
_DIRECTIVE = re.compile(
    rb"^[ \t]*#[ \t]*(?::[a-z]+:|frozen_string_literal|encoding:|coding:|-\*-|rubocop:)[^\n]*\n?", re.M
)
_HIDING = frozenset({b"private", b"protected"})
# `private` with more names than this is no list of names.
_MAX_NAMES = 2000
# A name that is given a value is no call.
_ASSIGNED = re.compile(rb"^[ \t]*([a-z_]\w*)[ \t]*(?:\|\||&&|[-+*/])?=(?![=~>])", re.MULTILINE)
_BUILT_IN = frozenset(
    """Array Class Comparable Enumerable FalseClass Float Hash Integer Kernel Math Module NilClass Object Proc
    StandardError String Struct Symbol Time TrueClass""".split()  # noqa: SIM905
)
# Words of the language, of its libraries and of Rails that are written as calls.
_WORDS = frozenset(
    """alias_method attr attr_accessor attr_reader attr_writer autoload belongs_to context define_method delegate
    describe extend has_many has_one include it loop module_function namespace prepend private private_class_method
    private_constant protected public raise require require_relative scope sig task test""".split()  # noqa: SIM905
)


class _Scope(msgspec.Struct):
    """A class, module or `class << self` that is open; its index stands for it."""

    end: int
    index: int
    name: str
    hiding: bool = False


class Ruby(Family):
    """Everything is seen that no `private` hides."""

    line_comments = (b"#",)
    block_comments = False
    method_owners = CLASSES | {"module"}
    signature_ends = " ,:=;"
    # The query sees every constant.
    constants = NEVER

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "test":
            return " ".join(text.strip("\"'").split()), ""
        return text.strip("\"'").removeprefix(":").strip("\"'"), ""

    def own(self, definition: Definition) -> None:
        definition.owner = definition.owner.removeprefix("::").replace("::", ".")

    def kind(self, definition: Definition, source: bytes) -> str:
        return definition.kind

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None and (not parent.exported or parent.kind in FUNCTIONS):
            return False
        return definition.exported

    def prose(self, comment: bytes) -> bytes:
        return _DIRECTIVE.sub(b"", comment)

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        _see(found, source)
        plain = [d for d in found.definitions.values() if d.start not in found.wrappers]
        attach(plain, [mark for mark in found.marks if mark.kind == "attribute"], source)
        names = {definition.name_start for definition in found.definitions.values()}
        unwanted = []
        for start, use in found.uses.items():
            if use.kind == "type":
                # In A::B only B is used.
                if start in names or use.name in _BUILT_IN or source.startswith(b"::", start + len(use.name.encode())):
                    unwanted.append(start)
                elif is_constant(use.name):
                    use.kind = "constant"
            elif use.name[:1] == ":":
                use.name = use.name[1:]
            elif use.kind == "call" and not use.receiver and use.name in _WORDS:
                unwanted.append(start)
        for start in unwanted:
            del found.uses[start]
        _add_bare_calls(found, source)
        for imported in found.imports.values():
            imported.names = [name.removeprefix(":") for name in imported.names]
            line = source[starts[imported.row] : starts[imported.row + 1]].lstrip()
            if line.startswith(b"require_relative") and not imported.module.startswith((".", "/")):
                imported.module = "./" + imported.module


def _see(found: Captured, source: bytes) -> None:
    """Mark as exported what no `private` hides: not from a line on, not by name, not as the word before `def`."""
    events: list[Definition | Mark] = [mark for mark in found.marks if mark.kind not in ("attribute", "bare")]
    events += found.definitions.values()
    events.sort(key=lambda event: event.start)
    stack = [_Scope(len(source) + 1, 0, "")]
    count, hidden_until = 0, -1
    named: set[tuple[int, str]] = set()
    inside: list[tuple[int, Definition]] = []
    for event in events:
        while stack[-1].end <= event.start:
            stack.pop()
        scope = stack[-1]
        if isinstance(event, Mark):
            text = source[event.start : min(event.end, event.start + _MAX_NAMES)]
            if event.kind == "section":
                scope.hiding = text in _HIDING
            elif event.kind == "hidden":
                hidden_until = event.end
                named.update((scope.index, match.group(1).decode()) for match in _SYMBOL.finditer(text))
            else:
                count += 1
                stack.append(_Scope(event.end, count, scope.name))
        elif event.kind in ("class", "module"):
            event.exported = True
            count += 1
            stack.append(_Scope(event.end, count, event.name))
        else:
            if event.owner == scope.name:
                event.owner = ""  # `def Shop.open` inside Shop
            event.exported = event.start >= hidden_until and not (scope.hiding and _is_hideable(event, source))
            inside.append((scope.index, event))
    for index, definition in inside:
        definition.exported &= (index, definition.name) not in named


def _add_bare_calls(found: Captured, source: bytes) -> None:
    """Add calls without receiver and arguments where the file defines the method or the name can be nothing else."""
    methods = {d.name for d in found.definitions.values() if d.kind == "method"}
    methods.difference_update(match.group(1).decode() for match in _ASSIGNED.finditer(source))
    for mark in found.marks:
        if mark.kind == "bare":
            name = source[mark.start : mark.end].decode("utf-8", "replace")
            if name in methods or name.endswith(("?", "!")):
                found.uses.setdefault(mark.start, Use(name, "call", mark.start, mark.row, 0, ""))


def _is_hideable(definition: Definition, source: bytes) -> bool:
    """Return whether a line `private` above counts: it does not for constants, nor for `def self.x`."""
    if definition.kind not in ("method", "field"):
        return False
    return b"." not in source[definition.start : definition.name_start]
