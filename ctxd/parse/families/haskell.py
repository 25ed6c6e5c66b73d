"""The Haskell family: equations and their signature as one definition, export lists, instances by their types. Pure."""

# ruff: noqa: ARG002

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from ctxd.parse.families.family import NEVER, Family
from ctxd.parse.families.recovery import inside, text_definition, trimmed_end

if TYPE_CHECKING:
    from ctxd.parse.capture import Captured, Definition

_COMMENT = re.compile(rb"(?s:\{-.*?-\})|--[^\n]*")
_EXPORT = re.compile(
    rb"(?:\b(?P<word>pattern|type|module)\s+)?(?:(?P<name>[\w.']+)|\(\s*(?P<operator>[^\s(),\w]+)\s*\))"
    rb"\s*(?P<members>\((?:[^()]|\([^()]*\))*\))?"
)
_MEMBER = re.compile(rb"[\w']+|\.\.|[^\s(),\w']+")
_OPERATOR = re.compile(r"[^\w\s'().,\"]+")
_INSTANCE = re.compile(rb"(?:deriving\b[^\n]*\b)?instance\b|(?:type|data|newtype)\s+instance\b")
# Layout: what begins in the first column is a declaration, whatever the tree takes it for.
_SIGNED = re.compile(rb"^(?P<name>[a-z_][\w']*|\([^\s()\w]+\))(?:\s*,\s*[a-z_][\w']*)*\s*::", re.MULTILINE)
_TYPED = re.compile(
    rb"^(?P<kind>data|newtype|type|class)(?: +family)? +(?:[^=\n]*?=> *)?(?P<name>[A-Z][\w']*)", re.MULTILINE
)
_BRANCH = re.compile(rb"^#[ \t]*(?:(?P<else>else|elif)|endif)\b", re.MULTILINE)
_KINDS = {b"data": "struct", b"newtype": "struct", b"type": "type", b"class": "class"}
_SIGNATURE = re.compile(rb"[)`]?\s*(?:,|::)")
_NO_PATTERNS = re.compile(rb"[)`]?\s*[=|]")
_JOINED = frozenset({"function", "method", "constant"})
_OWNERS = frozenset({"class", "struct"})
# In every module: nobody asks who uses them.
_PRELUDE = frozenset(
    """Int Integer Double Float Bool Char String Maybe Either IO Ordering Type True False Just Nothing Left Right return
    pure otherwise""".split()  # noqa: SIM905
)
_PRAGMA = re.compile(rb"\{-#.*?#-\}", re.DOTALL)
# Literate files: what is no code.
_PROSE = re.compile(rb"(?:\A|\\end\{code\}).*?(?:\\begin\{code\}|\Z)", re.DOTALL)
_BLANK = bytes(byte if byte in b"\n\r" else 32 for byte in range(256))
_MAX_NAME = 80


