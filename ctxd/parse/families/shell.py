"""Shell: variables in capitals or declared, the tests of Bats, commands that are no functions. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import FUNCTIONS, Family, is_constant
from ctxd.parse.families.recovery import end_of, inside, text_definition

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_TEST = re.compile(
    rb"^[ \t]*@test[ \t]+(?P<name>\"(?>(?:[^\"\\\n]|\\.)*)\"|'[^'\n]*'|[^\s{\"']+)[ \t]*(?=\{)", re.MULTILINE
)
_FUNCTION = re.compile(
    rb"^[ \t]*(?:function[ \t]+(?=[\w:.-]+[ \t]*[({\n])|(?=[\w:.-]+[ \t]*\([ \t]*\)))(?P<name>[A-Za-z_][\w:.-]*)"
    rb"[ \t]*(?:\([ \t]*\))?[ \t]*\n?[ \t]*(?=\{)",
    re.MULTILINE,
)
_DIRECTIVE = re.compile(rb"^[ \t]*#[ \t]*shellcheck[ \t][^\n]*\n?", re.MULTILINE)
# Commands of the shell itself: nobody asks who calls them.
_BUILTINS = frozenset(
    """. : [ [[ alias break builtin cd command continue declare echo eval exec exit export false getopts let local popd
    printf pushd pwd read readonly return set shift shopt source test trap true type typeset ulimit umask unalias unset
    wait }""".split()  # noqa: SIM905
)


class Shell(Family):
    """Everything is seen by whoever sources the file, save what begins with an underscore."""

    line_comments = (b"#",)
    block_comments = False
    constants = re.compile(rb"(?:(?<=\$)|(?<=\$\{))[A-Z][A-Z0-9_]*[A-Z_][A-Z0-9_]+\b")

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "variable" and not is_constant(text):
            return "", ""
        return text.partition("=")[0], ""

    def kind(self, definition: Definition, source: bytes) -> str:
        return "constant" if is_constant(definition.name) else "variable"

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        return not definition.name.startswith("_") and (parent is None or parent.kind not in FUNCTIONS)

    def prose(self, comment: bytes) -> bytes:
        return _DIRECTIVE.sub(b"", comment)

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        if b"@test" in source:
            _add(found, "test", _TEST, source, starts)
        for start in [start for start, use in found.uses.items() if use.name in _BUILTINS or use.name[:1] in "-@"]:
            del found.uses[start]

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        _add(found, "function", _FUNCTION, source, starts)


def _add(found: Captured, kind: str, heads: re.Pattern[bytes], source: bytes, starts: Sequence[int]) -> None:
    known = {definition.name_start for definition in found.definitions.values()}
    skips = sorted(found.skips)
    for head in heads.finditer(source):
        at = head.start("name")
        if at not in known and not inside(skips, head.start()):
            body = source.index(b"{", head.end())
            definition = text_definition(kind, head, starts, body, end_of(source, body))
            definition.name = " ".join(definition.name.strip("\"'").split())
            if definition.name:
                found.definitions[at] = definition
