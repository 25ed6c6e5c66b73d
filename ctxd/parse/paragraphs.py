"""Cutting lines that have no known structure: text, configuration, code of a language without a grammar.
Pure.

A piece ends where the text itself pauses: before a line that follows a blank one and stands far to the left.
That is the paragraph in prose, the table in TOML, the top key in YAML, the function in any indented language.
"""

from __future__ import annotations

from collections.abc import Sequence

# A piece is a screenful.
MAX_LINES = 60
# A cut leaves at least this share of the possible piece, so that a pause near its beginning is not taken.
_LEAST = 0.4
# How bad a cut is: a column of indentation counts 1, a line before it that is not blank 6, one that closes or
# continues a block 12; tabs count as four columns.
_NOT_BLANK, _CLOSES = 6, 12
_CLOSERS = ("}", ")", "]", "end", "else", "elif", "except", "finally", "catch", "fi", "done", "esac", "</")


def cut_lines(
    lines: Sequence[str], sizes: Sequence[int], line_start: int, line_end: int, max_tokens: int
) -> list[tuple[int, int]]:
    """Return spans that partition the lines `line_start` to `line_end` (1-based, inclusive), each within the
    limits.

    `sizes[n - 1]` is the number of tokens of line n. A single line over the limit is a span of its own.
    """
    spans: list[tuple[int, int]] = []
    at = line_start
    while at <= line_end:
        stop = _reach(sizes, at, line_end, max_tokens)
        if stop <= line_end:
            stop = _best_cut(lines, at, stop)
        # Blank lines belong to what they follow.
        while stop <= line_end and not lines[stop - 1].strip():
            stop += 1
        spans.append((at, stop - 1))
        at = stop
    return spans


def _reach(sizes: Sequence[int], at: int, line_end: int, max_tokens: int) -> int:
    """Return the first line that does not fit any more behind line `at`."""
    total = sizes[at - 1]
    stop = at + 1
    while stop <= line_end and stop - at < MAX_LINES and total + sizes[stop - 1] <= max_tokens:
        total += sizes[stop - 1]
        stop += 1
    return stop


def _best_cut(lines: Sequence[str], at: int, stop: int) -> int:
    """Return the line, behind `at` and up to `stop`, that is the best first line of the next piece; late ones
    win."""
    best, least = stop, 1 << 30
    for line in range(stop, at + int((stop - at) * _LEAST), -1):
        text = lines[line - 1]
        stripped = text.lstrip()
        if not stripped:
            continue
        penalty = len(text) - len(stripped) + 3 * text[: len(text) - len(stripped)].count("\t")
        if lines[line - 2].strip():
            penalty += _NOT_BLANK
        if stripped.startswith(_CLOSERS):
            penalty += _CLOSES
        if penalty < least:
            best, least = line, penalty
            if not penalty:
                break
    return best
