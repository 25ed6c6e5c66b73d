"""Candidates -> their order. Every part of a score is a named feature with its weight in weights.py.

Reads a few tables in the request's snapshot, on its reader thread; the arithmetic is pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from ctxd.search.question.plan import Plan
from ctxd.search.ranking import fuse, weights
from ctxd.search.ranking.candidates import Candidate, Retrieved
from ctxd.search.ranking.features import Subject
from ctxd.search.ranking.naming import Definition
from ctxd.search.ranking.penalties import Penalties, is_imports
from ctxd.search.ranking.scored import Scored, ordered, placed, saturated
from ctxd.search.ranking.shortlist import Base, Shortlist
from ctxd.search.ranking.standing import Standing
from ctxd.store.read import FileRow
from ctxd.store.schema import BEHIND


def ranked(
    plan: Plan,
    found: Retrieved,
    candidates: Sequence[Candidate],
    subject: Subject,
    known: Standing,
    without: weights.Without = weights.NONE,
) -> list[Scored]:
    """Return the candidates best first; the parts `without` do not count."""
    base = _base(found.lexical, candidates)
    leaders = _leaders(candidates, base)
    evidence = _Evidence(found)
    penalties = Penalties(plan, candidates, known.older)
    common = _common(found.definitions)
    scored = []
    for candidate, one in zip(candidates, base, strict=True):
        parts = [("lexical", one.lexical), ("coverage", one.coverage)]
        parts += evidence.features(candidate)
        parts += subject.features(candidate.file.path, None if candidate.definition else candidate.symbol)
        if leaders[candidate.file.id] is candidate:
            parts.append(("coherence", weights.COHERENCE * found.lexical.together.get(candidate.file.id, 0.0)))
            parts.append(("exports", weights.EXPORTS * known.exports.get(candidate.file.id, 0.0)))
        if without:
            parts = [part for part in parts if part[0] not in without]
        total = sum([value for _, value in parts])
        for name, factor in penalties.factors(candidate):
            if name in without:
                continue
            parts.append((name, total * (factor - 1)))
            total *= factor
        tier = [part for part in _tier(plan, evidence, candidate, common) if part[0] not in without]
        parts += tier
        total += sum([value for _, value in tier])
        if total:
            scored.append(Scored(candidate, total, tuple([part for part in parts if part[1]])))
    if "place" not in without:
        scored = placed(scored)
    return ordered(scored) if "saturation" in without else saturated(scored)


def _base(found: Shortlist, candidates: Sequence[Candidate]) -> list[Base]:
    """The best of each candidate's chunks."""
    nothing = Base(0.0, 0.0)
    return [
        max([found.base.get(chunk.id, nothing) for chunk in candidate.chunks], key=_total, default=nothing)
        for candidate in candidates
    ]


def _total(base: Base) -> float:
    return base.lexical + base.coverage


def _leaders(candidates: Sequence[Candidate], base: Sequence[Base]) -> dict[int, Candidate]:
    """File -> the candidate in which its words are densest; its imports only where it has nothing else."""
    best: dict[int, tuple[tuple[bool, float], Candidate]] = {}
    for candidate, one in zip(candidates, base, strict=True):
        value, file = (not is_imports(candidate), _total(one)), candidate.file.id
        known = best.get(file)
        if known is None or value > known[0] or (value == known[0] and candidate.place < known[1].place):
            best[file] = (value, candidate)
    return {file: candidate for file, (_, candidate) in best.items()}


