"""The C# family: visibility by modifiers, XML in doc comments, operators and indexers by name. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import FUNCTIONS
from ctxd.parse.families.jvm import Modifiers

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_SHOWN = re.compile(rb"\b(?:public|protected)\b")
_HIDDEN = re.compile(rb"\b(?:private|internal)\b")
# <see cref="T:Row"/>, <paramref name="owner"/>, and any other tag.
_NAMED = re.compile(rb"<(?:see|seealso|paramref|typeparamref)\s+\w+=\"(?:[A-Z]:)?([^\"<>]*)\"\s*/?>")
_TAG = re.compile(rb"</?[A-Za-z]\w*(?:\s[^<>]*)?/?>")
# Lines that begin a type or a member, for broken trees.
_TYPE = re.compile(
    rb"^[ \t]*(?:\[[^\]\n]*\][ \t]*)*(?:(?:public|protected|private|internal|static|sealed|abstract|partial|readonly"
    rb"|ref|file|unsafe|new)[ \t]+)*(?P<kind>class|struct|interface|enum|record struct|record class|record)[ \t]+"
    rb"(?P<name>[A-Za-z_]\w*)(?=[ \t]*(?:[:<{(;\r\n]|$|where\b))",
    re.MULTILINE,
)
_METHOD = re.compile(
    rb"^[ \t]*(?P<kind>public|protected|private|internal)[ \t]+(?:(?!new\b|operator\b)[\w<>,.?\[\]]+[ \t]+){0,8}"
    rb"(?P<name>[A-Za-z_]\w*)(?:<[^<>()\n]*>)?[ \t]*\(",
    re.MULTILINE,
)
_SUMMARY = re.compile(rb"<summary>(.*?)</summary>", re.DOTALL)


class CSharp(Modifiers):
    """What no word makes visible is seen in its assembly or its type only; members of interfaces are visible."""

    built_in = frozenset(
        """Boolean DateTime Func Guid IEnumerable Int32 Int64 String TKey TValue decimal double dynamic long nint short
        var""".split()  # noqa: SIM905
    )

    heads = (_TYPE, _METHOD)

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if text == "this":
            return "this[]", ""
        if text == "extension" and kind == "method":  # a block of extensions, read as a constructor
            return "", ""
        text = " ".join(text.removeprefix("@").split())
        return (text.partition("<")[0] if text[-1:] == ">" and text[-2:-1].isalnum() else text), ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None:
            if not parent.exported or parent.kind in FUNCTIONS:
                return False
            if parent.kind in ("interface", "enum"):
                return not _HIDDEN.search(self.modifiers(definition, source))
            if definition.kind == "field" and (parent.body == -1 or definition.start < parent.body):
                return True  # a record's parameter
        return bool(_SHOWN.search(self.modifiers(definition, source)))

    def mute(self, source: bytes) -> bytes:
        """Keep the first branch of every `#if`: where branches cut through statements no tree holds both."""
        lines = source.split(b"\n")
        depth = muted_at = 0
        for row, line in enumerate(lines):
            text = line.lstrip()
            if text.startswith(b"#if"):
                depth += 1
            elif text.startswith((b"#elif", b"#else")) and not muted_at:
                muted_at = depth
            directive = text.startswith((b"#if", b"#el", b"#endif"))
            if muted_at or directive:
                lines[row] = b" " * len(line)
            if text.startswith(b"#endif"):
                muted_at = 0 if muted_at == depth else muted_at
                depth = max(depth - 1, 0)
        return b"\n".join(lines)

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        if b"#el" in source:  # branches that `mute` took out of a broken tree
            self.recover(found, source, starts)

    def prose(self, comment: bytes) -> bytes:
        if b"<" not in comment:
            return comment
        summary = _SUMMARY.search(comment)
        return _TAG.sub(b"", _NAMED.sub(rb"\1", summary.group(1) if summary else comment))
