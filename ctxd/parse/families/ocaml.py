"""The OCaml family: comments below what they document, attributes behind a definition, private methods. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import Family
from ctxd.parse.families.recovery import by_column

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_NO_NAMES = re.compile(r"[({\[\"]|_$")
_PRIVATE = re.compile(rb"\bprivate\b")
_ATTRIBUTES = re.compile(rb"(?:\s*\[@@(?:[^\[\]]|\[[^\[\]]*\])*\])+")
# Directly below or on the last line; what a blank line or the end of its module follows is not about the next.
_DOC = rb"\(\*\*(?!\*)(?>(?!\*\)).){0,4000}\*\)"
_BELOW = re.compile(
    rb"(?:[ \t]*(?P<beside>" + _DOC + rb")[ \t]*(?=\r?\n|\Z))"
    rb"|(?:[ \t]*\r?\n[ \t]*(?P<below>" + _DOC + rb")[ \t]*(?=\r?\n[ \t]*(?:\r?\n|end\b|\Z)|\Z))",
    re.DOTALL,
)
_HEAD = re.compile(
    rb"^(?P<kind>let|and|val|external|type|module|exception|class|rule)(?: +(?:rec|nonrec|type|virtual))*"
    rb"(?: +(?:'\w+|\([^()\n]*'[^()\n]*\)))? +(?P<name>[A-Za-z_][\w']*)(?<!\b_)",
    re.MULTILINE,
)
_KINDS = {
    b"let": "function",
    b"and": "function",
    b"rule": "function",
    b"val": "function",
    b"external": "function",
    b"type": "type",
    b"module": "module",
    b"exception": "type",
    b"class": "class",
}
_COMMON = frozenset({"Some", "None", "Ok", "Error"})
_DOCUMENTED = frozenset({"function", "variable", "type", "struct", "enum", "interface", "module", "class", "method"})


class OCaml(Family):
    """`(* *)` comments; everything is visible where no interface says otherwise."""

    line_comments = ()
    block_marks = (b"(*", b"*)")
    values_own = True
    values_vary = False
    method_owners = frozenset({"class"})
    built_in = frozenset(
        """unit bool int float char string bytes list array option ref exn result int32 int64 nativeint""".split()  # noqa: SIM905
    )

    def name(self, text: str, kind: str) -> tuple[str, str]:
        text = text.strip()
        if kind == "test":
            return text, ""
        if text.startswith("(") and text.endswith(")") and not re.search(r"[\w\"]\s|,", text):
            text = text[1:-1].strip()  # an operator
        if kind == "extension":
            text = text.rpartition(".")[2]
        return ("", "") if _NO_NAMES.match(text) else (text.lstrip("`"), "")

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if definition.kind == "method" and _PRIVATE.search(source, definition.start, definition.name_start):
            return False
        return super().exported(definition, parent, source)

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        by_column(found, source, starts, _HEAD, _KINDS)

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        for one in found.definitions.values():
            if one.kind not in _DOCUMENTED:
                continue
            if attributes := _ATTRIBUTES.match(source, one.end):
                one.end = attributes.end()
            if not _has_doc_above(source, one.start):
                comment = _BELOW.match(source, one.end)
                if comment is not None:
                    one.doc = comment["beside"] or comment["below"]
                    one.end = comment.end()
            one.end_row = max(one.end_row, bisect_left(starts, one.end) - 1)
        found.uses = {start: use for start, use in found.uses.items() if use.kind != "call" or use.name not in _COMMON}


def _has_doc_above(source: bytes, start: int) -> bool:
    line = source.rfind(b"\n", 0, start)
    return line > 0 and source[max(0, line - 40) : line].rstrip(b" \t\r").endswith(b"*)")
