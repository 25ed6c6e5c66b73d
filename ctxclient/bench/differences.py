"""What two runs differ by: against an earlier one, and against the same with parts of the score left out. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ctxclient.bench.runs import Asked, Measured, Run, Variant
from ctxclient.bench.summary import Group, summary
from ctxclient.bench.tables import difference, plural, share, table

# Less is rounding.
SMALLEST = 0.0005
MOVED = 5


class Change(msgspec.Struct, frozen=True):
    """One group before and after."""

    kind: str
    name: str
    before: Group
    after: Group


class Move(msgspec.Struct, frozen=True):
    """One question before and after, by NDCG@10."""

    repository: str
    query: str
    before: float
    after: float


class Comparison(msgspec.Struct, frozen=True):
    """Two runs on the questions that both asked; `unshared` were asked by one alone."""

    changes: tuple[Change, ...]
    moves: tuple[Move, ...]
    questions: int
    unshared: int


def compared(before: Sequence[Measured], after: Sequence[Measured]) -> Comparison:
    """Compare two runs."""
    earlier = {(each.name, one.query): one for each in before for one in each.questions}
    later = {(each.name, one.query): one for each in after for one in each.questions}
    shared = earlier.keys() & later.keys()
    first, second = summary(_only(before, shared)), summary(_only(after, shared))
    pairs = [("all", [first.all], [second.all]), ("category", first.categories, second.categories)]
    pairs += [("language", first.languages, second.languages), ("repository", first.repositories, second.repositories)]
    changes = []
    for kind, olds, news in pairs:
        known = {each.name: each for each in olds}
        changes += [Change(kind, each.name, known[each.name], each) for each in news if each.name in known]
    moves = [Move(name, query, earlier[name, query].ndcg, later[name, query].ndcg) for name, query in sorted(shared)]
    return Comparison(
        tuple(changes),
        tuple(sorted((one for one in moves if abs(one.after - one.before) > SMALLEST), key=_gain)),
        len(shared),
        len(earlier.keys() ^ later.keys()),
    )


def comparison(found: Comparison) -> str:
    """Return a comparison as text: every group that differs, and the questions that moved most."""
    head = ("against the earlier run", "before", "after", "NDCG@10", "hit@10", *_budgets(found))
    rows = [
        (f"{change.kind} {change.name}" if change.kind != "all" else "all", *_cells(change))
        for change in found.changes
        if change.kind in ("all", "category") or abs(change.after.ndcg_10 - change.before.ndcg_10) > SMALLEST
    ]
    worse = sum(1 for one in found.moves if _gain(one) < 0)
    lines = [
        f"{plural(found.questions, 'question')} in both: {len(found.moves) - worse} better, {worse} worse"
        + (f"; {found.unshared} in one alone left out" if found.unshared else "")
    ]
    lines += [_moved(one) for one in found.moves[: min(worse, MOVED)]]
    lines += [_moved(one) for one in found.moves[worse:][-MOVED:]]
    return table(head, rows) + "\n".join(lines) + "\n"


def ablation(run: Run) -> str:
    """Return what each variant of a run costs, the dearest first: negative where the part left out is worth its place.

    The two last columns are the languages that lose and win most without it.
    """
    base = summary(run.repositories)
    head = ("without", "NDCG@10", "difference", *(each.name for each in base.categories), "most lost", "most won")
    rows = []
    for variant in sorted(run.variants, key=lambda variant: summary(variant.repositories).all.ndcg_10):
        found = summary(variant.repositories)
        parts = [new.ndcg_10 - old.ndcg_10 for new, old in zip(found.categories, base.categories, strict=True)]
        languages = {
            old.name: new.ndcg_10 - old.ndcg_10 for new, old in zip(found.languages, base.languages, strict=True)
        }
        worst, best = min(languages, key=languages.__getitem__), max(languages, key=languages.__getitem__)
        rows.append(
            (
                named(variant),
                share(found.all.ndcg_10),
                difference(found.all.ndcg_10 - base.all.ndcg_10),
                *map(difference, parts),
                f"{worst} {difference(languages[worst])}" if languages[worst] < -SMALLEST else "",
                f"{best} {difference(languages[best])}" if languages[best] > SMALLEST else "",
            )
        )
    return table(head, [("nothing", share(base.all.ndcg_10), *[""] * (len(head) - 2)), *rows])


def named(variant: Variant) -> str:
    """Return what a variant leaves out."""
    return ", ".join(variant.without)


def _only(repositories: Sequence[Measured], shared: set[tuple[str, str]]) -> list[Measured]:
    found = []
    for each in repositories:
        kept: tuple[Asked, ...] = tuple(one for one in each.questions if (each.name, one.query) in shared)
        if kept:
            found.append(msgspec.structs.replace(each, questions=kept))
    return found


def _cells(change: Change) -> tuple[str, ...]:
    before, after = change.before, change.after
    recall = {each.budget: each.recall for each in before.budgets}
    return (
        share(before.ndcg_10),
        share(after.ndcg_10),
        difference(after.ndcg_10 - before.ndcg_10),
        difference(after.hit_10 - before.hit_10),
        *(difference(each.recall - recall[each.budget]) for each in after.budgets if each.budget in recall),
    )


def _budgets(found: Comparison) -> list[str]:
    """Return the heads for the budgets of both runs."""
    before, after = found.changes[0].before, found.changes[0].after
    there = {each.budget for each in before.budgets}
    return [f"in {each.budget:,} tokens" for each in after.budgets if each.budget in there]


def _gain(one: Move) -> float:
    return one.after - one.before


def _moved(one: Move) -> str:
    return f"{one.before:.2f} -> {one.after:.2f}  {one.repository}: {one.query}"
