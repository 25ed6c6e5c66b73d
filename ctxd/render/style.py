"""How a text answer is to look: the caller's directory, the terminal, what to add.

Pure; runs on the reader threads. Everything here that reaches stdout is escaped.
"""

from __future__ import annotations

import math
import posixpath

import msgspec

from ctxd.model import View
from ctxd.render import escape
from ctxprotocol.messages import Chunk, Find, Query, Request

_BOLD, _DIM, _OFF = "\x1b[1m", "\x1b[2m", "\x1b[0m"


class Style(msgspec.Struct, frozen=True, kw_only=True):
    """How to write an answer.

    `prefix` is View.prefix. `width` is 0 when stdout is no terminal: then no decoration is spent. `numbered`
    puts line numbers before code, `inline_stubs` writes a stub as one line, `explain` adds the parts of each
    score.
    """

    prefix: str | None = ""
    width: int = 0
    color: bool = False
    numbered: bool = False
    inline_stubs: bool = False
    explain: bool = False

    def path(self, path: str) -> str:
        """Return a worktree-relative path as the caller would type it, escaped."""
        if self.prefix:
            path = posixpath.relpath("/" + path, "/" + self.prefix)
        return escape.path(path)

    def bold(self, text: str) -> str:
        """Return `text` set off, where colour was asked for."""
        return f"{_BOLD}{text}{_OFF}" if self.color else text

    def dim(self, text: str) -> str:
        """Return `text` held back, where colour was asked for."""
        return f"{_DIM}{text}{_OFF}" if self.color else text


# No decoration: what a program reads.
PLAIN = Style()


def style(request: Request, view: View) -> Style:
    """Return the style that a request asks for.

    Bodies of `query` go unnumbered to a program (the header has the span, a number per line costs a fifth of
    the budget); `--full`, `chunk` and terminals get numbers.
    """
    full = isinstance(request, Query | Find) and request.full
    return Style(
        prefix=view.prefix,
        width=request.width,
        color=request.color,
        numbered=full or request.width > 0 or isinstance(request, Chunk),
        inline_stubs=isinstance(request, Query),
        explain=isinstance(request, Query | Find) and request.explain,
    )


def cropped(text: str, width: int) -> str:
    """Return `text` as one escaped line of at most `width` characters."""
    text = escape.line(text)
    return text if len(text) <= width else text[: max(width - 1, 1)].rstrip() + "…"


def count(number: int, noun: str) -> str:
    """Return a number with its noun: `1 file`, `1,204 files`, `2 indexes`, `3 repositories`."""
    if number == 1:
        return f"1 {noun}"
    ending = "es" if noun.endswith(("x", "ch", "s")) else "ies" if noun.endswith("y") else "s"
    return f"{number:,} {noun[:-1] if ending == 'ies' else noun}{ending}"


def milliseconds(value: float) -> str:
    """Return a duration in milliseconds without digits that mean nothing."""
    return "<1 ms" if value < 1 else f"{value:,.0f} ms"


def money(usd: float) -> str:
    """Return an amount of US dollars with two digits that mean something: `$0`, `$0.0003`, `$0.012`, `$1.20`."""
    if usd <= 0:
        return "$0"
    if usd < 0.000_01:
        return "<$0.00001"
    return f"${usd:.2f}" if usd >= 0.1 else f"${usd:.{1 - math.floor(math.log10(usd))}f}".rstrip("0")


def size(number: int) -> str:
    """Return a size in bytes as a person reads it: `812 B`, `1.4 MB`."""
    if number < 1000:
        return f"{number} B"
    value = float(number)
    for unit in ("kB", "MB", "GB", "TB"):
        value /= 1000
        if value < 999.5 or unit == "TB":
            break
    return f"{value:.1f} {unit}" if value < 99.95 else f"{value:.0f} {unit}"


def duration(seconds: float) -> str:
    """Return a span of time as a person says it: `4 s`, `12 min`, `3 h 5 min`, `2 d 1 h`."""
    whole = int(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min"
    if whole < 86_400:
        return f"{whole // 3600} h {whole % 3600 // 60} min"
    return f"{whole // 86_400} d {whole % 86_400 // 3600} h"
