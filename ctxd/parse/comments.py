"""Doc comments: where the one above a definition begins, and its first paragraph. Pure, by lines of bytes."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from ctxd.parse.families.family import Family

# A longer first paragraph is cut: it is for a one-line summary and for ranking.
MAX_DOC = 400
# No doc comment is longer; a bound for files whose lines all look like comments.
_MAX_LINES = 400
_MARKERS = re.compile(r"^(?:/\*+!?|///?!?|\(\*+|\*+/?|#+[:']?|<!--|-{2,}(?!>)|\{-)(?:\s?[|^](?=\s))?\s?")
_CLOSING = re.compile(r"(?:\*+[/)]|-\}|\*+)\s*$")
_NOTHING = re.compile(r"^[\W_]*$")


def first_comment_row(lines: Sequence[bytes], row: int, family: Family) -> int:
    """Return the first row of the comments (and annotations) that end directly above `row`, or `row` itself."""
    first = row
    lowest = max(0, row - _MAX_LINES)
    while first > lowest:
        text = lines[first - 1].strip()
        if text.startswith(family.line_comments):
            if text.startswith(b"#!") and first == 1:
                break
            first -= 1
        elif family.block_comments and text.endswith(family.block_marks[1]):
            opening = _block_opening(lines, first - 1, lowest, family.block_marks)
            if opening == -1:
                break
            first = opening
        elif family.annotations and text.startswith(b"@"):
            first -= 1
        else:
            break
    return first


def _block_opening(lines: Sequence[bytes], row: int, lowest: int, marks: tuple[bytes, bytes]) -> int:
    """Return the row that opens the comment closed on `row` if nothing stands before it there, else -1."""
    closed = row
    while row >= lowest:
        at = lines[row].rfind(marks[0])
        if at != -1:
            return row if not lines[row][:at].strip() else -1
        if row < closed and marks[1] in lines[row]:
            break  # what is closed there is no comment: a long string of Lua
        row -= 1
    return -1


def trailing_comment(source: bytes, end: int, family: Family) -> bytes:
    """Return the comment that follows on the line on which a definition ends at byte `end`."""
    line_end = source.find(b"\n", end)
    rest = source[end : line_end if line_end != -1 else len(source)].lstrip(b" \t;,")
    if rest.startswith(family.line_comments):
        return rest
    opening, closing = family.block_marks
    if family.block_comments and rest.startswith(opening):
        begin = source.find(opening, end)
        close = source.find(closing, begin, begin + 4 * MAX_DOC)
        return source[begin:close] if close != -1 else rest
    return b""


def paragraph(raw: bytes) -> str:
    """Return the first paragraph of a docstring or of comment lines, without markers, as one line."""
    words: list[str] = []
    length = 0
    for line in raw.decode("utf-8", "replace").split("\n"):
        text = line.strip()
        # A rule of dashes or an empty line ends the paragraph once it has begun.
        bare = _CLOSING.sub("", _MARKERS.sub("", text)).strip()
        if not bare or _NOTHING.match(bare) or (bare.startswith("@") and words):
            if words:
                break
            continue
        if bare.startswith("@"):
            break
        words.append(bare)
        length += len(bare) + 1
        if length > MAX_DOC:
            break
    return " ".join(" ".join(words).split())[:MAX_DOC]


def header_end(lines: Sequence[bytes], family: Family) -> int:
    """Return the last line (1-based) of the comment that opens the file, 0 without one."""
    row, end, count = 0, 0, len(lines)
    opening, closing = family.block_marks
    while row < count:
        text = lines[row].strip()
        if text.startswith((b"#!", *family.line_comments)):
            row += 1
        elif family.block_comments and text.startswith(opening):
            while row < count and closing not in lines[row]:
                row += 1
            if row == count or lines[row].rpartition(closing)[2].strip():
                break
            row += 1
        else:
            break
        end = row
    return end


def without_comments(raw: bytes, family: Family) -> bytes:
    """Return code without its comments; what only looks like one inside a string goes too."""
    marks = family.block_marks if family.block_comments else None
    return _comments(family.line_comments, marks).sub(b" ", raw)


@functools.cache
def _comments(line: tuple[bytes, ...], marks: tuple[bytes, bytes] | None) -> re.Pattern[bytes]:
    # `-->` is an operator wherever `--` is a comment.
    patterns = [rb"(?s:%b.*?%b)" % (re.escape(marks[0]), re.escape(marks[1]))] if marks else []
    if line:
        patterns.append(rb"(?:^|\s)(?:" + b"|".join(map(re.escape, line)) + rb")(?!(?<=--)>)[^\n]*")
    return re.compile(b"|".join(patterns))
