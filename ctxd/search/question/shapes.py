"""What a piece of a question looks like: a name, a path, a quoted text, a stack frame. Pure; on the readers.

Pieces are cut at white space and matched as a whole, and every repetition is bounded: no question makes these
patterns slow.
"""

from __future__ import annotations

import re

import msgspec

# Longer pieces are data, neither names nor paths.
_LONGEST = 240

# The second form is how old C programs quote: `like this'.
_QUOTED = re.compile(
    r"`([^`\n]{1,400})`|`([^`'\n]{1,400})'|\"([^\"\n]{1,400})\"|“([^”\n]{1,400})”|(?<!\w)'([^'\n]{1,400})'(?!\w)"
)
_PYTHON_FRAME = re.compile(r'File "([^"\n]{1,400})", line (\d{1,7})(?:, in ([^\s]{1,200}))?')
_OTHER_FRAME = re.compile(
    r"^\s{0,40}(?:#\d{1,4}\s+)?(?:at|in|from)\s(?:async )?(?:([\w$.<>\[\]:~]{1,200})\s?)?"
    r"\(?([^\s()]{1,400}?):(\d{1,7})(?::\d{1,7})?\)?",
    re.MULTILINE,
)
_IDENTIFIER = r"[^\W\d][\w$]*[?!]?"
_NAME = re.compile(rf"[@$]?{_IDENTIFIER}")
_QUALIFIED = re.compile(rf"[@$]?{_IDENTIFIER}(?:(?:::|\.|#|->|/|\\){_IDENTIFIER})+")
_JOINTS = re.compile(r"::|\.|#|->|/|\\")
_INNER_CAPITAL = re.compile(r"[a-z0-9][A-Z]|[A-Z]{2}[a-z]")
_PATH = re.compile(
    r"(?P<path>(?:[A-Za-z]:)?[\\/]?(?:[^\s:\\/]{1,120}[\\/]){0,30}[^\s:\\/]{1,120}?[\\/]?)"
    r"(?::(?P<a>\d{1,7})(?::\d{1,7})?(?:-\d{1,7})?|#L(?P<b>\d{1,7})(?:-L?\d{1,7})?|\((?P<c>\d{1,7})(?:,\d{1,7})?\))?:?"
)
_SUFFIX = re.compile(r"[^.].*\.[A-Za-z][A-Za-z0-9+]{0,7}|\.[a-z][\w.-]{1,40}|[A-Z][a-z]+file")
_EDGES = "\"'`“”‘’,;:!?()[]{}<>…"


class Quoted(msgspec.Struct, frozen=True):
    """A text in quotes; `code` when the quotes are backticks."""

    text: str
    code: bool


class Frame(msgspec.Struct, frozen=True):
    """One line of a stack trace."""

    path: str
    line: int
    name: str


class Path(msgspec.Struct, frozen=True):
    """A path as written, `\\` turned into `/`. `line` 0 = none. `sure`: it can hardly be anything else."""

    path: str
    line: int
    sure: bool


class Name(msgspec.Struct, frozen=True):
    """A name as written, without its brackets. `segments` are its parts at `::`, `.`, `#`, `->`, `/`.

    `coded`: only code is written like that. `written`: so is its last segment alone, or it is called.
    """

    text: str
    segments: tuple[str, ...]
    coded: bool
    written: bool = True


def quoted(text: str) -> list[Quoted]:
    """Return the texts in quotes, in order."""
    found = []
    for match in _QUOTED.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        if inner.strip():
            found.append(Quoted(inner.strip(), match.group().startswith("`")))
    return found


def unquoted(text: str) -> str:
    """Return `text` with a line break for each quoted text."""
    return _QUOTED.sub("\n", text)


def frames(text: str) -> list[Frame]:
    """Return the stack frames in `text`, the innermost first."""
    python = [Frame(m[1].replace("\\", "/"), int(m[2]), m[3] or "") for m in _PYTHON_FRAME.finditer(text)]
    if python:
        return python[::-1]
    return [Frame(m[2].replace("\\", "/"), int(m[3]), m[1] or "") for m in _OTHER_FRAME.finditer(text)]


def unframed(text: str) -> str:
    """Return `text` without its stack frames."""
    return _OTHER_FRAME.sub("\n", _PYTHON_FRAME.sub("\n", text))


def path(piece: str) -> Path | None:
    """Return the path that a piece without white space is, if it is one."""
    if len(piece) > _LONGEST or "://" in piece or "::" in piece:
        return None
    match = _PATH.fullmatch(piece.strip(_EDGES.replace("(", "").replace(")", "")))
    if match is None:
        return None
    plain = match["path"].replace("\\", "/").removeprefix("./")
    line = int(match["a"] or match["b"] or match["c"] or 0)
    base = plain.rstrip("/").rpartition("/")[2]
    suffixed = _SUFFIX.fullmatch(base) is not None
    slashed = "/" in plain.strip("/") and re.search(r"\w", base) is not None
    if not plain.strip("/.") or not (suffixed or slashed or plain.endswith("/")):
        return None
    return Path(plain.rstrip("/"), line, bool(line) or (slashed and suffixed))


def name(piece: str) -> Name | None:
    """Return the name that a piece without white space is, if it is one."""
    called = "(" in piece and not piece.startswith("(")
    body = piece.strip(_EDGES).split("(", 1)[0].rstrip(".").strip(_EDGES.replace("?", "").replace("!", ""))
    body = body if _NAME.fullmatch(body) or _QUALIFIED.fullmatch(body) else body.strip(_EDGES + ".")
    if not body or len(body) > _LONGEST:
        return None
    if _QUALIFIED.fullmatch(body):
        segments = tuple(filter(None, _JOINTS.split(body.lstrip("@$"))))
        return Name(body, segments, True, called or _is_coded(segments[-1]))
    if not _NAME.fullmatch(body):
        return None
    return Name(body, (body.lstrip("@"),), called or _is_coded(body) or body[0] in "@$")


def _is_coded(name: str) -> bool:
    return "_" in name or _INNER_CAPITAL.search(name) is not None
