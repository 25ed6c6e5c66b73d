"""`ctx find` and `ctx query` from the request to the answer. Runs on a reader thread, in one snapshot.

plan -> retrieve -> rank -> pack -> render; each step is a module of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import msgspec

from ctxd import tokens
from ctxd.model import Found, Freshness, Hit, Stats, View
from ctxd.render import json, text
from ctxd.render.style import style
from ctxd.search import absence, edges, expand, naming, pack, rank, retrieve, semantic, weights
from ctxd.search.announced import announced
from ctxd.search.candidates import Retrieved, assemble
from ctxd.search.features import Subject
from ctxd.search.filters import Scope, scope
from ctxd.search.handed import handed_on
from ctxd.search.hits import Builder
from ctxd.search.intents import Intent
from ctxd.search.line import Sought
from ctxd.search.plan import Plan, plan
from ctxd.search.rank import Scored
from ctxd.search.sent import Session
from ctxd.search.shortlist import shortlist
from ctxd.search.weights import NONE, Without
from ctxd.store import read
from ctxd.store.lexicon import Lexicon
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Find, Query

# More places than anyone asks for; bounds what a reply can hold.
MAX_LIMIT = 1_000
# What a place is worth beside a definition that was asked for by its name alone, and by its name in a sentence: it is
# the answer in 2 and in 5 % of cases, as many as others of about these shares.
_BESIDE_NAME, _BESIDE_NAMED = 0.42, 0.5
# Who asks for these names a thing and does not want to see that.
_AROUND: frozenset[Intent] = frozenset({"usage", "tests", "examples", "docs"})
# A JSON answer repeats the question: of a long one no more than this part of the budget, and what is left beside the
# tokens of an answer without results, which is what the smallest budget gets.
_ECHO, _ENVELOPE, _LEAST_ECHO = 4, 115, 6
# Stands for the size of an answer while that is being counted; no size has more tokens.
_ANY_SIZE, _ANY_MS = 88_888, 8_888.88


class Ranking(msgspec.Struct, frozen=True):
    """All places found for a question, best first, and what the answer needs beside them."""

    plan: Plan
    scored: tuple[Scored, ...]
    sought: Sought
    strategies: tuple[str, ...]
    files_indexed: int
    found: Retrieved
    hint: str
    warnings: tuple[str, ...] = ()


def find(snapshot: Snapshot, request: Find, view: View) -> Answer:
    """Answer with ranked places. Raises TooLong, UsageFailed."""
    ranking = _ranking(snapshot, request, view)
    if not ranking.scored:
        return _absent(snapshot, request, view, ranking.warnings)
    limit = min(request.limit or view.limit, MAX_LIMIT)
    reply = _Reply(snapshot, request, view, ranking)
    builder = Builder(snapshot, view, ranking.sought, ranking.found)
    make = builder.full if request.full else builder.stub
    hits = [make(one) for one in ranking.scored[:limit]]
    return reply.answer(hits, 0)


def query(snapshot: Snapshot, request: Query, view: View, session: Session | None = None) -> Answer:
    """Answer with the context for a question, within the budget; what the session has is not sent again.

    Raises TooLong, UsageFailed.
    """
    ranking = _ranking(snapshot, request, view)
    if not ranking.scored:
        return _absent(snapshot, request, view, ranking.warnings)
    reply = _Reply(snapshot, request, view, ranking)
    builder = Builder(snapshot, view, ranking.sought, ranking.found)
    kept = ranking.scored[: min(request.limit or pack.MAX_ROWS, MAX_LIMIT)]
    shares = _shares(ranking)
    rows = [_row(builder, session, one, share, request.full) for one, share in zip(kept, shares, strict=False)]
    budget = request.budget or view.budget
    chosen = pack.packed(rows, budget, reply.measure, stubs=request.stubs, full=request.full)
    if not request.limit and ("usage" in ranking.plan.intents or _stands_out(ranking, shares)):
        more = _neighbours(snapshot, request, ranking, builder, budget)
        chosen = pack.joined(chosen, more, budget, reply.measure)
    omitted = chosen.omitted + sum(1 for share in shares[len(rows) :] if share >= pack.STUB_SHARE)
    answer = reply.answer(chosen.hits, omitted)
    if session is not None:
        session.add(chosen.hits)
    return answer


def _row(builder: Builder, session: Session | None, one: Scored, share: float, whole: bool) -> pack.Row:
    """Return a place in its forms; those of which the session has all lines are stubs that say so.

    `whole`: a body is nothing but its lines.
    """

    def news(hit: Hit) -> Hit:
        if session is None or not session.knows(hit):
            return hit
        return msgspec.structs.replace(hit, render="stub", code=None, lines=(), sent_before=True)

    body = builder.full if whole else builder.body

    def outline(room: int, without: frozenset[int]) -> Hit | None:
        found = builder.outline(one, room, without)
        return found and news(found)

    return pack.Row(builder.stub(one), share, one.candidate.tokens, lambda: news(body(one)), outline)


def _ranking(snapshot: Snapshot, request: Find | Query, view: View) -> Ranking:
    without = weights.named(request.without)
    wished = semantic.wish(view.meaning, request.semantic, without)
    return search(snapshot, request.text, scope(snapshot, request), without, wished)


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
    scored = rank.ranked(asked, found, assemble(snapshot, found, order, within.kind), subject, without)
    spoken = semantic.spoken(snapshot, asked, wished, scored, by_words.coverage, within)
    if spoken.shares:
        found = msgspec.structs.replace(found, semantic=spoken.shares)
        scored = rank.ranked(asked, found, assemble(snapshot, found, order, within.kind), subject, without)
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


def _shares(ranking: Ranking) -> list[float]:
    """Return each place's worth as a share of the best; beside a definition that was asked for it is less."""
    best = max((one.score - one.tier for one in ranking.scored), default=0.0)
    tier = max((one.tier for one in ranking.scored), default=0.0)
    asks_for_more = not ranking.plan.intents.isdisjoint(_AROUND)
    scale = 1.0 if not tier or asks_for_more else _BESIDE_NAME if _named(ranking) else _BESIDE_NAMED
    return [one.tier / tier if one.tier else scale * one.score / best if best else 0.0 for one in ranking.scored]


