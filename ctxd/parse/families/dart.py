"""The Dart family: underscores, imports with `show` and `as`, receivers spread over siblings. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.capture import LONG_RECEIVER
from ctxd.parse.families.family import FUNCTIONS, Bound, Family
from ctxd.parse.families.recovery import by_heads

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_IMPORT = re.compile(rb"(?:import|export)\s+r?(['\"])(.*?)\1")
_AS = re.compile(rb"\bas\s+(\w+)")
_SHOW = re.compile(rb"\bshow\s+([\w$]+(?:\s*,\s*[\w$]+)*)")
_NAME = re.compile(rb"[\w$]+")
_RECEIVER = re.compile(rb"([A-Za-z_$][\w$.]{0,58})[?!]?\.$")
# What stands before the first variable of a statement.
_TYPE = re.compile(rb"[A-Za-z_(][\w$<>?,.(){} ]*")
# What the grammar does not know: a library without a name, words before fields.
_UNKNOWN = re.compile(
    rb"(?<=\n)[ \t]+(?:abstract|external)(?=[ \t]+(?:final[ \t]+)?[\w<>?,]+[ \t]+\w+;)|(?:^|(?<=\n))library;"
)
_HEAD = re.compile(
    rb"^(?:(?:abstract|sealed|base|final|interface|mixin(?=[ \t]+class))[ \t]+)*"
    rb"(?P<kind>class|enum|mixin|extension type|extension|typedef)[ \t]+(?:const[ \t]+)?"
    rb"(?P<name>(?!on\b)[A-Za-z_$][\w$]*)",
    re.MULTILINE,
)
_KINDS = {b"class": "class", b"enum": "enum", b"mixin": "class", b"extension type": "class", b"extension": "class",
          b"typedef": "type"}  # fmt: skip


class Dart(Family):
    """What begins with an underscore is seen in its library only."""

    values_own = True
    values_vary = False
    built_in = frozenset(("String", "bool", "double", "num", "int", "dynamic", "Object", "Null", "Never", "Function"))

    def name(self, text: str, kind: str) -> tuple[str, str]:
        return " ".join(text.split()), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if definition.name.startswith("_"):
            return False
        return parent is None or (parent.exported and parent.kind not in FUNCTIONS)

    def imports(self, clause: bytes) -> list[Bound]:
        found = _IMPORT.match(clause)
        if found is None:
            return []
        module = found.group(2).decode("utf-8", "replace")
        made: list[Bound] = []
        if alias := _AS.search(clause, found.end()):
            made.append(Bound(module, "*", alias.group(1).decode(), alias.start(1)))
        for shown in _SHOW.finditer(clause, found.end()):
            made += [
                Bound(module, name.group().decode(), "", shown.start(1) + name.start())
                for name in _NAME.finditer(shown.group(1))
            ]
        return made or [Bound(module, "*", "", found.start(2))]

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        """Tell receivers and the beginnings of variables by the text: in the tree they are siblings."""
        for use in found.uses.values():
            if use.kind == "call" and source[use.start - 1 : use.start] == b".":
                before = _RECEIVER.search(source, max(0, use.start - 62), use.start)
                use.receiver = before.group(1).decode("utf-8", "replace") if before else LONG_RECEIVER
        for definition in found.definitions.values():
            if definition.kind == "variable":
                start = starts[definition.row]
                if _TYPE.fullmatch(source, start, definition.start):
                    definition.start = definition.head = start

    def mute(self, source: bytes) -> bytes:
        return _UNKNOWN.sub(lambda found: b" " * len(found.group()), source)

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        by_heads(found, source, starts, _HEAD, _KINDS)
