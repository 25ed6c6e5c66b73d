"""What a place in a ranking is worth, and how an order is settled. Pure; runs on the reader threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from ctxd.search.ranking.weights import RRF_K

T = TypeVar("T")

# Scores that agree to so many digits are equal: sums in another order must not decide.
DIGITS = 6


def reciprocal(rank: int, k: int = RRF_K) -> float:
    """Return what the place `rank` (0 = first) is worth, 1 for the first (Cormack et al. 2009, times k + 1)."""
    return (k + 1) / (k + 1 + rank)


def ordered(items: Iterable[T], score: Callable[[T], float], place: Callable[[T], tuple[str, int, int]]) -> list[T]:
    """Return `items` best first, equal ones by path and lines."""
    return sorted(items, key=lambda item: (-round(score(item), DIGITS), place(item)))
