"""Cutting one file's text into chunks: contiguous, along its structure, a partition of its lines. Pure.

Runs in a parse worker. Files with known structure go through pieces.py, all others through paragraphs.py;
what a chunk carries for ranking comes from surroundings.py.
"""

from __future__ import annotations

from ctxd import tokens
from ctxd.model import Chunk, ChunkKind
from ctxd.parse.extract import Extracted
from ctxd.parse.languages import Language
from ctxd.parse.lines import Lines
from ctxd.parse.paragraphs import cut_lines
from ctxd.parse.pieces import GROUP_TOKENS, Cutter, Piece
from ctxd.parse.surroundings import Surroundings

# Text without structure is cut finer than a function may be long: its pieces are about more things.
# Configuration of more tokens is data, whose rows are about one thing: half as many chunks will do.
_DATA_TOKENS = 20_000
_TEXT_SHARE, _CONFIG_SHARE = 0.8, 0.5


def cut(lines: Lines, extracted: Extracted, language: Language, max_tokens: int) -> tuple[Chunk, ...]:
    """Return the chunks of a file: every line is in exactly one, in order; no lines, no chunks.

    A chunk has at most `max_tokens` tokens unless a single line, or a line and blank ones behind it, has
    more.
    """
    if not lines.text:
        return ()
    sizes = tokens.sizes(lines.text)
    is_config = language.content == "config"
    if extracted.blocks:
        is_data = is_config and sum(sizes) > _DATA_TOKENS
        group_tokens = max_tokens if is_data else GROUP_TOKENS
        pieces = Cutter(lines.text, sizes, extracted.symbols, max_tokens, group_tokens).cut(extracted.blocks)
    else:
        pieces = _paragraphs(lines, sizes, language, max_tokens)
    surroundings = Surroundings(extracted.symbols, extracted.imports)
    starts = lines.byte_starts
    return tuple(
        Chunk(
            kind="config" if is_config and piece.kind == "gap" and not piece.owners else piece.kind,
            symbol=piece.symbol,
            line_start=piece.line_start,
            line_end=piece.line_end,
            byte_start=starts[piece.line_start - 1],
            byte_end=starts[piece.line_end],
            tokens=sum(sizes[piece.line_start - 1 : piece.line_end]),
            context=surroundings.of(piece, lines.join(piece.line_start, piece.line_end)),
        )
        for piece in pieces
    )


def _paragraphs(lines: Lines, sizes: list[int], language: Language, max_tokens: int) -> list[Piece]:
    is_config = language.content == "config"
    kind: ChunkKind = "config" if is_config else "text"
    limit = max(1, int(max_tokens * (_CONFIG_SHARE if is_config else _TEXT_SHARE)))
    return [Piece(kind, -1, start, end) for start, end in cut_lines(lines.text, sizes, 1, len(lines), limit)]
