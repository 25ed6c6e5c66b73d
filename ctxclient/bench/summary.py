"""What a run comes to: means over the repositories' means, for all, per category, per language. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Literal

import msgspec

from ctxclient.bench.metrics import DEPTH, mean, percentile
from ctxclient.bench.runs import Asked, Measured, Timed

# Questions of so many words are counted together.
LENGTHS = ((1, 1), (2, 2), (3, 4), (5, 7), (8, 12), (13, 10_000))


class Budget(msgspec.Struct, frozen=True):
    """The answers of `ctx query` within one budget: share with a relevant file, and with its code; mean tokens in all,
    until one is named, until it is read, as in Compiled.
    """

    budget: int
    recall: float
    coded: float
    tokens: float
    named: float
    read: float


class Group(msgspec.Struct, frozen=True, kw_only=True):
    """Questions of one kind. `hit_K`: share with a relevant file among the first K results. `recall_10`: mean share of
    the relevant files among the first ten.
    """

    name: str
    repositories: int
    questions: int
    ndcg_10: float
    hit_1: float
    hit_3: float
    hit_10: float
    recall_10: float
    budgets: tuple[Budget, ...] = ()


class Speed(msgspec.Struct, frozen=True):
    """The daemon's own time for `find` by the number of words, milliseconds."""

    words: str
    questions: int
    p50_ms: float
    p99_ms: float


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """All figures of a run."""

    all: Group
    categories: tuple[Group, ...]
    languages: tuple[Group, ...]
    repositories: tuple[Group, ...]
    speed: tuple[Speed, ...]


def summary(repositories: Sequence[Measured], timed: Sequence[Timed] = ()) -> Summary:
    """Return the figures of a run; its speed on the questions that were `timed`, else on those of the set."""
    categories = sorted({one.category for each in repositories for one in each.questions})
    languages = sorted({each.language for each in repositories})
    return Summary(
        all=group("all", [each.questions for each in repositories]),
        categories=tuple(
            group(name, [[one for one in each.questions if one.category == name] for each in repositories])
            for name in categories
        ),
        languages=tuple(
            group(name, [each.questions for each in repositories if each.language == name]) for name in languages
        ),
        repositories=tuple(group(each.name, [each.questions]) for each in repositories),
        speed=speed(timed or [_timed(one) for each in repositories for one in each.questions]),
    )


def group(name: str, parts: Sequence[Sequence[Asked]]) -> Group:
    """Return the figures of questions, given by repository: each a mean over the repositories' means."""
    parts = [part for part in parts if part]
    questions = [one for part in parts for one in part]

    def over(value: Callable[[Asked], float]) -> float:
        return mean(mean(map(value, part)) for part in parts)

    budgets = [each.budget for each in questions[0].compiled] if questions else []
    return Group(
        name=name,
        repositories=len(parts),
        questions=len(questions),
        ndcg_10=over(lambda one: one.ndcg),
        hit_1=over(lambda one: 0 < one.rank <= 1),
        hit_3=over(lambda one: 0 < one.rank <= 3),
        hit_10=over(lambda one: 0 < one.rank <= DEPTH),
        recall_10=over(lambda one: one.recall10),
        budgets=tuple(
            Budget(
                budget, *(over(partial(_figure, at, name)) for name in ("found", "coded", "tokens", "named", "read"))
            )
            for at, budget in enumerate(budgets)
        ),
    )


def speed(timed: Iterable[Timed]) -> tuple[Speed, ...]:
    """Return how long `find` took in the daemon, all together and by the number of words."""
    timed = list(timed)
    rows = [("all", [one.search_ms for one in timed])]
    for low, high in LENGTHS:
        label = str(low) if low == high else f"{low}-{high}" if high < 1_000 else f"{low}+"
        rows.append((label, [one.search_ms for one in timed if low <= one.words <= high]))
    return tuple(Speed(label, len(ms), percentile(ms, 0.5), percentile(ms, 0.99)) for label, ms in rows if ms)


def _timed(one: Asked) -> Timed:
    return Timed(len(one.query.split()), one.search_ms)


def _figure(at: int, name: Literal["found", "coded", "tokens", "named", "read"], one: Asked) -> float:
    return float(getattr(one.compiled[at], name))
