"""When vectors speak, and what they say. Runs on a reader thread, in one snapshot.

They speak when the question is prose and names nothing that is defined. Then the nearest chunks join the candidates,
and nearness is a part of the score (`semantic`): in a file of which much is near. Where even the best place by words
holds little of the question it counts for more, and each chunk for itself: then there may be but one place. While some
vectors lack they are left out, so that what is answered does not depend on when it is asked; who asks for them gets
what is there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import msgspec

from ctxd.model import Meaning
from ctxd.search.filters import Scope
from ctxd.search.question.plan import Plan
from ctxd.search.ranking import weights
from ctxd.search.ranking.scored import Scored
from ctxd.store import read, vectors
from ctxd.store.snapshot import Snapshot

# Chunks that are looked at: enough that those of a file together say something of it. Who asks for meaning asks for a
# place: there the hundredth is far already.
_NEAREST, _NEAREST_ASKED = 300, 100
# Of them so many become candidates, with those that are equal to the last: as many as by words.
_CANDIDATES = 80
# Less alike than this is not alike: the nearest chunk to a question about something else.
_LEAST = 0.25
# Where all are equally near, all are nearest.
_STEP = 1e-6
FAR = "vectors: nothing here is near to that in meaning; this was found by words alone"
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
    if not wished.forced and (plan.kind != "prose" or (scored and scored[0].tier)):
        return SILENT
    complete = vectors.ready(snapshot, meaning.model)
    if not complete and not (wished.forced and vectors.any_of(snapshot, meaning.model)):
        return Spoken(warning=_partial(snapshot, meaning.model)) if wished.forced else SILENT
    asked = meaning.ask(plan.text)
    if not asked.vector:
        return Spoken(warning=f"vectors: {asked.trouble}; this was found by words alone")
    limit, most, shared = _NEAREST, weights.SEMANTIC, weights.SEMANTIC_FILE
    if wished.forced:
        limit, most, shared = _NEAREST_ASKED, weights.SEMANTIC_ASKED, weights.SEMANTIC_FILE_ASKED
    found = vectors.nearest(snapshot, asked.vector, limit, within=within.chunks)
    lack = _lack(scored, coverage)
    shares = _shares(snapshot, found, meaning.weight * most * (1.0 + lack), shared * (1.0 - lack))
    if not complete:
        return Spoken(shares, _partial(snapshot, meaning.model))
    return Spoken(shares, "" if shares or not wished.forced else FAR)


def _partial(snapshot: Snapshot, model: str) -> str:
    """Return what is said while vectors lack: a question is never compared with those of another model."""
    other = vectors.replaced(snapshot, model)
    return f"{PARTIAL}; those by {other} are of no use to {model}, all are made anew" if other else PARTIAL


def _lack(scored: Sequence[Scored], coverage: Mapping[int, float]) -> float:
    """Return how little of the question even the best file's best place by words holds: 1 for nothing of it."""
    first = [one.candidate for one in scored if one.candidate.file.id == scored[0].candidate.file.id]
    best = max((coverage.get(chunk.id, 0.0) for one in first for chunk in one.chunks), default=0.0)
    return max(0.0, 1.0 - best / weights.SEMANTIC_LACK)


def _shares(snapshot: Snapshot, found: Sequence[vectors.Near], weight: float, shared: float) -> dict[int, float]:
    """Return each chunk's part: all of the weight for the nearest, nothing for the last; `shared` of it by its file.

    Those that get least are left out.
    """
    if not found or found[0].cosine < _LEAST:
        return {}
    last = min(found[-1].cosine, found[0].cosine - _STEP)
    near = {one.chunk: (one.cosine - last) / (found[0].cosine - last) for one in found if one.cosine >= _LEAST}
    files = {chunk: row.file for chunk, row in read.chunks(snapshot, near.keys()).items()}
    together: dict[int, float] = defaultdict(float)
    for chunk, value in near.items():
        together[files[chunk]] += value
    most = max(together.values())
    shares = {
        chunk: weight * value * (1.0 - shared + shared * together[files[chunk]] / most)
        for chunk, value in near.items()
        if value > 0.0
    }
    least = sorted(shares.values(), reverse=True)[:_CANDIDATES][-1]
    return {chunk: share for chunk, share in shares.items() if share >= least}
