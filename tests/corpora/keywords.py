"""What the text search knows of one language, and how its lines are written. Pure."""

from __future__ import annotations

import re

import msgspec

SPACE = r"[ \t]*"
NAME = r"(?P<name>[A-Za-z_]\w*)"


class Keywords(msgspec.Struct, frozen=True):
    """One language. `veil` matches what is hidden before `lines` are looked for, but for its group `kept`.

    A line begins at the first column; its group `name` is what it defines. `within`: only what this pattern's group
    `code` covers is looked at. `begins`: files that do not begin so hold none. `outermost`: only lines as deep as the
    file's first one. `joined`: a name that follows itself is one definition in several clauses. `table`: more lines
    than this in one file are rows of a table (0 = no such thing).
    """

    lines: tuple[re.Pattern[str], ...]
    veil: re.Pattern[str]
    within: re.Pattern[str] | None = None
    begins: re.Pattern[str] | None = None
    outermost: bool = False
    joined: bool = False
    table: int = 0


def lines(*patterns: str) -> tuple[re.Pattern[str], ...]:
    """Return the patterns, each of them anchored to the beginning of a line."""
    return tuple(re.compile(r"^" + pattern, re.MULTILINE) for pattern in patterns)
