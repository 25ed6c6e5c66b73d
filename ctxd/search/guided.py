"""A question and a language model's guide -> one ranking. Runs on a reader thread, in one snapshot.

Each sub-query is searched as any question is; the rankings are merged by weighted reciprocal rank, where the question's
own counts 1 and its exact names stay first. The guide is data: it adds words, names and globs to look for, and what it
says amiss finds nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from ctxd.guide import Guide, SubQuery, Verdict
from ctxd.search import globs
from ctxd.search.filters import Scope
from ctxd.search.pack import CODE_SHARE, STUB_SHARE
from ctxd.search.ranking import fuse, ranking, semantic
from ctxd.search.ranking.candidates import Candidate, Retrieved, is_part
from ctxd.search.ranking.line import Sought
from ctxd.search.ranking.naming import Definition
from ctxd.search.ranking.ranking import Ranking
from ctxd.search.ranking.scored import TIERS, Scored
from ctxd.search.ranking.weights import Without
from ctxd.store import catalog, read
from ctxd.store.snapshot import Snapshot
from ctxprotocol.errors import UsageFailed

# Places that the model is shown, and so the ones that it may drop.
SEEN = 12
# Places of each ranking that have a say: with k = 60 a long tail in several lists would outvote a first place.
WINDOW = 50
# What a pattern counts beside the question: a name or a folder that the model guessed, not one that was asked for.
PATTERN = 0.5
_MAX_MATCHED = 24
# So many matches of a pattern may all be meant; of more each is worth less.
_FEW = 2

# A place, however its lines are cut: the definition that it is (part of), or its lines.
Key = tuple[str, int, int]


class Voice(msgspec.Struct, frozen=True):
    """One ranking with a say in the merged one: `shares` are its places' worth, `label` names it in `--explain`."""

    label: str
    weight: float
    scored: Sequence[Scored]
    shares: Sequence[float]


def search(
    snapshot: Snapshot, question: str, within: Scope, guide: Guide, without: Without, wished: semantic.Wish
) -> Ranking:
    """Return all places for a question and what the guide adds to it, best first. Raises TooLong."""
    own = ranking.search(snapshot, question, within, without, wished)
    asked = [(f"{one.strategy}: {one.text}", one.weight, one.text, within, _wish(one, wished)) for one in guide.queries]
    names, globbed = _sorted_out(guide.symbols)
    asked += [(f"name: {name}", PATTERN, name, within, semantic.NO_WISH) for name in names]
    below = _below(snapshot, guide.paths, within)
    asked += [("paths", PATTERN, question, below, semantic.NO_WISH)] if below is not None else []
    found = [ranking.search(snapshot, text, scope, without, wish) for _, _, text, scope, wish in asked]
    voices = [_voice("question", 1.0, own)]
    voices += [_voice(label, weight, one) for (label, weight, *_), one in zip(asked, found, strict=True)]
    rankings = [own, *found]
    sought = _sought(rankings, voices)
    voices += [_matching(snapshot, pattern, within) for pattern in globbed]
    scored, worth = merged(voices)
    return msgspec.structs.replace(
        own,
        scored=tuple(scored),
        worth=tuple(worth),
        sought=sought,
        found=_retrieved(rankings),
        strategies=tuple(dict.fromkeys(name for one in rankings for name in one.strategies)),
    )


def merged(voices: Sequence[Voice]) -> tuple[list[Scored], list[float]]:
    """Return the places of all rankings, best first, and their shares of the best; the first voice is the question's.

    A place's score is the sum of weight * 61 / (60 + rank) over the voices (Cormack et al. 2009, times k + 1), beside
    the tier that the question itself gave it. What is not worth a line in a ranking counts as beyond its window: else
    the tail of the question's own list would come before the first place of any other. Shares go in the new order: the
    first has the largest that any has.
    """
    owners = _owners(voices)
    best: dict[Key, Candidate] = {}
    parts: dict[Key, list[tuple[str, float]]] = defaultdict(list)
    worth: dict[Key, float] = defaultdict(float)
    for voice in voices:
        places: set[Key] = set()
        for one, share in zip(voice.scored[:WINDOW], voice.shares, strict=False):
            owner = _owner(one.candidate, owners)
            key = (owner or one.candidate).place
            worth[key] = max(worth[key], voice.weight * share)
            if key in places:
                continue
            if voice is voices[0]:
                parts[key] += [part for part in one.parts if part[0] in TIERS]
            rank = len(places) if share >= STUB_SHARE else WINDOW + len(places)
            parts[key].append((voice.label, voice.weight * fuse.reciprocal(rank)))
            places.add(key)
            best.setdefault(key, owner or one.candidate)
    scored = [Scored(best[key], sum(value for _, value in each), tuple(each)) for key, each in parts.items()]
    scored = fuse.ordered(scored, lambda one: one.score, lambda one: one.candidate.place)
    return scored, sorted(worth.values(), reverse=True)


