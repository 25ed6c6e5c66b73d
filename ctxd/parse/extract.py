"""Definitions, references, imports and structure of one file's text. Pure; runs in a parse worker.

`extract` is the only entry. Languages with a grammar go through `tree.py` (one query pass), Markdown through
`markdown.py`; a language with neither gives an empty `Extracted`.

Blocks are the file's structure for whoever cuts it into chunks. They form a forest in document order, sorted by
(line_start, -line_end): the children of a block follow it directly with `depth` + 1, roots have depth 0. Promised:

* A block lies inside its parent's lines; siblings share no line and are ascending. Lines between them (blank lines,
  comments, closing brackets, headers) belong to no child: they are the gaps.
* `definition`: a symbol's span with its doc comment and decorators; `symbol` is its index in `symbols`. Children are
  its members and nested definitions, and, when it is long, the statements between them. A symbol that starts on a
  line that an earlier sibling already covers (`int a, b;`) has no block of its own.
* `imports`: a run of import statements with nothing but blank lines and comments between them.
* `statement`: any other statement, clause or element that begins on a line of its own. Given at the top level and
  inside every node of more than LONG_BYTES bytes, so that a body too long for one chunk can be cut between them.
  `symbol` is -1.
* `section`: a Markdown section from its heading to the line before the next heading of its own or a higher level;
  `symbol` is its index. Children are subsections, and in long ones paragraphs and fenced blocks as `statement`.

So: a block that fits is one chunk; else cut it into its children, the gap before a child going to that child, and the
first gap (up to the first child) being the header. Depth is at most MAX_DEPTH.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ctxd.model import Import, Reference, Symbol
from ctxd.parse.languages import Language

BlockKind = Literal["definition", "imports", "statement", "section"]


class ExtractFailed(Exception):
    """The parser gave no tree for this file; it is to be indexed as text. The message says why."""


class Block(msgspec.Struct, frozen=True, array_like=True):
    """One node of a file's structure; see the module's docstring. Lines are 1-based and inclusive."""

    kind: BlockKind
    symbol: int
    line_start: int
    line_end: int
    depth: int


class Extracted(msgspec.Struct, frozen=True):
    """What one file defines, uses and imports, and how it is built.

    `symbols` are sorted by (line_start, -line_end, definition_line); references by line. `comment_header_end` is the
    last line of the comment that opens the file (licence, shebang, module comment), 0 without one. `note` is
    "syntax errors" when the tree has errors (what could be found is there all the same), else "".
    """

    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    imports: tuple[Import, ...] = ()
    blocks: tuple[Block, ...] = ()
    comment_header_end: int = 0
    note: str = ""


def extract(language: Language, source: bytes) -> Extracted:
    """Return what `source` (UTF-8, lone CR already turned into LF) holds. Raises ExtractFailed."""
    raise ExtractFailed(f"{language.name}: not implemented")
