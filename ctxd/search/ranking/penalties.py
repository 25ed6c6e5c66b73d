"""What lowers a candidate: tests, copies, documents, fragments, each by a factor. Pure; on the readers.

None applies to what the question asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ctxd.search.question.plan import Plan
from ctxd.search.ranking import weights
from ctxd.search.ranking.candidates import Candidate
from ctxd.store.read import FileRow
from ctxd.store.schema import BEHIND, EXAMPLE, TEST

_HEADERS = frozenset({"h", "hpp", "hh"})
# Languages that have headers: what is written in them and is none is a source.
_CLANG = frozenset({"c", "cpp", "objectivec"})
# Such files mostly pass on what others define.
_REEXPORTS = frozenset({"__init__.py", "index.ts", "index.js", "mod.rs"})

# Where TypeScript keeps declarations apart from what they are of.
_TYPED = frozenset({"typescript", "tsx"})
_TYPES = re.compile(r"(?:^|/)types?/|(?:^|/|\.)types?\.tsx?$")

Factor = tuple[str, float]


class Penalties:
    """The factors of the candidates of one question."""

    def __init__(self, plan: Plan, candidates: Sequence[Candidate], older: frozenset[int]) -> None:
        self._asked = plan.intents
        self._older = older
        clang = ((one.file, one.file.path.rpartition(".")) for one in candidates if one.file.language in _CLANG)
        sources = {stem: file for file, (stem, _, suffix) in clang if suffix not in _HEADERS}
        self._sources = frozenset(sources)
        # Tests and examples are there for headers alone, too.
        self._has_sources = any(not file.facts & BEHIND for file in sources.values())
        self._files: dict[int, list[Factor]] = {}

    def factors(self, candidate: Candidate) -> list[Factor]:
        """Return what a candidate is multiplied by, each with its name."""
        file = candidate.file
        known = self._files.get(file.id)
        if known is None:
            known = self._files[file.id] = list(self._of_file(file))
        if candidate.definition is not None:
            return known
        return [*known, *self._of_chunk(candidate)]

    def _of_file(self, file: FileRow) -> Iterable[Factor]:
        asked, content = self._asked, file.content
        for name, bit, factor in weights.PENALTIES:
            if file.facts & bit and name not in asked and (bit != EXAMPLE or content == "code"):
                yield name, factor
        if file.id in self._older and "legacy" not in asked:
            yield "older", weights.OLDER
        if "types" not in asked and file.language in _TYPED and _TYPES.search(file.path):
            yield "types", weights.TYPES
        if "tests" in asked and content == "code" and not file.facts & TEST:
            yield "untested", weights.UNTESTED
        if content == "docs" and "docs" not in asked:
            yield "docs", weights.DOCS
        elif content == "config" and "config" not in asked:
            yield "config", weights.CONFIG
        elif content == "text" and "docs" not in asked:
            yield "text", weights.TEXT

    def _of_chunk(self, candidate: Candidate) -> Iterable[Factor]:
        if is_imports(candidate):
            yield "imports", weights.IMPORTS
        elif candidate.tokens < weights.TINY_TOKENS:
            yield "tiny", weights.TINY
        path = candidate.file.path
        if candidate.symbol is None and path.rpartition("/")[2] in _REEXPORTS:
            yield "re-export", weights.REEXPORT
        stem, _, suffix = path.rpartition(".")
        if suffix in _HEADERS and (stem in self._sources or (self._has_sources and _is_told(candidate))):
            yield "header", weights.HEADER


def _is_told(candidate: Candidate) -> bool:
    """Return whether a place of a header only says what there is."""
    return candidate.symbol is not None and candidate.symbol.kind in ("macro", "constant")


def is_imports(candidate: Candidate) -> bool:
    """Return whether a candidate only says what its file imports."""
    return candidate.definition is None and candidate.chunks[0].kind == "imports"
