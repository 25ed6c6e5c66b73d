"""A question -> all its places, best first. Runs on a reader thread, in one snapshot.

plan -> retrieve -> rank, each a module of its own; what an answer makes of the places is run.py's affair.
"""

from __future__ import annotations

import msgspec

from ctxd.search.filters import Scope
from ctxd.search.question.intents import Intent
from ctxd.search.question.plan import Plan, plan
from ctxd.search.ranking import naming, rank, retrieve, semantic
from ctxd.search.ranking.announced import announced
from ctxd.search.ranking.candidates import Retrieved, assemble
from ctxd.search.ranking.features import Subject
from ctxd.search.ranking.handed import handed_on
from ctxd.search.ranking.line import Sought
from ctxd.search.ranking.scored import Scored
from ctxd.search.ranking.shortlist import shortlist
from ctxd.search.ranking.standing import standing
from ctxd.search.ranking.weights import NONE, Without
from ctxd.store import read
from ctxd.store.lexicon import Lexicon
from ctxd.store.snapshot import Snapshot

# What a place is worth beside a definition that was asked for by its name alone, and by its name in a sentence: it is
# the answer in 2 and in 5 % of cases, as many as others of about these shares.
_BESIDE_NAME, _BESIDE_NAMED = 0.42, 0.5
# Who asks for these names a thing and does not want to see that.
_AROUND: frozenset[Intent] = frozenset({"usage", "tests", "examples", "docs"})


class Ranking(msgspec.Struct, frozen=True):
    """All places found for a question, best first, and what the answer needs beside them.

    `worth`: each place's share of the best, where something else than its score settles that.
    """

    plan: Plan
    scored: tuple[Scored, ...]
    sought: Sought
    strategies: tuple[str, ...]
    files_indexed: int
    found: Retrieved
    hint: str
    warnings: tuple[str, ...] = ()
    worth: tuple[float, ...] = ()


def search(
    snapshot: Snapshot, question: str, within: Scope, without: Without = NONE, wished: semantic.Wish = semantic.NO_WISH
) -> Ranking:
    """Return all places for a question, best first; the parts of a score `without` do not count. Raises TooLong."""
    asked = plan(question)
    files_indexed, chunk_count = read.counts(snapshot)
    book = Lexicon(snapshot)
    asked = naming.mended(snapshot, book, asked)
    subject = Subject(asked, book, chunk_count)
    definitions = naming.definitions(snapshot, book, asked, within)
    by_words = retrieve.lexical(snapshot, book, asked, within, chunk_count)
    found = Retrieved(
        lexical=shortlist(snapshot, by_words, subject, without),
        definitions=tuple(definitions),
        located=(*retrieve.located(snapshot, asked, within), *handed_on(snapshot, asked, definitions, within)),
        verbatim=tuple(retrieve.verbatim(snapshot, asked, within)),
        uses=tuple(retrieve.uses(snapshot, asked, within)),
    )
    files = read.files(snapshot, {one.symbol.file for one in definitions})
    order = rank.definition_order(definitions, files, announced(snapshot, definitions, files))

    def ordered() -> list[Scored]:
        candidates = assemble(snapshot, found, order, within.kind)
        known = standing(snapshot, asked, subject, found.lexical, candidates)
        return rank.ranked(asked, found, candidates, subject, known, without)

    scored = ordered()
    spoken = semantic.spoken(snapshot, asked, wished, scored, by_words.coverage, within)
    if spoken.shares:
        found = msgspec.structs.replace(found, semantic=spoken.shares)
        scored = ordered()
    return Ranking(
        plan=asked,
        scored=tuple(scored),
        sought=Sought(subject.stems, _literals(asked)),
        strategies=found.strategies(),
        files_indexed=files_indexed,
        found=found,
        hint=naming.hint(asked, definitions),
        warnings=(spoken.warning,) if spoken.warning else (),
    )


def _literals(asked: Plan) -> tuple[str, ...]:
    whole = (asked.text,) if len(asked.text) <= 200 else ()
    return tuple(dict.fromkeys([*asked.literals, *whole]))


def shares(ranking: Ranking) -> list[float]:
    """Return each place's worth as a share of the best; beside a definition that was asked for it is less."""
    if ranking.worth:
        return list(ranking.worth)
    best = max((one.score - one.tier for one in ranking.scored), default=0.0)
    tier = max((one.tier for one in ranking.scored), default=0.0)
    asks_for_more = not ranking.plan.intents.isdisjoint(_AROUND)
    scale = 1.0 if not tier or asks_for_more else _BESIDE_NAME if _named(ranking) else _BESIDE_NAMED
    return [one.tier / tier if one.tier else scale * one.score / best if best else 0.0 for one in ranking.scored]


def _named(ranking: Ranking) -> bool:
    """Whether the question was the name of something, or a path, and that was found: the rest is by the way."""
    return ranking.plan.kind in ("symbol", "path") and any(one.tier for one in ranking.scored)
