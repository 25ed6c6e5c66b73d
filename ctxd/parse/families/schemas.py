"""The families of interface languages: Protobuf and GraphQL. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import Family
from ctxd.parse.families.recovery import by_heads

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured

# What the grammar does not know: editions with their visibility words, and groups, which are messages.
_EDITION = re.compile(
    rb'^[ \t]*edition[ \t]*=[ \t]*"[^"\n]*"[ \t]*;|\b(?:export|local)(?=[ \t]+(?:message|enum)\b)', re.M
)
_GROUP = re.compile(
    rb"(?P<before>\b(?:(?:optional|required|repeated)[ \t]+)?group[ \t]+)(?P<name>\w+)(?P<after>[ \t]*=[ \t]*\d+"
    rb"(?:[ \t]*\[[^\]\n]*\])?)(?=\s*\{)"
)
_PACKAGE = re.compile(rb"(?<![\w.])\.?([A-Za-z_][\w.]*)\.$")
_MAX_PACKAGE = 100
_PROTO_HEAD = re.compile(rb"^[ \t]*(?P<kind>message|enum|service)[ \t]+(?P<name>\w+)(?=\s*\{)", re.MULTILINE)
_GRAPHQL_HEAD = re.compile(
    rb"^(?P<kind>type|interface|input|enum|union|scalar|fragment|query|mutation|subscription)[ \t]+(?P<name>\w+)"
    rb"(?=[^\n]*\{|[ \t]*=|[ \t]*$|[ \t]*@)",
    re.MULTILINE,
)
_GRAPHQL_KINDS = {
    b"type": "type",
    b"interface": "interface",
    b"input": "struct",
    b"enum": "enum",
    b"union": "type",
    b"scalar": "type",
    b"fragment": "type",
    b"query": "function",
    b"mutation": "function",
    b"subscription": "function",
}
_SCALARS = frozenset({"ID", "Int", "Float", "String", "Boolean"})
_DESCRIPTION = re.compile(rb'"""(?P<block>.*?)"""|"(?P<line>(?:[^"\\\n]|\\.)*)"', re.DOTALL)
_BLANK = re.compile(rb"(?:\s+|#[^\n]*)*")
_EXTEND_SCHEMA = re.compile(rb"\bextend\s+schema\b(?:\s*@\w+(?:\s*\([^)]*\))?)*(?!\s*[{@])")


class Proto(Family):
    """Everything is visible to who imports it."""

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        for start, use in found.uses.items():
            if use.kind == "type" and (package := _PACKAGE.search(source[max(0, start - _MAX_PACKAGE) : start])):
                use.receiver = package.group(1).decode()

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        by_heads(found, source, starts, _PROTO_HEAD, {b"message": "struct", b"enum": "enum", b"service": "interface"})

    def mute(self, source: bytes) -> bytes:
        return _GROUP.sub(_as_message, _EDITION.sub(_spaces, source))


class GraphQL(Family):
    """Descriptions are strings in front, inside the definition."""

    line_comments = (b"#",)
    block_comments = False

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        for one in found.definitions.values():
            text = _DESCRIPTION.match(source, one.start) if source.startswith(b'"', one.start) else None
            if one.kind == "field":
                one.body = one.end  # arguments may take many lines
            if text is not None:
                one.doc = text["block"] or text["line"] or b""
                after = _BLANK.match(source, text.end())
                one.head = after.end() if after else text.end()
        found.uses = {start: use for start, use in found.uses.items() if use.kind != "type" or use.name not in _SCALARS}

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        # One quote too many turns all that follows inside out.
        found.skips = [skip for skip in found.skips if source.startswith(b"#", skip[0])]
        by_heads(found, source, starts, _GRAPHQL_HEAD, _GRAPHQL_KINDS)

    def mute(self, source: bytes) -> bytes:
        return _EXTEND_SCHEMA.sub(_spaces, source)


def _spaces(match: re.Match[bytes]) -> bytes:
    return re.sub(rb"[^\n]", b" ", match.group())


def _as_message(match: re.Match[bytes]) -> bytes:
    before = b"message".ljust(len(match["before"]))
    return before + match["name"] + b" " * len(match["after"]) if len(before) == len(match["before"]) else match.group()
