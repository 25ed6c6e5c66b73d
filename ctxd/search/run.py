"""`ctx find` and `ctx query` from the request to the answer. Runs on a reader thread, in one snapshot.

plan -> retrieve -> rank -> pack -> render; each step is a module of its own.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

import msgspec

from ctxd import tokens
from ctxd.guide import UNSTEERED, Guide, Shown, Steered
from ctxd.model import Found, Freshness, Hit, Stats, View
from ctxd.render import json, text
from ctxd.render.style import style
from ctxd.search import absence, expand, filters, guided, pack
from ctxd.search.filters import Scope, scope
from ctxd.search.hits import Builder
from ctxd.search.ranking import semantic, weights
from ctxd.search.ranking.ranking import Ranking, shares
from ctxd.search.ranking.ranking import search as search
from ctxd.search.ranking.scored import Scored
from ctxd.search.sent import Session
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Find, Query

# More places than anyone asks for; bounds what a reply can hold.
MAX_LIMIT = 1_000
# A JSON answer repeats the question: of a long one no more than this part of the budget, and what is left beside the
# tokens of an answer without results, which is what the smallest budget gets.
_ECHO, _ENVELOPE, _LEAST_ECHO = 4, 115, 6
# Stands for the size of an answer while that is being counted; no size has more tokens.
_ANY_SIZE, _ANY_MS = 88_888, 8_888.88


# Tokens of a place's lines that the model is shown, characters of each line, and how many lines.
_SHOWN_TOKENS, _SHOWN_WIDTH, _SHOWN_LINES = 80, 160, 8


def find(snapshot: Snapshot, request: Find, view: View, steered: Steered = UNSTEERED) -> Answer:
    """Answer with ranked places. Raises TooLong, UsageFailed."""
    ranking = _ranking(snapshot, request, view, steered.guide)
    if not ranking.scored:
        return _absent(snapshot, request, view, ranking.warnings, steered)
    builder = Builder(snapshot, view, ranking.sought, ranking.found, steered.verdicts)
    ranking, dropped = _judged(ranking, builder, request, steered)
    limit = min(request.limit or _count(steered) or view.limit, MAX_LIMIT)
    reply = _Reply(snapshot, request, view, ranking, steered, dropped)
    make = builder.full if request.full else builder.stub
    hits = [make(one) for one in ranking.scored[:limit]]
    return reply.answer(hits, 0)


def query(
    snapshot: Snapshot, request: Query, view: View, session: Session | None = None, steered: Steered = UNSTEERED
) -> Answer:
    """Answer with the context for a question, within the budget; what the session has is not sent again.

    Raises TooLong, UsageFailed.
    """
    ranking = _ranking(snapshot, request, view, steered.guide)
    if not ranking.scored:
        return _absent(snapshot, request, view, ranking.warnings, steered)
    builder = Builder(snapshot, view, ranking.sought, ranking.found, steered.verdicts)
    ranking, dropped = _judged(ranking, builder, request, steered)
    reply = _Reply(snapshot, request, view, ranking, steered, dropped)
    kept = ranking.scored[: min(request.limit or _count(steered) or pack.MAX_ROWS, MAX_LIMIT)]
    worth = shares(ranking)
    rows = [_row(builder, session, one, share, request.full) for one, share in zip(kept, worth, strict=False)]
    budget = request.budget or view.budget
    chosen = pack.packed(rows, budget, reply.measure, stubs=request.stubs, full=request.full)
    if not request.limit and ("usage" in ranking.plan.intents or _stands_out(ranking, worth)):
        more = _neighbours(snapshot, request, ranking, builder, budget)
        chosen = pack.joined(chosen, more, budget, reply.measure)
    omitted = chosen.omitted + sum(1 for share in worth[len(rows) :] if share >= pack.STUB_SHARE)
    answer = reply.answer(chosen.hits, omitted)
    if session is not None:
        session.add(chosen.hits)
    return answer


def shown(snapshot: Snapshot, request: Find | Query, view: View, guide: Guide) -> tuple[Shown, ...]:
    """Return the first places for a question as a language model is shown them: facts and a few stored lines each."""
    ranking = _ranking(snapshot, request, view, guide)
    builder = Builder(snapshot, view, ranking.sought, ranking.found)
    found = []
    for one in ranking.scored[: guided.SEEN]:
        hit = builder.stub(one)
        lines = builder.outline(one, _SHOWN_TOKENS)
        texts = ((lines.code if lines is not None else "") or hit.summary).splitlines()
        found.append(
            Shown(
                id=hit.id,
                path=hit.file,
                line_start=hit.line_start,
                line_end=hit.line_end,
                type=hit.type,
                name=hit.qualified_name or hit.name,
                signature=hit.signature[:_SHOWN_WIDTH],
                lines=tuple(text[:_SHOWN_WIDTH] for text in texts[:_SHOWN_LINES]),
            )
        )
    return tuple(found)


def _count(steered: Steered) -> int:
    return steered.guide.count if steered.guide is not None else 0


def _judged(ranking: Ranking, builder: Builder, request: Find | Query, steered: Steered) -> tuple[Ranking, int]:
    """Return a ranking without what a language model dropped, and how many places that is."""
    if not steered.verdicts:
        return ranking, 0
    ids = [builder.stub(one).id for one in ranking.scored[: guided.SEEN]]
    return guided.judged(ranking, steered.verdicts, ids, beyond=request.limit > guided.SEEN)


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


def _ranking(snapshot: Snapshot, request: Find | Query, view: View, guide: Guide | None) -> Ranking:
    without = weights.named(request.without)
    wished = semantic.wish(view.meaning, request.semantic, without)
    within = scope(snapshot, request)
    if guide is None:
        return search(snapshot, request.text, within, without, wished)
    return guided.search(snapshot, request.text, within, guide, without, wished)


def _stands_out(ranking: Ranking, worth: Sequence[float]) -> bool:
    """Whether one place answers, and not several: then what is around it is worth more than what else was found."""
    places = zip(ranking.scored, worth, strict=True)
    return len({one.candidate.file.id for one, share in places if share >= pack.CODE_SHARE}) == 1


def _neighbours(snapshot: Snapshot, request: Query, ranking: Ranking, builder: Builder, budget: int) -> Iterator[Hit]:
    """Give what the best place leads to, as stubs that say why."""
    seed = expand.Seed(ranking.scored[0].candidate, ranking.sought, "usage" in ranking.plan.intents, request.kind)
    nodes = expand.expanded(snapshot, seed, lambda graph: graph.taken(filters.takes(request)), expand.most(budget))
    for node in nodes:
        yield msgspec.structs.replace(builder.stub(node.scored), via=("graph",), why=node.why)


def _absent(
    snapshot: Snapshot, request: Find | Query, view: View, warnings: tuple[str, ...], steered: Steered
) -> Answer:
    narrowed = scope(snapshot, request) != Scope()
    removed = len(search(snapshot, request.text, Scope()).scored) if narrowed else 0
    return absence.answer(
        snapshot,
        request,
        view,
        request.text,
        removed=removed,
        strategies=("symbol", "lexical", "path"),
        warnings=_warnings(warnings, steered),
        budget=(request.budget or view.budget) if isinstance(request, Query) else 0,
        steered=steered,
    )


def _warnings(own: tuple[str, ...], steered: Steered) -> tuple[str, ...]:
    return (*own, steered.warning) if steered.warning else own


class Overtaken(Exception):
    """A file of the answer is not any more as the snapshot has it: pass the barrier and ask once more."""


class _Reply:
    """Renders the answer of one request. `dropped` counts the places that steering took away."""

    def __init__(
        self, snapshot: Snapshot, request: Find | Query, view: View, ranking: Ranking, steered: Steered, dropped: int
    ) -> None:
        self._generation = snapshot.generation
        self._steered, self._dropped = steered, dropped
        self._request, self._view, self._ranking = request, view, ranking
        self._query = request.text
        if isinstance(request, Query):
            self._query = _echo(request.text, (request.budget or view.budget) - _envelope(steered))
        self._search_ms = (time.perf_counter_ns() - view.search_began_ns) / 1e6

    def measure(self, hits: Sequence[Hit], omitted: int) -> int:
        """Return how many tokens an answer with these hits has at most."""
        return tokens.count(self._render(self._found(hits, omitted, _ANY_SIZE, _ANY_MS)))

    def answer(self, hits: Sequence[Hit], omitted: int) -> Answer:
        """Return the answer; it says its own size."""
        if self._view.again and self._view.freshness.fresh and not all(hit.verified or hit.silent for hit in hits):
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
                steering_ms=self._steered.took_ms,
                steered_by=self._steered.by,
                cost_usd=self._steered.cost_usd,
                dropped=self._dropped,
            ),
            freshness=_freshness(view.freshness, hits),
            generation=self._generation,
            warnings=_warnings(ranking.warnings, self._steered),
            hint=ranking.hint,
        )

    def _render(self, found: Found) -> str:
        if self._request.output == "json":
            return json.found(found, explain=self._request.explain)
        return text.found(found, style(self._request, self._view))


def _envelope(steered: Steered) -> int:
    """Return how many tokens steering adds to the answer itself."""
    said = [steered.warning, steered.by and f'"steered_by":"{steered.by}","dropped":0']
    return tokens.count(" ".join(said)) if any(said) else 0


def _echo(text: str, budget: int) -> str:
    """Return a question as an answer repeats it: of a long one its beginning."""
    kept, room = text, min(budget // _ECHO, max(budget - _ENVELOPE, _LEAST_ECHO))
    while kept and tokens.count(msgspec.json.encode(kept).decode()) > room:
        kept = kept[: len(kept) * 3 // 4]
    return kept if kept == text else kept + "…"


def _spent_ms(view: View) -> float:
    return (time.perf_counter_ns() - view.started_ns) / 1e6


def _freshness(proved: Freshness, hits: Sequence[Hit]) -> Freshness:
    if not proved.fresh or all(hit.verified for hit in hits):
        return proved
    silent = next((hit.file for hit in hits if hit.silent), "")
    reason = f"the file system of {silent} does not answer" if silent else "a file changed while it was being answered"
    return Freshness(fresh=False, reason=reason, pending=proved.pending)
