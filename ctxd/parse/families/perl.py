"""Perl: packages that reach to the next one, documentation written anywhere in the file, words of `use`. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctxd.parse.capture import Definition, Use
from ctxd.parse.families.family import CLASSES, FUNCTIONS, NEVER, Bound, Family, is_constant
from ctxd.parse.families.recovery import by_heads

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Mark

_END = re.compile(rb"^__(?:END|DATA)__\b", re.MULTILINE)
_MY = re.compile(rb"(?:my|state)\b")
# Declarations without a body and formats break the tree.
_UNKNOWN = re.compile(
    rb"^[ \t]*sub\s+[\w:]+\s*(?:\([^)\n]*\)\s*)?;|"
    rb"^format\b[^\n=]*=[ \t]*\n(?:(?!\.[ \t\r]*\n)[^\n]*\n){0,200}\.[ \t\r]*\n",
    re.MULTILINE,
)
_HEAD = re.compile(rb"^[ \t]*(?P<kind>sub|method)[ \t]+(?P<name>[A-Za-z_]\w*)(?=[ \t\r\n({:])", re.MULTILINE)
_USE = re.compile(rb"(?:use|no)\s+(?P<module>[A-Za-z_][\w:]*)\s*(?P<rest>[^;]*)")
_QUOTED = re.compile(rb"qw\s*[(\[{</|](?P<words>[^)\]}>/|]*)|'(?P<one>[^'\n]*)'|\"(?P<two>[^\"\n]*)\"")
_WORD = re.compile(rb"[^\s,]+")
_PACKAGE = re.compile(rb"[A-Za-z_]\w*(?:::\w+)*\Z")
_HEADING = re.compile(
    rb"^=(?:head\d|item|method|func|function|sub|attr)[ \t]+[ \t*]*(?:[BCIF]<+[ \t]*)?(?:[$\w]+->)?(?:\w+::)*"
    rb"(?P<name>\w+)[^\n]*\n(?P<text>(?>(?:(?!=[a-z])[^\n]*+\n)*)(?:(?!=[a-z])[^\n]+)?)",
    re.MULTILINE,
)
_TITLE = re.compile(rb"^=head1[ \t]+NAME[^\n]*\n\s*(?:[^\n]*?\s--?\s+)?(?P<text>(?:[^\s=][^\n]*\n?)+)", re.MULTILINE)
_CODE = re.compile(rb"^[ \t]+[^\n]*\n?", re.MULTILINE)
_MARKUP = re.compile(rb"[A-Z]<+[ \t]*([^<>|]*?)[ \t]*(?:\|[^<>]*)?>+")
_PRAGMAS = frozenset(
    b"""autodie base bigint bytes constant diagnostics experimental feature fields integer lib mro open overload parent
    sigtrap sort strict subs threads utf8 vars version vmsish warnings""".split()
)
_PHASES = frozenset({"BEGIN", "END", "INIT", "CHECK", "STDIN", "STDOUT", "STDERR", "SUPER", "__END__", "__DATA__"})
# Functions of the language: nobody asks who calls them.
_BUILT_IN = frozenset(
    """bless chomp close defined delete die each eval exists exit extends grep has join keys length local map open pop
    print printf push ref require return reverse say scalar shift sort splice split sprintf substr undef unshift values
    wantarray warn with""".split()  # noqa: SIM905
)


class Perl(Family):
    """Names without an underscore in front are seen."""

    line_comments = (b"#",)
    block_comments = False
    written_owner_makes_method = False
    absolute_owners = True
    # The query sees every bareword.
    constants = NEVER

    def name(self, text: str, kind: str) -> tuple[str, str]:
        if kind == "test":
            return " ".join(text.split()), ""
        owner, _, name = text.rpartition("::")
        return name, owner.replace("::", ".")

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        if definition.name.startswith("_") or _MY.match(source, definition.start):
            return False
        return parent is None or (parent.exported and parent.kind not in FUNCTIONS)

    def mute(self, source: bytes) -> bytes:
        return _UNKNOWN.sub(lambda match: re.sub(rb"[^\n]", b" ", match.group()), source)

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        by_heads(found, source, starts, _HEAD, {b"sub": "function", b"method": "method"})

    def imports(self, clause: bytes) -> list[Bound]:
        used = _USE.match(clause)
        if used is None or not clause.startswith(b"use"):
            return []
        module = used.group("module")
        words = _words(used.group("rest"), used.start("rest"))
        if module in (b"parent", b"base"):
            return [Bound(text.decode("utf-8", "replace"), "", "", at) for at, text in words if _PACKAGE.match(text)]
        if module in _PRAGMAS:
            return []
        name = module.decode()
        bound = [Bound(name, text.decode(), "", at) for at, text in words if re.fullmatch(rb"&?[A-Za-z_]\w*", text)]
        return bound or [Bound(name, "", "", used.start("module"))]

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        tail = _END.search(source)
        end = tail.start() if tail is not None else len(source)
        for at, definition in list(found.definitions.items()):
            local = definition.kind == "variable" and _MY.match(source, definition.start)
            if definition.start >= end or (local and not is_constant(definition.name)):
                del found.definitions[at]
        _stretch(found, end, starts)
        _settle_uses(found, end)
        for mark in found.marks:
            if mark.kind in ("extends", "implements"):
                _extend(found, mark, source)
        _document(found, source)


def _words(text: bytes, offset: int) -> list[tuple[int, bytes]]:
    made: list[tuple[int, bytes]] = []
    for quoted in _QUOTED.finditer(text):
        group = quoted.lastgroup or "words"
        made += [(offset + quoted.start(group) + w.start(), w.group()) for w in _WORD.finditer(quoted.group(group))]
    return made


def _stretch(found: Captured, end: int, starts: Sequence[int]) -> None:
    """Let a package without a block reach to the next one, or to the end of the code."""
    packages = [d for d in found.definitions.values() if d.kind in CLASSES | {"module"}]
    packages.sort(key=lambda d: d.start)
    open_end = end
    for package in reversed(packages):
        if package.body == -1:
            package.body = package.end
            package.end = max(open_end, package.end)
            package.end_row = max(bisect_left(starts, package.end) - 1, package.row)
            open_end = package.start


def _settle_uses(found: Captured, end: int) -> None:
    heads = {definition.name_start for definition in found.definitions.values()}
    for start, use in list(found.uses.items()):
        if use.kind == "constant":
            if start >= end or start in heads or not is_constant(use.name) or use.name in _PHASES:
                del found.uses[start]
            continue
        if start >= end or (use.kind == "call" and not use.receiver and use.name in _BUILT_IN):
            del found.uses[start]
            continue
        owner, _, use.name = use.name.removeprefix("&").rpartition("::")
        use.receiver = use.receiver or owner


def _extend(found: Captured, mark: Mark, source: bytes) -> None:
    for at, text in _words(source[mark.start : min(mark.end, mark.start + 2000)], mark.start):
        if _PACKAGE.match(text):
            owner, _, name = text.decode().rpartition("::")
            found.uses[at] = Use(name, mark.kind, at, mark.row, 0, owner)


def _document(found: Captured, source: bytes) -> None:
    """Give what is documented by name its text; a heading directly above is part of the definition."""
    texts: dict[str, bytes] = {}
    title = b""
    pods = sorted((mark for mark in found.marks if mark.kind == "pod"), key=lambda mark: mark.end)
    for pod in pods:
        text = source[pod.start : pod.end]
        for heading in _HEADING.finditer(text):
            texts.setdefault(heading.group("name").decode(), _prose(heading.group("text")))
        if not title and (named := _TITLE.search(text)) is not None:
            title = _prose(named.group("text"))
    if not pods:
        return
    ends = [pod.end for pod in pods]
    for definition in found.definitions.values():
        if definition.kind in ("module", "class"):
            definition.doc = title
            title = b""
            continue
        definition.doc = texts.get(definition.name, b"")
        place = bisect_right(ends, definition.start) - 1
        if place >= 0 and not source[ends[place] : definition.start].strip():
            _raise(definition, pods[place], source)


def _raise(definition: Definition, pod: Mark, source: bytes) -> None:
    last = None
    for heading in _HEADING.finditer(source, pod.start, pod.end):
        last = heading
    if last is not None and last.group("name").decode() == definition.name:
        definition.start = last.start()
        definition.row = pod.row + source.count(b"\n", pod.start, last.start())


def _prose(text: bytes) -> bytes:
    return _MARKUP.sub(rb"\1", _CODE.sub(b"", text)).strip()
