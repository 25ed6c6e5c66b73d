"""Merging rankings and settling their order. Pure; runs on the reader threads."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from ctxd.search.weights import RRF_K

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)

# Scores that agree to so many digits are equal: sums in another order must not decide.
DIGITS = 6


def reciprocal(rank: int, k: int = RRF_K) -> float:
    """Return what the place `rank` (0 = first) is worth, 1 for the first (Cormack et al. 2009, times k + 1)."""
    return (k + 1) / (k + 1 + rank)


def fused(rankings: Mapping[str, Sequence[H]], weights: Mapping[str, float], k: int = RRF_K) -> dict[H, float]:
    """Return each item's weighted sum of reciprocal ranks, 1 for one that leads every ranking.

    A ranking that is empty takes no part; one without a weight counts 1.
    """
    live = {name: ranking for name, ranking in rankings.items() if ranking}
    total = sum(weights.get(name, 1.0) for name in live) or 1.0
    found: dict[H, float] = {}
    for name in sorted(live):
        for rank, item in enumerate(live[name]):
            found[item] = found.get(item, 0.0) + weights.get(name, 1.0) / total * reciprocal(rank, k)
    return found


def ordered(items: Iterable[T], score: Callable[[T], float], place: Callable[[T], tuple[str, int, int]]) -> list[T]:
    """Return `items` best first, equal ones by path and lines."""
    return sorted(items, key=lambda item: (-round(score(item), DIGITS), place(item)))