def judged(found: Ranking, verdicts: Sequence[Verdict], ids: Sequence[str], *, beyond: bool) -> tuple[Ranking, int]:
    """Return a ranking without the places that the model dropped, and how many those are.

    `ids` are those of its first places. A place of which nothing is said, as its text changed since, is kept. What the
    model kept is worth its best lines. `beyond`: also what comes after the places that it was shown.
    """
    if not verdicts:
        return found, 0
    dropped = {(one.id, one.line_start) for one in verdicts if not one.keep}
    seen = list(zip(found.scored, ids, strict=False))
    kept = [one for one, name in seen if (name, one.candidate.line_start) not in dropped]
    worth = [max(share, CODE_SHARE) for share in ranking.shares(found)[: len(kept)]]
    rest = found.scored[len(seen) :] if beyond else ()
    worth += ranking.shares(found)[len(seen) :] if beyond else []
    return msgspec.structs.replace(found, scored=(*kept, *rest), worth=tuple(worth)), len(seen) - len(kept)


def _voice(label: str, weight: float, found: Ranking) -> Voice:
    return Voice(label, weight, found.scored, ranking.shares(found))


def _wish(one: SubQuery, wished: semantic.Wish) -> semantic.Wish:
    by_meaning = one.strategy == "meaning" and wished.meaning is not None
    return semantic.Wish(wished.meaning, forced=True) if by_meaning else semantic.NO_WISH


def _sorted_out(patterns: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the patterns that are names, and those that are globs."""
    globbed = [one for one in patterns if "*" in one or "?" in one]
    return [one for one in patterns if one not in globbed], globbed


def _matching(snapshot: Snapshot, pattern: str, within: Scope) -> Voice:
    """Return the definitions whose names a glob matches: source first, by path and line."""
    accept = globs.names(pattern, folded=False)
    matching = catalog.matching(snapshot, accept, qualified=False, literal=globs.literal(pattern))
    names = {one.symbol.name for one in matching}
    rows = read.named(snapshot, names, _MAX_MATCHED, within.accept)
    chunks = read.covering(snapshot, rows)
    files = read.files(snapshot, {row.file for row in rows})
    places = [
        Candidate(
            *(files[row.file], row, tuple(chunks[row.id]), row.line_start, row.line_end, row.kind),
            definition=Definition(row, -1, True, True),
            order=place,
        )
        for place, row in enumerate(rows)
        if chunks[row.id]
    ]
    scored = [Scored(one, 1.0, ()) for one in places]
    return Voice(f"name: {pattern}", PATTERN, scored, [min(1.0, _FEW / max(len(scored), 1))] * len(scored))


def _below(snapshot: Snapshot, patterns: Sequence[str], within: Scope) -> Scope | None:
    """Return the part of a scope that path patterns match, None when they are none or match nothing."""
    try:
        accept = globs.paths(patterns, ())
    except UsageFailed:
        return None
    if accept is None:
        return None
    files = frozenset(
        number for number, path, _, _ in read.paths(snapshot) if within.takes_file(number) and accept(path)
    )
    chunks = read.chunks_of(snapshot, files, within.kind) if files else []
    return Scope(files, chunks, within.kind, frozenset(chunks)) if files else None


def _owners(voices: Sequence[Voice]) -> Mapping[int, list[Candidate]]:
    """File -> the definitions that some voice found by name, innermost first."""
    found: dict[int, dict[Key, Candidate]] = defaultdict(dict)
    for one in _every(voices):
        if one.definition is not None:
            found[one.file.id].setdefault(one.place, one)
    return {
        file: sorted(each.values(), key=lambda one: (one.line_end - one.line_start, one.place))
        for file, each in found.items()
    }


def _every(voices: Sequence[Voice]) -> Iterator[Candidate]:
    for voice in voices:
        for one in voice.scored[:WINDOW]:
            yield one.candidate


def _owner(one: Candidate, owners: Mapping[int, list[Candidate]]) -> Candidate | None:
    """Return the definition, found by name in some ranking, of which a place is all or a part: it stands for both."""
    for owner in owners.get(one.file.id, ()):
        row = owner.symbol
        if row is None:
            continue
        if owner.place == one.place or (one.symbol is not None and one.symbol.id == row.id):
            return owner
        if one.definition is None and all(is_part(chunk, row) for chunk in one.chunks):
            return owner
    return None


def _sought(rankings: Sequence[Ranking], voices: Sequence[Voice]) -> Sought:
    """Return what lines are looked for: the question's words, and those of the sub-queries by their weight."""
    stems: dict[str, float] = {}
    for found, voice in zip(rankings, voices, strict=True):
        for stem, weight in found.sought.stems.items():
            stems[stem] = max(stems.get(stem, 0.0), voice.weight * weight)
    return Sought(stems, tuple(dict.fromkeys(text for found in rankings for text in found.sought.literals)))


def _retrieved(rankings: Sequence[Ranking]) -> Retrieved:
    """Return what all retrievers found, so that each place can say by which."""
    all_found = [one.found for one in rankings]
    base = {chunk: value for found in reversed(all_found) for chunk, value in found.lexical.base.items()}
    return Retrieved(
        lexical=msgspec.structs.replace(all_found[0].lexical, base=base),
        definitions=tuple(one for found in all_found for one in found.definitions),
        located=tuple(one for found in all_found for one in found.located),
        verbatim=tuple(one for found in all_found for one in found.verbatim),
        uses=tuple(one for found in all_found for one in found.uses),
        semantic={chunk: value for found in reversed(all_found) for chunk, value in found.semantic.items()},
    )
