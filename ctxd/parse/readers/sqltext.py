"""SQL as text, in any dialect: what of it is code, and where its statements begin and end. Pure.

No grammar covers the procedural languages of the dialects: a tree of such a file is one error. So statements are told
by what separates them: `;` outside blocks, `GO`, `/`, a `DELIMITER`, and a `CREATE` in the first column, which keeps
one broken statement from taking the rest of the file with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

# In lower-case text. A string ends before a statement that creates: there its closing quote is missing.
_OPAQUE = (
    rb"--[^\n]*|/\*(?!!).*?(?:\*/|\Z)|/\*!\d*|\*/"
    rb"|'(?>(?:[^'\\;]+|;(?!\s*\n[ \t]*create\b)|''|\\(?!'\s*[,;)\n]).|\\)*)'?"
    rb"|\"[^\"\n]*\"|`[^`\n]*`"
)
_QUOTING = re.compile(_OPAQUE + rb"|\$(?P<tag>[a-z_]*)\$(?P<body>.*?)\$(?P=tag)\$", re.DOTALL)
# Where `$$` is declared a delimiter, it quotes nothing.
_DELIMITING = re.compile(_OPAQUE + rb"|\$(?P<tag>[a-z_]+)\$(?P<body>.*?)\$(?P=tag)\$", re.DOTALL)
_DOLLARS = re.compile(rb"^[ \t]*delimiter[ \t]+\$\$", re.MULTILINE)
_BLANK = bytes(byte if byte == 10 else 32 for byte in range(256))
_DELIMITER = re.compile(rb"^[ \t]*delimiter[ \t]+(?P<mark>\S+)[^\n]*", re.MULTILINE)
_GO = re.compile(rb"^[ \t]*go[ \t]*(?:\d+[ \t]*)?\r?$", re.MULTILINE)
_SLASH = re.compile(rb"^/[ \t]*\r?$", re.MULTILINE)
# A file of T-SQL may hold one routine and no `GO`.
_BATCH = re.compile(
    rb"\bset\s+nocount\b|\bcreate\s+or\s+alter\b|\bdeclare\s+@\w"
    rb"|@\w+\s+(?:as\s+)?\[?(?:n?varchar|int|bit|bigint|date|datetime2?|decimal|money|uniqueidentifier)\b"
)
_STEP = re.compile(
    rb"(?P<end>;|^[ \t]*go[ \t]*(?:\d+[ \t]*)?\r?$|^/[ \t]*\r?$)|(?P<open>\b(?:begin(?![ \t]+tran|[ \t]*;)|case)\b)"
    rb"|(?P<close>\bend\b(?!\s+(?:if|loop|while|repeat|for)\b))"
    rb"|(?P<head>^(?:create|alter|drop|grant|comment[ \t]+on|use)\b)",
    re.MULTILINE,
)
_ROUTINE = re.compile(
    rb"\s*create\s+(?:or\s+(?:replace|alter)\s+)?(?:[a-z_]+\s*=\s*\S+\s+|[a-z_]+\s+){0,6}?"
    rb"(?:function|procedure|proc|trigger|event|package)\b"
)
# Nothing nests deeper than a quoted body in a quoted body.
_MAX_NESTING = 3


class Masked(msgspec.Struct, frozen=True):
    """A file in lower case, of its own length. `code` is without comments and strings; `flat` without quoted bodies."""

    code: bytes
    flat: bytes


def mask(source: bytes, depth: int = 0) -> Masked:
    """Return the text with spaces for what is no code."""
    lower = source.lower() if depth == 0 else source
    code: list[bytes] = []
    flat: list[bytes] = []
    at = 0
    for opaque in (_DELIMITING if _DOLLARS.search(lower) else _QUOTING).finditer(lower):
        between = lower[at : opaque.start()]
        at = opaque.end()
        text = opaque.group()
        blank = text.translate(_BLANK)
        code.append(between)
        flat.append(between)
        if text[:1] in b'"`':
            code.append(text)
            flat.append(text)
        elif opaque["body"] is not None and depth < _MAX_NESTING:
            quote = b"$" + opaque["tag"] + b"$"
            code += [quote, mask(opaque["body"], depth + 1).code, quote]
            flat.append(b"$" + blank[1:-1] + b"$")
        else:
            code.append(blank)
            flat.append(blank)
    return Masked(b"".join([*code, lower[at:]]), b"".join([*flat, lower[at:]]))


def statements(flat: bytes) -> Iterator[tuple[int, int]]:
    """Yield where each statement begins and ends, without its separator."""
    begin, mark = 0, b";"
    for change in [*_DELIMITER.finditer(flat), None]:
        end = change.start() if change else len(flat)
        if mark == b";":
            yield from _told_by_steps(flat, begin, end)
        else:
            yield from _told_by_mark(flat, begin, end, mark)
        if change:
            begin, mark = change.end(), change["mark"]


def _told_by_mark(flat: bytes, begin: int, end: int, mark: bytes) -> Iterator[tuple[int, int]]:
    while begin < end:
        close = flat.find(mark, begin, end)
        close = close if close != -1 else end
        yield from _trimmed(flat, begin, close)
        begin = close + len(mark)


def _told_by_steps(flat: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    go = _GO.search(flat, begin, end) is not None or _BATCH.search(flat, begin, end) is not None
    slash = _SLASH.search(flat, begin, end) is not None
    routine: bool | None = None
    depth = 0
    for step in _STEP.finditer(flat, begin, end):
        if routine is None:
            routine = _ROUTINE.match(flat, begin, end) is not None
        at, ends = step.start(), False
        if step["end"]:
            ends = not routine or step["end"] != b";" or not (go or slash or depth > 0)
        elif step["head"]:
            # One batch holds one routine, and what a routine of T-SQL creates may stand in the first column.
            ends = not (routine and (go or (depth > 0 and step["head"] != b"create"))) and bool(flat[begin:at].strip())
        elif routine:
            depth = max(0, depth + (1 if step["open"] else -1))
        if ends:
            yield from _trimmed(flat, begin, at)
            begin, routine, depth = step.end() if step["end"] else at, None, 0
    yield from _trimmed(flat, begin, end)


def _trimmed(flat: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    text = flat[begin:end]
    if bare := text.strip():
        start = begin + len(text) - len(text.lstrip())
        yield start, start + len(bare)
