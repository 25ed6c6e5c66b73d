"""When vectors speak, and what they say. Runs on a reader thread, in one snapshot.

They speak where words have little to say: the question is prose, names nothing that is defined, and even the best place
holds few of its words. Then the nearest chunks join the candidates, and nearness is a part of the score (`semantic`)
that counts less the more of the question the words found. Vectors of which some still lack are left out, so that what
is answered does not depend on when it is asked; who asks for them gets what is there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from ctxd.model import Meaning
from ctxd.search import weights
from ctxd.search.filters import Scope
from ctxd.search.plan import Plan
from ctxd.search.rank import Scored
from ctxd.store import vectors
from ctxd.store.snapshot import Snapshot

# Chunks that are looked at; among them are tests and documents, which count less.
NEAREST = 60
# Less alike than this is not alike: the nearest chunk to a question about something else.
_LEAST = 0.25
PARTIAL = "vectors: partial, some places cannot be found by meaning yet; ctx status says how far they are"


class Wish(msgspec.Struct, frozen=True, eq=False):
    """Whether vectors may speak (`meaning`: whose), must (`forced`), or are forbidden (no `meaning`)."""

    meaning: Meaning | None = None
    forced: bool = False


class Spoken(msgspec.Struct, frozen=True):
    """What each chunk's nearness adds to its score, and what there is to say about it."""

    shares: Mapping[int, float] = {}
    warning: str = ""


SILENT = Spoken()
NO_WISH = Wish()


def wish(meaning: Meaning | None, semantic: bool | None, without: weights.Without) -> Wish:
    """Return what a request wants of vectors: `semantic` None leaves it to the evidence."""
    if semantic is False or "semantic" in without:
        return NO_WISH
    return Wish(meaning, bool(semantic))


def spoken(
    snapshot: Snapshot, plan: Plan, wished: Wish, scored: Sequence[Scored], coverage: Mapping[int, float], within: Scope
) -> Spoken:
    """Return what vectors have to say about a question, after `scored` has been found by words."""
    meaning = wished.meaning
    if meaning is None:
        return Spoken(warning="vectors: there are none here; ctx status says why") if wished.forced else SILENT
    weight = meaning.weight * (weights.SEMANTIC if wished.forced else _weight(plan, scored, coverage))
    if not weight:
        return SILENT
    complete = vectors.ready(snapshot, meaning.model)
    if not complete and not (wished.forced and vectors.any_of(snapshot, meaning.model)):
        return Spoken(warning=PARTIAL) if wished.forced else SILENT
    asked = meaning.ask(plan.text)
    if not asked.vector:
        return Spoken(warning=f"vectors: {asked.trouble}; this was found by words alone")
    found = vectors.nearest(snapshot, asked.vector, NEAREST, within=within.chunks)
    return Spoken(_shares(found, weight), "" if complete else PARTIAL)


def _weight(plan: Plan, scored: Sequence[Scored], coverage: Mapping[int, float]) -> float:
    """Return how much nearness may add: nothing where the question names something, less the more words found."""
    if plan.kind != "prose" or (scored and scored[0].tier):
        return 0.0
    best = max((coverage.get(chunk.id, 0.0) for chunk in scored[0].candidate.chunks), default=0.0) if scored else 0.0
    return weights.SEMANTIC_MOST * max(0.0, 1.0 - best / weights.SEMANTIC_UNTIL)


def _shares(found: Sequence[vectors.Near], weight: float) -> dict[int, float]:
    """Return for each chunk that is alike at all its part: all of the weight for the nearest, nothing for the last."""
    if not found or found[0].cosine < _LEAST:
        return {}
    last = min(found[-1].cosine, found[0].cosine - 1e-6)
    span = found[0].cosine - last
    return {
        one.chunk: weight * (one.cosine - last) / span for one in found if one.cosine > last and one.cosine >= _LEAST
    }
