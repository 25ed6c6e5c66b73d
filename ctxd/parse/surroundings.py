"""What stands around a chunk and says what it is about: for ranking, never shown. Pure; runs in a parse
worker."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxd.model import Import, Symbol
from ctxd.parse.pieces import Piece

# More would outweigh the chunk itself, which has 500 tokens at most.
_MAX_CHARACTERS = 600
_MAX_IMPORTS = 10
_WORD = re.compile(r"[A-Za-z_]\w*")


class Surroundings:
    """One file's enclosing definitions and imports, asked about chunk by chunk."""

    def __init__(self, symbols: Sequence[Symbol], imports: Sequence[Import]) -> None:
        self._symbols = symbols
        self._bound: dict[str, str] = {}
        for entry in imports:
            for name, alias in zip(entry.names, entry.aliases, strict=False):
                self._bound.setdefault(alias or name, f"{entry.module} {name}")
            if not entry.names:
                self._bound.setdefault(re.split(r"[./:\\]", entry.module)[-1], entry.module)

    def of(self, piece: Piece, text: str) -> str:
        """Return the enclosing signatures, the owner that only the symbol knows, and the imports that `text`
        uses."""
        if piece.kind in ("imports", "text", "config"):
            return ""
        around = [self._symbols[owner].signature or self._symbols[owner].name for owner in piece.owners]
        if piece.symbol >= 0 and piece.symbol not in piece.owners:
            parent = self._symbols[piece.symbol].parent
            if parent and not any(self._symbols[owner].qualified_name == parent for owner in piece.owners):
                around.append(parent)
        used: list[str] = []
        if self._bound:
            used = [self._bound[name] for name in sorted(self._bound.keys() & set(_WORD.findall(text)))]
        return "\n".join([*around, *used[:_MAX_IMPORTS]])[:_MAX_CHARACTERS]
