"""Which definitions only announce what another one defines: a prototype, a forward declaration.

Looks at text, so only where several definitions compete and the language has such things. On a reader thread.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ctxd.search.ranking.naming import Definition
from ctxd.store import read
from ctxd.store.read import FileRow
from ctxd.store.snapshot import Snapshot

LANGUAGES = frozenset({"c", "cpp", "objectivec", "typescript", "tsx", "java", "kotlin", "csharp", "php", "dart"})
KINDS = frozenset({"function", "method", "class", "struct", "enum"})
# An announcement is short, and decompressing a file for each of many is not.
_LONGEST = 12
_MAX_FILES = 24


def announced(snapshot: Snapshot, definitions: Sequence[Definition], files: Mapping[int, FileRow]) -> frozenset[int]:
    """Return the ids of the definitions that have no body."""
    suspects = [
        one.symbol
        for one in definitions
        if files[one.symbol.file].language in LANGUAGES
        and one.symbol.kind in KINDS
        and one.symbol.line_end - one.symbol.definition_line < _LONGEST
    ]
    if len(definitions) < 2 or not suspects:
        return frozenset()
    texts: dict[int, list[bytes]] = {}
    for file in list(dict.fromkeys(one.file for one in suspects))[:_MAX_FILES]:
        texts[file] = read.text(snapshot, file).splitlines()
    return frozenset(
        one.id
        for one in suspects
        if one.file in texts and bodiless(b"\n".join(texts[one.file][one.definition_line - 1 : one.line_end]))
    )


def bodiless(text: bytes) -> bool:
    """Return whether the text of a definition, from its own line on, only announces it."""
    return b"{" not in text and text.rstrip().endswith(b";")