def _stands_out(ranking: Ranking, shares: Sequence[float]) -> bool:
    """Whether one place answers, and not several: then what is around it is worth more than what else was found."""
    places = zip(ranking.scored, shares, strict=True)
    return len({one.candidate.file.id for one, share in places if share >= pack.CODE_SHARE}) == 1


def _neighbours(snapshot: Snapshot, request: Query, ranking: Ranking, builder: Builder, budget: int) -> Iterator[Hit]:
    """Give what the best place leads to, as stubs that say why."""
    seed = expand.Seed(ranking.scored[0].candidate, ranking.sought, "usage" in ranking.plan.intents, request.kind)
    nodes = expand.expanded(snapshot, seed, lambda graph: edges.taken(graph, request), expand.most(budget))
    for node in nodes:
        yield msgspec.structs.replace(builder.stub(node.scored), via=("graph",), why=node.why)


def _named(ranking: Ranking) -> bool:
    """Whether the question was the name of something, or a path, and that was found: the rest is by the way."""
    return ranking.plan.kind in ("symbol", "path") and any(one.tier for one in ranking.scored)


def _absent(snapshot: Snapshot, request: Find | Query, view: View, warnings: tuple[str, ...]) -> Answer:
    narrowed = scope(snapshot, request) != Scope()
    removed = len(search(snapshot, request.text, Scope()).scored) if narrowed else 0
    return absence.answer(
        snapshot,
        request,
        view,
        request.text,
        removed=removed,
        strategies=("symbol", "lexical", "path"),
        warnings=warnings,
        budget=(request.budget or view.budget) if isinstance(request, Query) else 0,
    )


class Overtaken(Exception):
    """A file of the answer is not any more as the snapshot has it: pass the barrier and ask once more."""


class _Reply:
    """Renders the answer of one request."""

    def __init__(self, snapshot: Snapshot, request: Find | Query, view: View, ranking: Ranking) -> None:
        self._generation = snapshot.generation
        self._request, self._view, self._ranking = request, view, ranking
        self._query = request.text
        if isinstance(request, Query):
            self._query = _echo(request.text, request.budget or view.budget)
        self._search_ms = (time.perf_counter_ns() - view.search_began_ns) / 1e6

    def measure(self, hits: Sequence[Hit], omitted: int) -> int:
        """Return how many tokens an answer with these hits has at most."""
        return tokens.count(self._render(self._found(hits, omitted, _ANY_SIZE, _ANY_MS)))

    def answer(self, hits: Sequence[Hit], omitted: int) -> Answer:
        """Return the answer; it says its own size."""
        if self._view.again and self._view.freshness.fresh and not all(hit.verified for hit in hits):
            raise Overtaken("a file changed while it was being answered")
        spent_ms, size = _spent_ms(self._view), _ANY_SIZE
        for _ in range(2):  # the second time it counts its own digits
            size = tokens.count(self._render(self._found(hits, omitted, size, spent_ms)))
        found = self._found(hits, omitted, size, spent_ms)
        return Answer(out=self._render(found), notes="" if self._request.output == "json" else text.notes(found))

    def _found(self, hits: Sequence[Hit], omitted: int, size: int, spent_ms: float) -> Found:
        view, ranking = self._view, self._ranking
        return Found(
            query=self._query,
            root=view.root,
            hits=tuple(hits),
            stats=Stats(
                search_ms=self._search_ms,
                total_ms=spent_ms,
                tokens=size,
                strategies_used=(*ranking.strategies, *(["graph"] if any(hit.why for hit in hits) else [])),
                files_indexed=ranking.files_indexed,
                files_pending=view.freshness.pending,
                omitted=omitted,
            ),
            freshness=_freshness(view.freshness, hits),
            generation=self._generation,
            warnings=ranking.warnings,
            hint=ranking.hint,
        )

    def _render(self, found: Found) -> str:
        if self._request.output == "json":
            return json.found(found, explain=self._request.explain)
        return text.found(found, style(self._request, self._view))


def _echo(text: str, budget: int) -> str:
    """Return a question as an answer repeats it: of a long one its beginning."""
    kept, room = text, min(budget // _ECHO, max(budget - _ENVELOPE, _LEAST_ECHO))
    while kept and tokens.count(msgspec.json.encode(kept).decode()) > room:
        kept = kept[: len(kept) * 3 // 4]
    return kept if kept == text else kept + "…"


def _spent_ms(view: View) -> float:
    return (time.perf_counter_ns() - view.started_ns) / 1e6


def _freshness(proved: Freshness, hits: Sequence[Hit]) -> Freshness:
    if proved.fresh and not all(hit.verified for hit in hits):
        return Freshness(fresh=False, reason="a file changed while it was being answered", pending=proved.pending)
    return proved