class Haskell(Family):
    """Layout, `--` comments, export lists."""

    line_comments = (b"--",)
    block_marks = (b"{-", b"-}")
    # No constant is written in capitals.
    constants = NEVER

    def name(self, text: str, kind: str) -> tuple[str, str]:
        text = text.strip("`() \t")
        if kind == "function" and any(space in text for space in " \n\t{"):
            # A pattern synonym: `Pair x y`, `x :> xs`, `P{a, b}`.
            operator = _OPERATOR.search(text)
            text = operator.group() if operator and text[:1].islower() else re.split(r"[\s{]", text, maxsplit=1)[0]
        return text, ""

    def exported(self, definition: Definition, parent: Definition | None, source: bytes) -> bool:
        return definition.exported

    def arrange(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        _read_heads(found, source, starts, _SIGNED.finditer(source))
        _read_heads(found, source, starts, _branches(source))
        owned = _join(found, source)
        _name_constructors(found, owned)
        _export(found, source, owned)
        header = next((mark.end for mark in found.marks if mark.kind == "exports"), 0)
        found.uses = {
            start: use
            for start, use in found.uses.items()
            if start > header
            and (use.kind == "import" or use.name not in _PRELUDE)
            and (use.kind != "call" or start not in found.definitions)
        }

    def prose(self, comment: bytes) -> bytes:
        return _PRAGMA.sub(b"", comment)

    def mute(self, source: bytes) -> bytes:
        if b"\\begin{code}" in source:
            return _PROSE.sub(lambda prose: prose.group().translate(_BLANK), source)
        if source.startswith(b">") or b"\n\n>" in source:
            lines = source.split(b"\n")
            return b"\n".join(b" " + line[1:] if line[:1] == b">" else line.translate(_BLANK) for line in lines)
        return source

    def recover(self, found: Captured, source: bytes, starts: Sequence[int]) -> None:
        _read_heads(found, source, starts, _TYPED.finditer(source))


def _read_heads(found: Captured, source: bytes, starts: Sequence[int], heads: Iterable[re.Match[bytes]]) -> None:
    """Add the declarations in the first column that the tree does not know, and end what it lets run across them."""
    skips = sorted(found.skips)
    added: list[int] = []
    for head in heads:
        at = head.start("name")
        if at in found.definitions or inside(skips, at):
            continue
        kind = _KINDS[head["kind"]] if "kind" in head.groupdict() else "function"
        body = _reach(source, head.end(), b"") if kind == "function" else -1
        end = trimmed_end(source, head.start(), _reach(source, head.end(), head["name"]))
        made = found.definitions[at] = text_definition(kind, head, starts, body, end)
        made.name = made.name.strip("()")
        added.append(head.start())
    added.sort()
    for other in found.definitions.values() if added else ():
        following = bisect_right(added, other.start)
        if following < len(added) and added[following] < other.end and other.kind != "module":
            other.end = _end_above(source, starts, added[following])
            other.end_row = bisect_right(starts, other.end) - 1


def _reach(source: bytes, at: int, name: bytes) -> int:
    """Return the end of the line at `at` and of those that go on with it: indented ones, and with a name its own."""
    end = source.find(b"\n", at)
    while end != -1 and _goes_on(source, end + 1, name):
        end = source.find(b"\n", end + 1)
    return end if end != -1 else len(source)


def _goes_on(source: bytes, at: int, name: bytes) -> bool:
    begins = source[at : at + 1]
    if begins in (b" ", b"\t"):
        return True
    if not name or not begins:
        return False
    after = source[at + len(name) : at + len(name) + 1]
    return begins in (b"\r", b"\n", b")", b"}", b"]") or (
        source.startswith(name, at) and not (after.isalnum() or after in (b"_", b"'"))
    )


def _branches(source: bytes) -> Iterator[re.Match[bytes]]:
    """Yield the types that begin in a branch that the grammar hides: it reads `#else ... #endif` as one directive."""
    begin = -1
    for directive in _BRANCH.finditer(source):
        if begin != -1:
            yield from _TYPED.finditer(source, begin, directive.start())
        begin = directive.end() if directive["else"] else -1


def _end_above(source: bytes, starts: Sequence[int], at: int) -> int:
    """Return the end of the last line above byte `at` that is neither blank nor a comment in the first column."""
    row = bisect_right(starts, at) - 1
    while row > 0:
        line = source[starts[row - 1] : starts[row] - 1].rstrip()
        if line and not line.startswith(b"--"):
            return starts[row - 1] + len(line)
        row -= 1
    return 0


def _join(found: Captured, source: bytes) -> list[tuple[Definition, Definition | None]]:
    """Join the pieces of each name; return the definitions with the class, instance or type around each."""
    owned: list[tuple[Definition, Definition | None]] = []
    stack: list[Definition] = []
    known: dict[tuple[int, str], Definition] = {}
    latest: Definition | None = None
    for one in sorted(found.definitions.values(), key=lambda entry: (entry.start, entry.name_start)):
        while stack and one.start >= stack[-1].end:
            stack.pop()
        owner = stack[-1] if stack else None
        if one.kind in _OWNERS or one.kind == "type":
            _entitle(one, source)
        if one.kind in _OWNERS:
            stack.append(one)
        elif one.kind in _JOINED and (owner is None or owner.kind == "class"):
            place = (owner.start if owner else -1, one.name)
            before = known.get(place)
            if before is not None and _join_to(before, one, latest, found, source):
                latest = before
                continue
            known[place] = latest = one
        owned.append((one, owner))
    return [pair for pair in owned if found.definitions.get(pair[0].name_start) is pair[0]]


def _join_to(before: Definition, one: Definition, latest: Definition | None, found: Captured, source: bytes) -> bool:
    """Join `one` to the earlier piece of its name and return True, or return False when it stands for itself."""
    if latest is not before:
        shared = latest is not None and latest.head == before.head
        if not shared or not _SIGNATURE.match(source, _after(before, source)):
            return False
        if before.start != before.name_start:
            # A later name of `one, two :: Int`: the span is the equation's, the signature the common one.
            one.head, one.body = before.head, before.end
            del found.definitions[before.name_start]
            return False
    if before.kind == "constant" and not _NO_PATTERNS.match(source, _after(one, source)):
        before.kind = "function"
    if before.body == -1:
        before.body = before.end
    before.end, before.end_row = one.end, one.end_row
    del found.definitions[one.name_start]
    return True


def _after(one: Definition, source: bytes) -> int:
    """Return the byte after the name with its brackets."""
    bracket = source[one.name_start : one.name_start + 1] in (b"(", b"`")
    return one.name_start + len(one.name.encode()) + (2 if bracket else 0)


def _entitle(one: Definition, source: bytes) -> None:
    """Name an instance by its class and types: `Functor Parser`."""
    if not _INSTANCE.match(source, one.start, one.name_start):
        return
    begin = source.find(b"instance", one.start) + len(b"instance")
    head = _COMMENT.sub(b" ", source[begin : one.body if one.body > begin else one.end])
    head = re.split(rb"\bwhere\b|(?<=\s)=(?!>)", head, maxsplit=1)[0]
    text = " ".join((head.rpartition(b"=>")[2] or head).decode("utf-8", "replace").split())
    one.name = text[:_MAX_NAME].strip() or one.name
    one.exported = True


def _name_constructors(found: Captured, owned: list[tuple[Definition, Definition | None]]) -> None:
    """Call what has several constructors an enum; drop the only one of a type if it has the type's name."""
    constructors: dict[int, list[Definition]] = {}
    types: dict[int, Definition] = {}
    for one, owner in owned:
        if one.kind == "constant" and owner is not None and owner.kind == "struct":
            types[owner.name_start] = owner
            constructors.setdefault(owner.name_start, []).append(one)
    for start, made in constructors.items():
        if len(made) > 1:
            types[start].kind = "enum"
        elif made[0].name == types[start].name:
            del found.definitions[made[0].name_start]
        else:
            made[0].kind = "function"


def _export(found: Captured, source: bytes, owned: list[tuple[Definition, Definition | None]]) -> None:
    """Tell what the export list names; without a list all is exported, and instances always are."""
    listed = _exports(found, source)
    for one, owner in owned:
        if listed is None or one.kind == "module" or one.exported:
            one.exported = True
        elif owner is None:
            one.exported = one.name in listed
        elif owner.exported:
            members = listed.get(owner.name)
            one.exported = members is None or ".." in members or one.name in members or one.name in listed
        else:
            one.exported = one.name in listed


def _exports(found: Captured, source: bytes) -> dict[str, frozenset[str]] | None:
    """Return the listed names with their listed members; None when there is no list or it names the module itself."""
    written = next((mark for mark in found.marks if mark.kind == "exports"), None)
    if written is None:
        return None
    own = {one.name for one in found.definitions.values() if one.kind == "module"}
    listed: dict[str, frozenset[str]] = {}
    text = _COMMENT.sub(b" ", source[written.start : written.end])
    for item in _EXPORT.finditer(text, text.find(b"(") + 1, text.rfind(b")")):
        name = (item.group("name") or item.group("operator")).decode("utf-8", "replace")
        if item.group("word") == b"module":
            if name in own:
                return None
            continue
        members = _MEMBER.findall(item.group("members") or b"")
        name = name.rpartition(".")[2] or name
        listed[name] = listed.get(name, frozenset()).union(member.decode("utf-8", "replace") for member in members)
    return listed
