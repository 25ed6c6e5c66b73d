"""A definition as a row of an answer. Pure."""

from __future__ import annotations

import re

from ctxd.model import Hit, Symbol
from ctxd.store.catalog import Defined

# The end of a sentence: a full stop and what may begin the next one, or a line break before an empty line.
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[^a-z\s])|\n\s*\n|(?<=[。！？])")
_LONGEST = 240


def hit(defined: Defined) -> Hit:
    """Return a definition as a place: no code, no score."""
    symbol = defined.symbol
    return Hit(
        file=defined.path,
        line_start=symbol.line_start,
        line_end=symbol.line_end,
        type=symbol.kind,
        name=symbol.name,
        language=defined.language,
        qualified_name=symbol.qualified_name,
        parent=symbol.parent,
        definition_line=symbol.definition_line,
        exported=symbol.exported,
        summary=summary(symbol),
        signature=symbol.signature,
    )


def summary(symbol: Symbol) -> str:
    """Return the first sentence of the doc comment on one line, else the signature."""
    doc = symbol.doc.strip()
    if not doc:
        return symbol.signature
    first = " ".join(_SENTENCE.split(doc, maxsplit=1)[0].split())
    return first if len(first) <= _LONGEST else first[: _LONGEST - 1].rstrip() + "…"
