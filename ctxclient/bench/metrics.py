"""How good a list of results is, as numbers. Pure.

NDCG@10 of one question: its targets are the relevant and the secondary places. A target's rank is the place (from 1)
of the first result whose path is the target's (one of the two a suffix of the other, cut at a `/`) and, where the
target has lines, whose lines overlap them. DCG is the sum of 1 / log2(rank + 1) over the distinct ranks found; it is
divided by that of the best list possible, whose first min(10, number of targets) results are each a target.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence

from ctxclient.bench.datasets import Question, Span

# How many results count.
DEPTH = 10


def same_file(one: str, other: str) -> bool:
    """Say whether two paths may be one file's: equal, or one the other's end from a `/` on."""
    return one == other or one.endswith(f"/{other}") or other.endswith(f"/{one}")


def matches(target: Span, result: Span) -> bool:
    """Say whether a result is, or lies across, a target."""
    if not same_file(target.path, result.path):
        return False
    if not target.start_line:
        return True
    return result.start_line <= target.end_line and target.start_line <= result.end_line


def ranks(targets: Iterable[Span], results: Sequence[Span]) -> set[int]:
    """Return the distinct ranks at which targets come first, among the results that count."""
    found = (
        next((rank for rank, result in enumerate(results[:DEPTH], 1) if matches(target, result)), 0)
        for target in targets
    )
    return {rank for rank in found if rank}


def ndcg(question: Question, results: Sequence[Span]) -> float:
    """Return NDCG@10 of one question."""
    targets = question.targets
    best = _gain(range(1, min(DEPTH, len(targets)) + 1))
    return _gain(ranks(targets, results)) / best if best else 0.0


def first_rank(files: Collection[str], results: Sequence[Span]) -> int:
    """Return the rank of the first result in one of `files`, 0 when there is none."""
    for rank, result in enumerate(results, 1):
        if any(same_file(file, result.path) for file in files):
            return rank
    return 0


def recall(files: Collection[str], results: Sequence[Span], depth: int) -> float:
    """Return the share of `files` that the first `depth` results lie in."""
    found = sum(1 for file in files if any(same_file(file, result.path) for result in results[:depth]))
    return found / len(files) if files else 0.0


def mean(values: Iterable[float]) -> float:
    """Return the mean, 0 of nothing."""
    kept = list(values)
    return math.fsum(kept) / len(kept) if kept else 0.0


def percentile(values: Iterable[float], share: float) -> float:
    """Return the smallest value that at least `share` of the values do not exceed, 0 of nothing."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else 0.0


def _gain(found: Iterable[int]) -> float:
    return math.fsum(1 / math.log2(rank + 1) for rank in sorted(found))
