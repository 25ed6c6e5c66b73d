"""The families of Java, Kotlin and Scala: visibility by modifiers, markup in doc comments, accessors. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import CLASSES, FUNCTIONS, VALUES, Bound, Family
from ctxd.parse.families.recovery import by_heads

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_SHOWN = re.compile(rb"\b(?:public|protected)\b")
_HIDDEN = re.compile(rb"\b(?:private|internal)\b")
# T and T1 are no types that could own a definition.
_PARAMETER = re.compile(r"[A-Z]\d?$")
_IMPORT = re.compile(rb"import\s+([^\s;*]*[^\s;*.])(\.\*)?(?:\s+as\s+([^\s;]+))?")
_MEMBER = re.compile(rb"\b(?:fun|va[lr]|class|interface|object|init|constructor)\b")
_CLOSING = re.compile(rb"(?<=[^\s{]) \}")
# `A<*>::f`, a `where` on a line of its own, contexts, `$$"..."`: spaces instead.
_UNKNOWN = re.compile(
    rb"<[^<>()\n]*>\??(?=::)|\?(?=::)|(?<=\{);|(?<=\n)[ \t]*where [^{}=\n]*|(?<=\n)[ \t]*context\([^()\n]*\)"
    rb"|\$\$+(?=\")|\bactual (?=va[lr]\b)"
)
_CONSTRUCTOR = re.compile(rb"(?<=\n)[ \t]*(?:@\w+ )*(?:\w+ )?constructor(?=\()")
_DELEGATE = re.compile(rb"\bby [A-Za-z_][\w.]*(?:\([^()\n]*\))?(?: as [\w.]+(?:<[^<>\n]*>)?)?(?=\s*[{,])")
_PROPERTY = re.compile(rb"\bva[lr]\b[^()=\n]*$")
_CLASS = re.compile(rb"\bclass\b[^{}()\n]*$")
# Lines that begin a definition.
_JAVA_TYPE = re.compile(
    rb"^[ \t]*(?:@[\w.]+(?:\([^()\n]*\))?[ \t]+)*(?:(?:public|protected|private|static|final|abstract|sealed|non-sealed"
    rb"|strictfp)[ \t]+)*(?P<kind>class|@?interface|enum|record)[ \t]+(?P<name>[A-Za-z_]\w*)"
    rb"(?=[ \t]*(?:[<{(\r\n]|$|(?:extends|implements|permits)\b))",
    re.MULTILINE,
)
_JAVA_METHOD = re.compile(
    rb"^[ \t]*(?P<kind>public|protected|private)[ \t]+(?:<[^\n(]{1,200}>[ \t]+)?(?:(?!new\b)[\w<>,.?\[\]@]+[ \t]+){0,8}"
    rb"(?P<name>[A-Za-z_]\w*)[ \t]*\(",
    re.MULTILINE,
)
_KOTLIN_HEAD = re.compile(
    rb"^[ \t]*(?:@[\w.:]+(?:\([^()\n]*\))?[ \t]+)*(?:(?:public|private|protected|internal|open|final|abstract|sealed"
    rb"|data|value|inner|annotation|companion|expect|actual|override|suspend|inline|tailrec|operator|infix|external"
    rb"|const|lateinit|fun(?=[ \t]+interface))[ \t]+)*"
    rb"(?P<kind>enum class|class|interface|object|typealias|fun|(?:^|(?<=[a-z] ))va[lr])[ \t]+"
    rb"(?:<[^\n(]{0,200}>[ \t]*)?(?:[\w<>?, *.]{1,200}\.)?(?P<name>[A-Za-z_]\w*)"
    rb"(?=[ \t]*(?:[:={<(\r\n]|$|(?:by|get|private|internal|constructor)\b))",
    re.MULTILINE,
)
_KINDS = {
    b"class": "class", b"object": "class", b"record": "class", b"record class": "class", b"record struct": "struct",
    b"struct": "struct", b"interface": "interface", b"@interface": "interface", b"trait": "trait", b"enum": "enum",
    b"enum class": "enum", b"type": "type", b"typealias": "type", b"fun": "function", b"def": "function",
    b"val": "variable", b"var": "variable", b"public": "method", b"protected": "method", b"private": "method",
    b"internal": "method",
}  # fmt: skip
# The scanner ends the process when strings nest 1024 deep.
_MAX_TEMPLATES = 900
_BRACKET = re.compile(rb"\$\{|[{}]")
# {@link Type#member label}, {@code text}; references keep their dots.
_INLINE = re.compile(rb"\{@(?:link|linkplain|code|literal|value|inheritDoc)\b\s*([^{}]*)\}")
_STRING = re.compile(rb"\"[^\"\n]*\"")
_TAG = re.compile(rb"</?(?:p|code|em|i|b|tt|ul|li|a|strong|pre|br)\b[^<>]*>")


class Modifiers(Family):
    """What is common to languages whose visibility is a word before the definition."""

    values_own = True
    values_vary = False
    built_in = frozenset(
        """A B C D E F G M N P R S T1 T2 Any AnyRef AnyVal Boolean Byte Char Double Float Int Integer Long
        Nothing Object Short String Unit Void var""".split()  # noqa: SIM905
    )

    # Lines that begin a definition, for broken trees; what their group `kind` says is in _KINDS.
    heads: tuple[re.Pattern[bytes], ...] = ()

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        for heads in self.heads:
            by_heads(found, source, starts, heads, _KINDS)

    def prose(self, comment: bytes) -> bytes:
        if b"{@" in comment:
            comment = _INLINE.sub(lambda found: found.group(1).replace(b"#", b"."), comment)
        return _TAG.sub(b"", comment) if b"<" in comment else comment

    def modifiers(self, definition: Definition, source: bytes) -> bytes:
        """Return what stands before the name, without the strings of annotations."""
        head = source[definition.start : definition.name_start]
        return _STRING.sub(b"", head) if b'"' in head else head


class Java(Modifiers):
    """What no word makes visible is seen in its package only."""

    # Those of anonymous classes are in methods.
    method_owners = CLASSES | FUNCTIONS
    heads = (_JAVA_TYPE, _JAVA_METHOD)

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None:
            if not parent.exported or parent.kind in FUNCTIONS:
                return False
            if parent.kind == "interface" or (definition.kind == "constant" and parent.kind == "enum"):
                return not _HIDDEN.search(self.modifiers(definition, source))
            if definition.kind == "field" and definition.start < parent.body:  # a record's component
                return True
        return bool(_SHOWN.search(self.modifiers(definition, source)))


class Kotlin(Modifiers):
    """What no word hides is seen; extensions of a type parameter have no owner; accessors follow their property."""

    heads = (_KOTLIN_HEAD,)

    def name(self, text: str, kind: str) -> tuple[str, str]:
        return text.strip("`"), ""

    def own(self, definition: Definition) -> None:
        if _PARAMETER.match(definition.owner):
            definition.owner = ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if parent is not None and (not parent.exported or parent.kind in FUNCTIONS):
            return False
        return not _HIDDEN.search(self.modifiers(definition, source))

    def breaks(self, source: bytes) -> bool:
        """Return whether string templates nest deeper than the scanner's assertion allows."""
        if source.count(b"${") < _MAX_TEMPLATES:
            return False
        stack: list[bool] = []
        depth = 0
        for bracket in _BRACKET.finditer(source):
            if bracket.group() != b"}":
                stack.append(bracket.group() == b"${")
                depth += stack[-1]
                if depth == _MAX_TEMPLATES:
                    return True
            elif stack:
                depth -= stack.pop()
        return False

    def imports(self, clause: bytes) -> list[Bound]:
        found = _IMPORT.match(clause)
        if found is None:
            return []
        path, wildcard, alias = (part.decode("utf-8", "replace").replace("`", "") for part in found.groups(b""))
        module, _, name = path.rpartition(".")
        if wildcard:
            return [Bound(path, "*", "", found.start(2))]
        if not module:
            return [Bound(path)]
        return [Bound(module, name, alias, found.end(1) - len(name.encode()))]

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        if any(mark.kind == "expression" for mark in found.marks):
            self.recover(found, source, starts)
        values = sorted((d for d in found.definitions.values() if d.kind in VALUES), key=lambda d: d.end)
        ends = [definition.end for definition in values]
        for mark in found.marks:
            if mark.kind != "accessor":
                continue
            place = bisect_right(ends, mark.start) - 1
            if place >= 0:
                values[place].end, values[place].end_row = mark.end, bisect_left(starts, mark.end) - 1

    def mute(self, source: bytes) -> bytes:
        """Unknown to the grammar: members that end before a bracket on their line, delegates of a class, and more."""
        if self.breaks(source):
            source = source.replace(b"${", b"  ")
        lines = source.split(b"\n")
        for row, line in enumerate(lines):
            if b" }" in line and _MEMBER.search(line):
                lines[row] = _CLOSING.sub(b";}", line)
        muted = _UNKNOWN.sub(_spaces, b"\n".join(lines).replace(b"..<", b".. "))
        muted = _CONSTRUCTOR.sub(lambda found: _unless(not _follows(_CLASS, muted, found.start() - 1), found), muted)
        return _DELEGATE.sub(lambda found: _unless(_follows(_PROPERTY, muted, found.start()), found), muted)


def _spaces(found: re.Match[bytes]) -> bytes:
    return b" " * len(found.group())


def _unless(kept: bool, found: re.Match[bytes]) -> bytes:
    return found.group() if kept else _spaces(found)


def _follows(pattern: re.Pattern[bytes], source: bytes, at: int) -> bool:
    """Return whether a pattern matches on the line before a byte, up to it."""
    return pattern.search(source, max(source.rfind(b"\n", 0, at), at - 300, 0), at) is not None
