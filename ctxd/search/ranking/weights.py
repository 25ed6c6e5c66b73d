"""Every number that decides an order, in one place. Each has the name under which `--explain` prints its share.

Values are in units of the best lexical score of the window, so that they mean the same in every repository.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection

from ctxd.model import SymbolKind
from ctxd.store.schema import BENCHMARK, EXAMPLE, GENERATED, LEGACY, STUB, TEST, TRANSLATED, VENDORED
from ctxprotocol.errors import UsageFailed

# bm25() weights of the columns path, name, context, body.
BM25 = (2.0, 1.0, 1.0, 1.0)

# Tiers: far above any sum of the features below, so that their order never inverts.
EXACT = 1000.0  # a definition of a name that was asked for, spelled so
LOCATED = 800.0  # a path and line that was asked for, a stack frame
FOLDED = 400.0  # the same name but for case, or without its owners
STEP = 10.0  # between definitions of one name
STEPS = 30

# Features, added.
COVERAGE = 1.5  # times the lexical share, with every word of the question
COVERAGE_POWER = 1.5
PATH = 0.7  # share of the question that is in the file's stem and folder
STEM = 0.75  # share of the file's stem that is in the question
STEM_RUN = 1.2  # times that, where a stem of several words stands so in the question
FOLDER = 0.15  # share of the folder's name that is in the question
MODULE = 1.0  # a dotted name of the question is its path
NAME = 0.6  # share of the definition's name that is in the question
OWNER = 0.3  # the same of the definition around it
EXPORTS = 0.2  # the same of what the file exports, the best of its names
DEFINITION = 1.0  # defines a capitalised word of the question
COMMON = 2  # a name defined in more files than this is worth less with each of them
COHERENCE = 0.8  # how much of the file speaks of the question
PHRASE = 0.25  # for each word of a run of the question's words, found in a row
PHRASE_MOST = 3.0
LITERAL = 4.0  # holds a quoted text as it stands
USE = 3.0  # uses the name that the question asks the uses of
SEMANTIC = 1.6  # the chunk nearest to the question's vector, in the file with most of what is near
SEMANTIC_ASKED = 3.0  # the same, where vectors are asked for
SEMANTIC_LACK = 0.5  # less of the question than this in the best place by words: it counts up to twice as much
SEMANTIC_FILE = 0.85  # how much of it is the file's, nothing where words find nothing
SEMANTIC_FILE_ASKED = 0.5  # the same, where vectors are asked for
KIND = 0.05  # a class says more than a variable, an exported name more than a private one

# Which candidate of a file is its best: the parts that are its own, and how much they count for that.
PLACE = {
    **dict.fromkeys(("lexical", "coverage", "literal", "phrase", "uses", "kind", "owner"), 1.0),
    **dict.fromkeys(("name", "definition"), 2.0),
    "semantic": 0.5,
}

# Factors, multiplied in: below what they repeat, unless the question asks for them.
PENALTIES: tuple[tuple[str, int, float], ...] = (
    ("tests", TEST, 0.3),
    ("legacy", LEGACY, 0.3),
    ("examples", EXAMPLE, 0.3),
    ("benchmarks", BENCHMARK, 0.3),
    ("generated", GENERATED, 0.4),
    ("vendored", VENDORED, 0.4),
    ("stubs", STUB, 0.7),
    ("translated", TRANSLATED, 0.5),
)
OLDER = 0.5  # the folder of a version, beside a newer file of the same name
TYPES = 0.8  # a folder of TypeScript that only says what things look like
UNTESTED = 0.6  # is no test, and tests were asked for
DOCS = 0.3
CONFIG = 0.4
TEXT = 0.4
REEXPORT = 0.5
HEADER = 0.6  # announces what the source file of the same name does; macros and constants, any source
IMPORTS = 0.85
TINY = 0.75
TINY_TOKENS = 6
SATURATION = 0.3

# Reciprocal ranks: small enough that first places count, large enough that no list decides alone.
RRF_K = 60

# The order of kinds among definitions of one name, and their share of KIND.
KINDS: tuple[SymbolKind, ...] = (
    "class",
    "struct",
    "interface",
    "trait",
    "enum",
    "type",
    "function",
    "method",
    "macro",
    "module",
    "route",
    "constant",
    "field",
    "variable",
    "environment",
    "test",
    "key",
    "section",
)

# Every part of a score by the name under which `--explain` prints it; each can be left out to see what it is worth.
FEATURES = (
    *("lexical", "coverage", "path", "file name", "folder", "module", "name", "owner", "exports", "kind", "coherence"),
    *("literal", "phrase", "uses", "semantic", "definition", "exact symbol", "near symbol", "located", "place"),
    *("saturation", *(name for name, _, _ in PENALTIES)),
    *("untested", "older", "types", "docs", "config", "text", "re-export", "header", "imports", "tiny"),
)
Without = frozenset[str]
NONE: Without = frozenset()


def named(names: Collection[str]) -> Without:
    """Return the parts of a score that `names` mean; case, spaces and dashes do not count. Raises UsageFailed."""
    if not names:
        return NONE
    known = {_plain(name): name for name in FEATURES}
    for name in names:
        if _plain(name) not in known:
            near = difflib.get_close_matches(_plain(name), known, 1)
            hint = f"did you mean {known[near[0]]}?" if near else f"they are: {', '.join(FEATURES)}"
            raise UsageFailed(f"no part of a score is called {name}", hint)
    return frozenset(known[_plain(name)] for name in names)


def _plain(name: str) -> str:
    return "".join(char for char in name.lower() if char.isalnum())
