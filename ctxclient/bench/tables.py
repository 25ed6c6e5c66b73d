"""Figures as tables for a terminal. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

_DIFFERENCE = re.compile(r"(?<=\s)[+-]\d\.\d{3}\b")


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return lines with the first column to the left and the others to the right, under a head."""
    wide = [max(len(row[column]) for row in (head, *rows)) for column in range(len(head))]
    lines = (
        [row[0].ljust(wide[0]), *(cell.rjust(width) for cell, width in zip(row[1:], wide[1:], strict=True))]
        for row in (head, *rows)
    )
    return "".join("  ".join(line).rstrip() + "\n" for line in lines)


def share(value: float) -> str:
    """Return a figure between 0 and 1."""
    return f"{value:.3f}"


def difference(value: float) -> str:
    """Return a difference of two shares; one that rounds to nothing as a dot."""
    return "." if abs(value) < 0.0005 else f"{value:+.3f}"


def colored(text: str) -> str:
    """Return text with its differences in green and red."""
    return _DIFFERENCE.sub(lambda found: f"\x1b[{32 if found[0][0] == '+' else 31}m{found[0]}\x1b[0m", text)


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
