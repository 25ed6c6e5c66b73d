"""`ctx find` and `ctx query` from the request to the answer. Runs on a reader thread, in one snapshot.

plan -> retrieve -> rank -> pack -> render; each step is a module of its own.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import msgspec

from ctxd import tokens
from ctxd.model import Found, Freshness, Hit, Stats, View
from ctxd.render import json, text
from ctxd.render.style import style
from ctxd.search import absence, pack, rank, retrieve
from ctxd.search.announced import announced
from ctxd.search.candidates import Retrieved, assemble
from ctxd.search.features import Subject
from ctxd.search.filters import Scope, scope
from ctxd.search.hits import Builder
from ctxd.search.line import Sought
from ctxd.search.plan import Plan, plan
from ctxd.search.rank import Scored
from ctxd.search.shortlist import shortlist
from ctxd.store import read
from ctxd.store.lexicon import Lexicon
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Find, Query

# More places than anyone asks for; bounds what a reply can hold.
MAX_LIMIT = 1_000
# Stands for the size of an answer while that is being counted; no size has more tokens.
_ANY_SIZE = 88_888


class Ranking(msgspec.Struct, frozen=True):
    """All places found for a question, best first, and what the answer needs beside them."""

    plan: Plan
    scored: tuple[Scored, ...]
    sought: Sought
    strategies: tuple[str, ...]
    files_indexed: int
    found: Retrieved


def find(snapshot: Snapshot, request: Find, view: View) -> Answer:
    """Answer with ranked places. Raises TooLong, UsageFailed."""
    ranking = search(snapshot, request.text, scope(snapshot, request))
    if not ranking.scored:
        return _absent(snapshot, request, view)
    limit = min(request.limit or view.limit, MAX_LIMIT)
    builder = Builder(snapshot, view, ranking.sought, ranking.found)
    make = builder.full if request.full else builder.stub
    hits = [make(one) for one in ranking.scored[:limit]]
    return _answer(snapshot, request, view, ranking, hits, 0)


def query(snapshot: Snapshot, request: Query, view: View) -> Answer:
    """Answer with the context for a question, within the budget. Raises TooLong, UsageFailed."""
    ranking = search(snapshot, request.text, scope(snapshot, request))
    if not ranking.scored:
        return _absent(snapshot, request, view)
    builder = Builder(snapshot, view, ranking.sought, ranking.found)
    kept = ranking.scored[: min(request.limit or pack.MAX_ROWS, MAX_LIMIT)]
    shares = _shares(ranking)
    rows = [
        pack.Row(
            builder.stub(one),
            share,
            lambda one=one: builder.full(one),  # type: ignore[misc]
            lambda room, one=one: builder.outline(one, room),  # type: ignore[misc]
        )
        for one, share in zip(kept, shares, strict=False)
    ]
    relevant = sum(1 for share in shares if share >= pack.STUB_SHARE)

    def measure(hits: Sequence[Hit], omitted: int) -> int:
        return tokens.count(_rendered(snapshot, request, view, ranking, hits, omitted, _ANY_SIZE))

    chosen = pack.packed(rows, request.budget or view.budget, measure, stubs=request.stubs, full=request.full)
    omitted = chosen.omitted + max(relevant - len(rows), 0)
    return _answer(snapshot, request, view, ranking, chosen.hits, omitted)


def search(snapshot: Snapshot, question: str, within: Scope) -> Ranking:
    """Return all places for a question, best first. Raises TooLong."""
    asked = plan(question)
    files_indexed, chunk_count = read.counts(snapshot)
    book = Lexicon(snapshot)
    subject = Subject(asked, book, chunk_count)
    definitions = retrieve.definitions(snapshot, asked, within)
    found = Retrieved(
        lexical=shortlist(snapshot, retrieve.lexical(snapshot, book, asked, within, chunk_count), subject),
        definitions=tuple(definitions),
        located=tuple(retrieve.located(snapshot, asked, within)),
        verbatim=tuple(retrieve.verbatim(snapshot, asked, within)),
        uses=tuple(retrieve.uses(snapshot, asked, within)),
    )
    files = read.files(snapshot, {one.symbol.file for one in definitions})
    order = rank.definition_order(definitions, files, announced(snapshot, definitions, files))
    scored = rank.ranked(asked, found, assemble(snapshot, found, order), subject)
    strategies = (
        ("symbol", found.definitions),
        ("lexical", found.lexical.base),
        ("path", found.located),
        ("literal", found.verbatim),
        ("references", found.uses),
    )
    return Ranking(
        plan=asked,
        scored=tuple(scored),
        sought=Sought(subject.stems, _literals(asked)),
        strategies=tuple(name for name, rows in strategies if rows),
        files_indexed=files_indexed,
        found=found,
    )


def _literals(asked: Plan) -> tuple[str, ...]:
    whole = (asked.text,) if len(asked.text) <= 200 else ()
    return tuple(dict.fromkeys([*asked.literals, *whole]))


def _shares(ranking: Ranking) -> list[float]:
    """Return each place's worth as a share of the best; a definition that was asked for is worth all of it."""
    best = max((one.score - one.tier for one in ranking.scored if not one.tier), default=0.0)
    named = any(one.tier for one in ranking.scored)
    scale = pack.BODY_SHARE if named and ranking.plan.kind in ("symbol", "path") else 1.0
    return [1.0 if one.tier else scale * 0.99 * one.score / best if best else 0.0 for one in ranking.scored]


def _absent(snapshot: Snapshot, request: Find | Query, view: View) -> Answer:
    narrowed = scope(snapshot, request) != Scope()
    removed = len(search(snapshot, request.text, Scope()).scored) if narrowed else 0
    return absence.answer(
        snapshot, request, view, request.text, removed=removed, strategies=("symbol", "lexical", "path")
    )


def _answer(
    snapshot: Snapshot, request: Find | Query, view: View, ranking: Ranking, hits: Sequence[Hit], omitted: int
) -> Answer:
    size = _ANY_SIZE
    for _ in range(2):  # the second time it counts its own digits
        size = tokens.count(_rendered(snapshot, request, view, ranking, hits, omitted, size))
    return Answer(out=_rendered(snapshot, request, view, ranking, hits, omitted, size))


def _rendered(
    snapshot: Snapshot,
    request: Find | Query,
    view: View,
    ranking: Ranking,
    hits: Sequence[Hit],
    omitted: int,
    size: int,
) -> str:
    spent = (time.perf_counter_ns() - view.started_ns) / 1e6
    found = Found(
        query=request.text,
        root=view.root,
        hits=tuple(hits),
        stats=Stats(
            search_ms=spent,
            total_ms=spent,
            tokens=size,
            strategies_used=ranking.strategies,
            files_indexed=ranking.files_indexed,
            files_pending=view.freshness.pending,
            omitted=omitted,
        ),
        freshness=_freshness(view.freshness, hits),
        generation=snapshot.generation,
    )
    if request.output == "json":
        return json.found(found, explain=request.explain)
    return text.found(found, style(request, view))


def _freshness(proved: Freshness, hits: Sequence[Hit]) -> Freshness:
    if proved.fresh and not all(hit.verified for hit in hits):
        return Freshness(fresh=False, reason="a file changed while it was being answered", pending=proved.pending)
    return proved
