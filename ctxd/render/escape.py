"""How text from files is shown to people: nothing invisible, nothing that moves the cursor or the eye.

Pure; runs on the reader threads. Text output only: JSON carries content as it is.
"""

from __future__ import annotations

import os
import re

# Controls (C0 but tab and line feed, DEL, C1), soft hyphen, zero-width and bidirectional marks, line and
# paragraph separators, invisible operators, BOM, interlinear marks, tag characters and the variation
# selectors beside them, lone surrogates. ZWNJ and ZWJ stay: scripts need them, and they reorder nothing.
_HIDDEN = (
    r"\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    r"\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U0001d173-\U0001d17a"
    r"\U000e0000-\U000e0fff"
)
# One variation selector picks the look of an emoji; a row of them hides data.
_IN_BLOCK = re.compile(rf"[{_HIDDEN}]|[\ufe00-\ufe0f](?=[\ufe00-\ufe0f])|(?<=[\ufe00-\ufe0f])[\ufe00-\ufe0f]")
_IN_LINE = re.compile(rf"[\t\n]|{_IN_BLOCK.pattern}")
_PLAIN = re.compile(r"[^\s\"\\:\u2014]+")
_BREAK = re.compile(r"\r\n|\r|\n")
_SHORT = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}


def _written(match: re.Match[str]) -> str:
    char = match.group()
    code = ord(char)
    if char in _SHORT:
        return _SHORT[char]
    if 0xDC80 <= code <= 0xDCFF:  # a byte that was no UTF-8, by surrogateescape
        return f"\\x{code - 0xDC00:02x}"
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def block(text: str) -> str:
    """Return `text` with hidden characters written out; line feeds and tabs stay."""
    return _IN_BLOCK.sub(_written, text)


def line(text: str) -> str:
    """Return `text` as one line: hidden characters, tabs and line breaks written out."""
    return _IN_LINE.sub(_written, text)


def path(text: str) -> str:
    """Return a path as one word: in quotes, with `\\` and `"` escaped, when it could be read as anything
    else.

    A name with a space, a colon, a dash or a hidden character cannot pose as another result's line.
    """
    shown = line(text)
    if shown == text and _PLAIN.fullmatch(text):
        return text
    return '"' + line(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def root(text: str) -> str:
    """Return an absolute path of this machine as valid Unicode: bytes that are no UTF-8 become `\\xNN`."""
    return os.fsencode(text).decode("utf-8", "backslashreplace")


def lines(code: str) -> list[str]:
    """Split whole lines at LF, CRLF and CR, as line numbers count them, each with hidden characters written
    out.

    A break at the very end closes the last line and opens none.
    """
    split = _BREAK.split(code)
    if len(split) > 1 and not split[-1]:
        split.pop()
    return [block(one) for one in split]
