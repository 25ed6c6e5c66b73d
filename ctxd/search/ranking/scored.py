"""Candidates with their scores, and what becomes of those of one file: the first, and how much others count. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from ctxd.search.ranking import fuse, weights
from ctxd.search.ranking.candidates import Candidate
from ctxd.search.ranking.penalties import is_imports

# The parts of a score that no feature can make up for.
TIERS = ("exact symbol", "located", "near symbol")
# Scores that differ by less differ by the order of their sums.
_EQUAL = 0.5 * 10**-fuse.DIGITS


class Scored(msgspec.Struct, frozen=True, eq=False):
    """A candidate with its score: the sum of `parts`, in the order they were applied."""

    candidate: Candidate
    score: float
    parts: tuple[tuple[str, float], ...]

    @property
    def tier(self) -> float:
        """The part of the score that no feature can make up for."""
        return sum(value for name, value in self.parts if name in TIERS)

    def plus(self, name: str, value: float) -> Scored:
        """Return it with one more part."""
        return msgspec.structs.replace(self, score=self.score + value, parts=(*self.parts, (name, value)))


def placed(scored: Iterable[Scored]) -> list[Scored]:
    """Let the scores of a file's candidates go to them by what each says itself.

    A file is found by all that speaks for it, and most of that does not say where in it. What is best in the file
    keeps its worth among the other files. Imports come last, unless a text or a use that was asked for stands there;
    where a name was asked for, its definition is the place.
    """
    files: dict[int, list[Scored]] = defaultdict(list)
    for one in scored:
        files[one.candidate.file.id].append(one)
    found: list[Scored] = []
    for group in files.values():
        if len(group) > 1 and not any(one.tier for one in group):
            group = _redistributed(group)
        found += group
    return found


def _redistributed(group: Sequence[Scored]) -> list[Scored]:
    worths = sorted((one.score for one in group), reverse=True)
    best = sorted(group, key=lambda one: (_only_imports(one), -round(_own(one), fuse.DIGITS), one.candidate.place))
    return [
        one if abs(one.score - worth) < _EQUAL else one.plus("place", worth - one.score)
        for one, worth in zip(best, worths, strict=True)
    ]


def _only_imports(one: Scored) -> bool:
    return is_imports(one.candidate) and not any(name in ("literal", "uses") for name, _ in one.parts)


def _own(one: Scored) -> float:
    """Return what of a score is the candidate's and not its file's, lowered as the whole is."""
    own = sum([weights.PLACE.get(name, 0.0) * value for name, value in one.parts])
    return own * one.score / sum([value for _, value in one.parts if value > 0.0])


def saturated(scored: Iterable[Scored]) -> list[Scored]:
    """Let each further candidate of a file count a third of the one before, best first; tiers are not touched."""
    seen: dict[int, int] = defaultdict(int)
    found = []
    for one in ordered(scored):
        further = seen[one.candidate.file.id]
        seen[one.candidate.file.id] += 1
        loss = (one.score - one.tier) * (weights.SATURATION**further - 1)
        found.append(one.plus("saturation", loss) if further and loss else one)
    return ordered(found)


def ordered(scored: Iterable[Scored]) -> list[Scored]:
    """Return them best first, equal ones by path and lines."""
    return fuse.ordered(scored, lambda one: one.score, lambda one: one.candidate.place)
