"""What extraction gives: the facts of one file, before it is cut into chunks. Values; no behaviour."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from ctxd.model import Import, Reference, Symbol
from ctxd.parse.languages import Language
from ctxd.parse.structure import Block


class ExtractFailed(Exception):
    """The parser gave no tree for this file; it is to be indexed as text. The message says why."""


class Extracted(msgspec.Struct, frozen=True):
    """What one file defines, uses and imports, and how it is built.

    `symbols` are sorted by (line_start, -line_end, definition_line); references by line. `comment_header_end` is the
    last line of the comment that opens the file (licence, shebang, module comment), 0 without one. `note` is
    "syntax errors" when the tree has errors (what could be found is there all the same), else "".
    `plain` is, line by line, what the full-text index takes instead of the line itself (a notebook's code without its
    JSON and without outputs); empty for the lines as they are.
    """

    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    imports: tuple[Import, ...] = ()
    blocks: tuple[Block, ...] = ()
    comment_header_end: int = 0
    note: str = ""
    plain: tuple[str, ...] = ()


# How a reader asks for what another language stands inside its own: extract itself.
Inner = Callable[[Language, bytes], Extracted]
