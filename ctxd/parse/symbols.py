"""From settled definitions and uses to the model's symbols and references. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate
from typing import cast

from ctxd.model import Reference, ReferenceKind, Symbol, SymbolKind
from ctxd.parse import comments
from ctxd.parse.capture import Captured, Definition, Use
from ctxd.parse.families.family import CLASSES, VALUES, Family

MAX_SIGNATURE = 240
_RECEIVER = re.compile(rb"([A-Za-z_][\w.]{0,60})(?:\.|->|::)$")
# Read in every file: of no use to whoever asks where a name is read.
_COMMON = frozenset({b"NULL", b"TRUE", b"FALSE", b"EOF", b"NAN"})
# Built-in types and type parameters: nobody asks who uses them.
_BUILT_IN = frozenset(
    """T U V K Self any bool byte bytes char complex64 complex128 dict error float float32 float64 int int8 int16 int32
    int64 list object rune set size_t str string tuple type uint uint8 uint16 uint32 uint64 uintptr void""".split()  # noqa: SIM905
)


def line_starts(lines: Sequence[bytes]) -> list[int]:
    """Return the byte at which each line starts, and one more for the end."""
    return list(accumulate([len(line) + 1 for line in lines], initial=0))


def symbols(
    definitions: Sequence[Definition],
    source: bytes,
    lines: Sequence[bytes],
    starts: Sequence[int],
    family: Family,
) -> tuple[Symbol, ...]:
    """Return the symbols in their order and note each one's index in its definition."""
    made: list[tuple[int, int, int, int, Symbol]] = []
    for place, definition in enumerate(definitions):
        kind = definition.kind if definition.kind != "extension" else family.extension_kind
        if not kind:
            continue
        row = first = definition.row
        if not lines[row][: definition.start - starts[row]].strip():
            first = comments.first_comment_row(lines, row, family)
        end = max(definition.end_row, definition.name_row)
        name_row = definition.name_row
        symbol = Symbol(
            name=definition.name,
            qualified_name=definition.qualified,
            kind=cast(SymbolKind, kind),
            parent=definition.parent,
            exported=definition.exported,
            line_start=first + 1,
            line_end=end + 1,
            definition_line=name_row + 1,
            signature=_signature(definition, source, starts, family),
            doc=_doc(definition, source, lines, first, family),
        )
        made.append((first, -end, name_row, place, symbol))
    made.sort(key=lambda entry: entry[:4])
    for index, entry in enumerate(made):
        definitions[entry[3]].index = index
    _lend(definitions)
    return tuple(entry[4] for entry in made)


def _lend(definitions: Sequence[Definition]) -> None:
    """Let what an extension uses be used by the type it extends, where that is in the same file."""
    types: dict[str, int] = {}
    for definition in definitions:
        if definition.index != -1 and definition.kind in CLASSES:
            types.setdefault(definition.qualified, definition.index)
    for definition in definitions:
        if definition.kind == "extension" and definition.index == -1:
            definition.index = types.get(definition.qualified, types.get(definition.parent, -1))


def _signature(definition: Definition, source: bytes, starts: Sequence[int], family: Family) -> str:
    head = definition.head
    if source.startswith((b"@", b"[", b"#["), head):
        head = max(starts[definition.name_row], definition.start)
    body = definition.body > head
    raw = source[head : min(definition.body if body else definition.end, head + 2000)]
    if not body and (definition.kind in VALUES or definition.kind == "macro"):
        raw = raw.partition(b"\n")[0].rstrip(b"\\\r")
    text = " ".join(comments.without_comments(raw, family).decode("utf-8", "replace").split())
    text = text.removesuffix("{").rstrip()
    return (text.rstrip(family.signature_ends) if body else text)[:MAX_SIGNATURE]


def _doc(
    definition: Definition,
    source: bytes,
    lines: Sequence[bytes],
    first: int,
    family: Family,
) -> str:
    raw = definition.doc
    if not raw and definition.body != -1:
        raw = family.docstring(source, definition.body)
    if not raw and first < definition.row:
        raw = b"\n".join(lines[first : definition.row])
    if not raw and definition.row < definition.name_row:
        # Between decorators and the definition.
        between = lines[definition.row : definition.name_row]
        raw = b"\n".join(line for line in between if line.lstrip().startswith(family.line_comments))
    if not raw and definition.kind in VALUES and definition.end_row == definition.name_row:
        raw = comments.trailing_comment(source, definition.end, family)
    elif not raw and definition.kind == "macro":
        raw = b"".join(lines[definition.name_row].partition(b"/*")[1:])
    return comments.paragraph(family.prose(raw)) if raw else ""


def references(
    found: Captured, definitions: Sequence[Definition], source: bytes, starts: Sequence[int], family: Family
) -> tuple[Reference, ...]:
    """Return every use with the innermost symbol around it, by place; the same use once per line."""
    named = {definition.name_start for definition in found.definitions.values()}
    built_in = _BUILT_IN | family.built_in
    uses = [
        use
        for start, use in found.uses.items()
        if use.kind != "type" or (start not in named and use.name not in built_in)
    ]
    uses += _constants(found, named, source, starts, family)
    uses.sort(key=lambda use: use.start)
    made: list[Reference] = []
    seen: set[tuple[str, str, int, int, str]] = set()
    stack: list[Definition] = []
    following, count = 0, len(definitions)
    for use in uses:
        start = use.start
        while following < count and definitions[following].start <= start:
            stack.append(definitions[following])
            following += 1
        while stack and stack[-1].end <= start:
            stack.pop()
        enclosing = stack[-1].index if stack else -1
        key = (use.name, use.kind, use.row, enclosing, use.receiver)
        if key not in seen:
            seen.add(key)
            made.append(Reference(use.name, cast(ReferenceKind, use.kind), use.row + 1, enclosing, use.receiver))
    return tuple(made)


def _constants(found: Captured, named: set[int], source: bytes, starts: Sequence[int], family: Family) -> list[Use]:
    """Return the reads of UPPER_CASE names outside comments and strings, by one scan of the bytes."""
    skips, uses = sorted(found.skips), found.uses
    made: list[Use] = []
    at, count, row, rows = 0, len(skips), 0, len(starts)
    for match in family.constants.finditer(source):
        start = match.start()
        while at < count and skips[at][1] <= start:
            at += 1
        if at < count and skips[at][0] <= start:
            continue
        name = match.group()
        if start in named or start in uses or name in _COMMON:
            continue
        while row + 1 < rows and starts[row + 1] <= start:
            row += 1
        before = source[max(starts[row], start - 64) : start]
        receiver = _RECEIVER.search(before) if before.endswith((b".", b"->", b"::")) else None
        owner = receiver.group(1).decode("utf-8", "replace") if receiver else ""
        made.append(Use(name.decode(), "constant", start, row, 0, owner))
    return made
