"""From a file's bytes to all that is known of it. Pure but for the grammars; runs in a parse worker."""

from __future__ import annotations

import sys
import traceback

from ctxd import words
from ctxd.model import Chunk, ParsedFile
from ctxd.packing import pack
from ctxd.parse.chunk import cut
from ctxd.parse.encodings import decode
from ctxd.parse.extract import Extracted, ExtractFailed, by_lines, extract
from ctxd.parse.languages import Language
from ctxd.parse.lines import Lines, source, split
from ctxd.parse.masking import mask
from ctxd.parse.pipe import ParseSettings
from ctxd.parse.verdicts import is_generated


def parse(data: bytes, language: Language, settings: ParseSettings, note: str = "") -> ParsedFile:
    """Return the facts of one file's bytes. With a `note` no grammar is used and the file carries the
    note."""
    decoded = decode(data)
    text = mask(decoded.text)
    lines = split(text)
    if not note and len(data) > settings.max_file_bytes:
        note = "too large to parse: indexed as text"
    extracted = by_lines(language, source(text), note) if note else _extracted(language, source(text))
    chunks = cut(lines, extracted, language, settings.max_chunk_tokens)
    return ParsedFile(
        language=language.name,
        content=language.content,
        encoding=decoded.encoding,
        replaced=decoded.replaced,
        line_count=len(lines),
        text=pack(text.encode()),
        symbols=extracted.symbols,
        references=extracted.references,
        imports=extracted.imports,
        chunks=chunks,
        words=tuple(words.expand(_plain(lines, extracted, chunk)) for chunk in chunks),
        note=extracted.note,
        generated=is_generated(data, language),
    )


def _plain(lines: Lines, extracted: Extracted, chunk: Chunk) -> str:
    """Return the text of a chunk from which its words are taken."""
    if extracted.plain:
        return "\n".join(extracted.plain[chunk.line_start - 1 : chunk.line_end])
    return lines.join(chunk.line_start, chunk.line_end)


def _extracted(language: Language, data: bytes) -> Extracted:
    try:
        return extract(language, data)
    except ExtractFailed as failed:
        return Extracted(note=f"not parsed: {failed}")
    except Exception as error:
        # A fault of ours in one language must not cost the file; its note says so, and the log has the place.
        traceback.print_exc(file=sys.stderr)
        return Extracted(note=f"not parsed: {type(error).__name__}")
