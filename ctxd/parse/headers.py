"""Which of the C languages a `.h` is in. Pure; any thread or process."""

from __future__ import annotations

import re
from typing import Literal

# Lines that only one of the languages has.
_OBJECTIVE_C = re.compile(
    rb"^[ \t]*(?:@(?:interface|protocol|class|import)[ \t]+\w+[ \t]*(?:[:;,<({]|$)|#[ \t]*import\b"
    rb"|NS_ASSUME_NONNULL_BEGIN)",
    re.MULTILINE,
)
_CPP = re.compile(
    rb"^[ \t]*(?:template[ \t]*<|namespace\b(?![ \t]*[=,;)])|using[ \t]+(?:namespace\b|\w+[ \t]*=|[\w:]+::)"
    rb"|(?:enum[ \t]+)?class[ \t]+(?:\w+[ \t]+)?\w+[ \t]*(?:final[ \t]*)?(?:[:;{<]|$)"
    rb"|(?:public|private|protected)[ \t]*:"
    rb"|#[ \t]*include[ \t]*<[a-z_]+>|[\w:<> \t*&]*\bstd::|#[ \t]*include[ \t]*[<\"][\w/.-]+\.(?:hpp|hh|hxx)[>\"])",
    re.MULTILINE,
)


def dialect(head: bytes) -> Literal["c", "cpp", "objectivec"]:
    """Return the language of a header by its first bytes: in doubt C, which the others' grammars read as well."""
    if _OBJECTIVE_C.search(head):
        return "objectivec"
    return "cpp" if _CPP.search(head) else "c"