class _Evidence:
    """What the retrievers beside the lexical one found, by chunk."""

    def __init__(self, found: Retrieved) -> None:
        self._verbatim = {one.chunk: one for one in found.verbatim}
        self._uses = {one.chunk: place for place, one in enumerate(found.uses)}
        self._semantic = found.semantic
        self._any = bool(self._verbatim or self._uses or self._semantic)
        self._located = {one.chunk.id: (place, one.line) for place, one in reversed(list(enumerate(found.located)))}

    def features(self, candidate: Candidate) -> Iterable[tuple[str, float]]:
        """Literal texts, runs of words, uses, nearness."""
        if not self._any:
            return
        held = [self._verbatim[chunk.id] for chunk in candidate.chunks if chunk.id in self._verbatim]
        if any(one.checked for one in held):
            yield "literal", weights.LITERAL
        run = max((one.words for one in held), default=0)
        if run > 1:
            yield "phrase", min(weights.PHRASE * run, weights.PHRASE_MOST)
        places = [self._uses[chunk.id] for chunk in candidate.chunks if chunk.id in self._uses]
        if places:
            yield "uses", weights.USE * fuse.reciprocal(min(places))
        if self._semantic:
            yield "semantic", max([self._semantic.get(chunk.id, 0.0) for chunk in candidate.chunks], default=0.0)

    def located(self, candidate: Candidate) -> int | None:
        """Return the place of a candidate among the paths asked for."""
        places = [self._located[chunk.id][0] for chunk in candidate.chunks if chunk.id in self._located]
        return min(places, default=None)


def _tier(
    plan: Plan, evidence: _Evidence, candidate: Candidate, common: Mapping[int, float]
) -> list[tuple[str, float]]:
    found = []
    one = candidate.definition
    if one is not None and one.coded and (plan.kind == "symbol" or (candidate.order == 0 and _is_source(candidate))):
        step = weights.STEP * min(candidate.order + one.place, weights.STEPS)
        if one.exact:
            found.append(("exact symbol", weights.EXACT - step))
        else:
            found.append(("near symbol", weights.FOLDED - step))
    elif one is not None:
        scale = (1.0 if one.exact else 0.5) * (1.0 if _is_source(candidate) else weights.CONFIG)
        found.append(("definition", weights.DEFINITION * scale * common[one.place] * (0.5 if candidate.order else 1.0)))
    place = evidence.located(candidate)
    if place is not None:
        found.append(("located", weights.LOCATED - weights.STEP * min(place, weights.STEPS)))
    return found


def _is_source(candidate: Candidate) -> bool:
    """Whether a definition that a sentence names is the thing itself: no heading or key of that name."""
    return candidate.file.content == "code"


def _common(definitions: Sequence[Definition]) -> dict[int, float]:
    """Return for each name of the plan what a definition of it is worth: less the more files define one."""
    files: dict[int, set[int]] = defaultdict(set)
    for one in definitions:
        files[one.place].add(one.symbol.file)
    return {place: min(1.0, weights.COMMON / len(found)) for place, found in files.items()}


def definition_order(
    definitions: Sequence[Definition], files: Mapping[int, FileRow], announced: frozenset[int]
) -> dict[int, int]:
    """Return symbol id -> place among the definitions of the same asked name.

    Source before tests and copies, code before configuration and documents (a target of a Makefile may have the name
    of a function), bodies before announcements, by kind, exported before private, by path.
    """
    kinds: dict[str, int] = {kind: place for place, kind in enumerate(weights.KINDS)}
    groups: dict[tuple[int, bool], list[Definition]] = defaultdict(list)
    for one in definitions:
        groups[one.place, one.exact].append(one)
    found = {}
    for group in groups.values():
        group.sort(
            key=lambda one: (
                bool(files[one.symbol.file].facts & BEHIND),
                files[one.symbol.file].content != "code",
                one.symbol.id in announced,
                kinds.get(one.symbol.kind, len(kinds)),
                not one.symbol.exported,
                _stem(files[one.symbol.file].path) != one.symbol.name.casefold().replace("_", ""),
                files[one.symbol.file].path.count("/"),
                files[one.symbol.file].path,
                one.symbol.line_start,
                one.symbol.definition_line,
            )
        )
        found.update({one.symbol.id: place for place, one in enumerate(group)})
    return found


def _stem(path: str) -> str:
    """Return a file's name without its last suffix, as a name but for case would be spelled."""
    return path.rpartition("/")[2].rpartition(".")[0].casefold().replace("_", "").replace("-", "")
