"""Plan -> what the index holds for it, retriever by retriever. Runs on a reader thread, in one snapshot.

Each retriever asks the index a few times, looks at tables rather than text, and returns rows in an order that
depends on content alone. What they are worth is decided in rank.py.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import msgspec

from ctxd import words
from ctxd.search.filters import Scope
from ctxd.search.question.plan import Concept, Plan
from ctxd.search.ranking import weights
from ctxd.store import lexicon, read
from ctxd.store.lexicon import Lexicon, Phrase, Ranked
from ctxd.store.read import ChunkRow, FileRow, Use
from ctxd.store.snapshot import Snapshot

# Chunks that BM25 passes on: enough that a file's chunks together say something of it.
WINDOW = 200
# Entries of the full-text index that one question may walk; beyond it the commonest words are left out.
_MAX_POSTINGS = 10_000
_MAX_USES = 40
_MAX_LOCATED = 12
_MAX_FILES = 3
_MAX_PHRASE = 24
_MAX_CHECKED = 60
# Words of so many letters have short forms.
_LONG_WORD = 8
_MAX_SHORTENED = 24


class Located(msgspec.Struct, frozen=True):
    """A chunk at a path that was asked for; `line` is the asked line or 0."""

    chunk: ChunkRow
    line: int


class Lexical(msgspec.Struct, frozen=True):
    """The window: chunks with their BM25 score, and the share of the question that each speaks of."""

    ranked: tuple[Ranked, ...]
    coverage: Mapping[int, float]


class Verbatim(msgspec.Struct, frozen=True):
    """A chunk that holds a literal of the question as it stands (`checked`), or a run of its words."""

    chunk: int
    words: int
    checked: bool


def lexical(snapshot: Snapshot, book: Lexicon, plan: Plan, scope: Scope, chunk_count: int) -> Lexical:
    """Return the best chunks by words and how much of the question each covers."""
    concepts = [known for concept in plan.concepts if (known := _known(book, concept))]
    whole = {concept.text for concept in concepts if not concept.part and len(concept.alternatives[0]) == 1}
    # The parts of a name matter only where nothing is called so: they are common words.
    concepts = [concept for concept in concepts if concept.of not in whole]
    kept = _affordable(book, concepts)
    phrases = _phrases(kept, parts=not plan.exact)
    found = lexicon.ranked(snapshot, phrases, weights.BM25, WINDOW, within=scope.chunks)
    if not found and plan.exact:
        parts = [Phrase((part,)) for part in words.parts(plan.names[0].segments[-1])]
        found = lexicon.ranked(snapshot, parts, weights.BM25, WINDOW, within=scope.chunks, every=True)
    short = lexicon.ranked(snapshot, _shortened(book, kept), weights.BM25, _MAX_SHORTENED, within=scope.chunks)
    held = {one.chunk for one in found}
    # They are here to be looked at; how common a short form is says nothing of how well it fits.
    found += [Ranked(one.chunk, 0.0) for one in short if one.chunk not in held]
    ids = [one.chunk for one in found]
    return Lexical(tuple(found), _coverage(snapshot, book, concepts, ids, chunk_count))


def _known(book: Lexicon, concept: Concept) -> Concept | None:
    """Return the concept with those alternatives that can occur at all, None without any."""
    possible = tuple(run for run in concept.alternatives if concept.prefix or _spread(book, run) > 0)
    if len(possible) > 1 and len(possible[0]) == 1:
        # Where the name stands, its parts follow it in the index: their phrase would only count it twice.
        possible = possible[:1]
    return msgspec.structs.replace(concept, alternatives=possible) if possible else None


def _shortened(book: Lexicon, concepts: Sequence[Concept]) -> list[Phrase]:
    """Return what long words are cut to in paths: auth for authentication, config for configuration."""
    found = []
    for concept in concepts:
        word = concept.alternatives[0][0]
        if len(concept.alternatives) == 1 and len(word) >= _LONG_WORD and word.isalpha():
            cuts = (word[:size] for size in range(4, len(word) - 2))
            found += [
                Phrase((cut,), column="path")
                for cut in cuts
                if book.stems(cut) != book.stems(word) and book.spread(cut)
            ]
    return found


def _spread(book: Lexicon, run: Sequence[str]) -> int:
    """Return in how many chunks a run of words can occur at most."""
    return min((book.spread(stem) for word in run for stem in book.stems(word)), default=0)


def _affordable(book: Lexicon, concepts: list[Concept]) -> list[Concept]:
    """Leave out the commonest concepts when walking all of them would cost too much."""
    costs = {concept.text: sum(_spread(book, run) for run in concept.alternatives) for concept in concepts}
    left = _MAX_POSTINGS
    kept: set[str] = set()
    for concept in sorted(concepts, key=lambda one: (costs[one.text], one.text)):
        left -= costs[concept.text]
        if left < 0 and len(kept) >= 2:
            break
        kept.add(concept.text)
    return [concept for concept in concepts if concept.text in kept]


def _phrases(concepts: Sequence[Concept], *, parts: bool) -> list[Phrase]:
    found = [
        Phrase(run, prefix=concept.prefix)
        for concept in concepts
        if parts or not concept.part
        for run in concept.alternatives
    ]
    return list(dict.fromkeys(found))


def _coverage(
    snapshot: Snapshot, book: Lexicon, concepts: Sequence[Concept], ids: Sequence[int], chunk_count: int
) -> dict[int, float]:
    """Return the share of the concepts, rarer ones counting more, that each chunk of the window holds."""
    counted = [concept for concept in concepts if not concept.part] or list(concepts)
    total, found = 0.0, dict.fromkeys(ids, 0.0)
    for concept in counted:
        spread = max((_spread(book, run) for run in concept.alternatives), default=0)
        weight = math.log(1 + chunk_count / (spread + 1))
        total += weight
        holders: set[int] = set()
        for run in concept.alternatives:
            holders.update(lexicon.holding(snapshot, Phrase(run, prefix=concept.prefix), ids))
        for chunk in holders:
            found[chunk] += weight
    return {chunk: value / total for chunk, value in found.items()} if total else found


def located(snapshot: Snapshot, plan: Plan, scope: Scope) -> list[Located]:
    """Return the chunks at the paths and stack frames asked for, in the order asked."""
    found: list[Located] = []
    asked = [(frame.path, frame.line) for frame in plan.frames] or [(path.path, path.line) for path in plan.paths]
    # A path inside a sentence is one thing among others that it speaks of.
    most = _MAX_LOCATED if plan.kind == "path" else 1
    for path, line in asked:
        for row in _files(snapshot, path, scope):
            chunks = read.at(snapshot, row.id, line) if line else []
            # A line that is not there is one of another version: the file is what is left of the place.
            line = line if chunks else 0
            chunks = chunks or read.of_file(snapshot, row.id, most, lambda chunk: scope.takes_chunk(chunk.id))
            found += [Located(chunk, line) for chunk in chunks]
    return found


def _files(snapshot: Snapshot, path: str, scope: Scope) -> list[FileRow]:
    """Return the indexed files that end in the longest possible ending of `path`; it may come from elsewhere."""
    parts = [part for part in path.split("/") if part not in ("", ".", "..")]
    for start in range(min(len(parts), 12)):
        ending = "/".join(parts[start:])
        rows = read.ending(snapshot, ending, _MAX_FILES, lambda row: scope.takes_file(row.id))
        if rows or read.ending(snapshot, ending, 1):  # what was meant is kept out: nothing else is
            return rows
    return []


def verbatim(snapshot: Snapshot, plan: Plan, scope: Scope) -> list[Verbatim]:
    """Return the chunks that hold literal parts of the question, or runs of its words, longest first."""
    found: dict[int, Verbatim] = {}
    for literal in plan.literals:
        for chunk in _literal(snapshot, literal, scope):
            found.setdefault(chunk, Verbatim(chunk, len(words.WORD.findall(literal)), True))
    for run in plan.fragments:
        if len(run) < 3 or any(one.words >= len(run) for one in found.values()):
            continue
        for ranked in lexicon.ranked(snapshot, [Phrase(run)], weights.BM25, _MAX_PHRASE, within=scope.chunks):
            found.setdefault(ranked.chunk, Verbatim(ranked.chunk, len(run), False))
    return list(found.values())


def _literal(snapshot: Snapshot, literal: str, scope: Scope) -> list[int]:
    run = tuple(words.expand(literal).split())
    if not run:
        return _scanned(snapshot, literal, scope)
    ranked = lexicon.ranked(snapshot, [Phrase(run)], weights.BM25, _MAX_CHECKED, within=scope.chunks)
    if not ranked and len(run) > 1:
        phrases = [Phrase((word,)) for word in run]
        ranked = lexicon.ranked(snapshot, phrases, weights.BM25, _MAX_CHECKED, within=scope.chunks, every=True)
    rows = read.chunks(snapshot, [one.chunk for one in ranked])
    sought = literal.encode("utf-8", "replace")
    texts: dict[int, bytes] = {}
    kept = []
    for one in ranked:
        row = rows[one.chunk]
        if row.file not in texts:
            texts[row.file] = read.text(snapshot, row.file)
        if sought in texts[row.file][row.byte_start : row.byte_end]:
            kept.append(one.chunk)
    return kept


def _scanned(snapshot: Snapshot, literal: str, scope: Scope) -> list[int]:
    """Look for a text without words, an operator say, in every file; the first chunk of each file that holds it."""
    sought = literal.encode("utf-8", "replace")
    found: list[int] = []
    for file, text in read.every_text(snapshot, scope.files):
        if sought in text:
            held = [
                row.id
                for row in read.of_file(snapshot, file)
                if scope.takes_chunk(row.id) and text.find(sought, row.byte_start, row.byte_end + len(sought) - 1) >= 0
            ]
            found += held[:1]
        if len(found) >= _MAX_PHRASE:
            break
    return found


def uses(snapshot: Snapshot, plan: Plan, scope: Scope) -> list[Use]:
    """Return where the names asked for are used, if that is the question."""
    if "usage" not in plan.intents:
        return []
    found: dict[int, Use] = {}
    for name in plan.names:
        if name.coded or plan.kind == "symbol":
            last = name.segments[-1]
            for use in read.uses(snapshot, last, _MAX_USES, lambda use: scope.takes_chunk(use.chunk)):
                found.setdefault(use.chunk, use)
    return list(found.values())
