"""A run as text. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ctxclient.bench import chart
from ctxclient.bench.datasets import Span
from ctxclient.bench.differences import Comparison, ablation, compared, comparison
from ctxclient.bench.machine import Machine
from ctxclient.bench.runs import Asked, Measured, Run, Unusable
from ctxclient.bench.summary import Group, Summary, summary
from ctxclient.bench.tables import plural, share, table


class Told(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A run as one JSON object: its figures; with `run` all of it."""

    schema: int
    machine: Machine
    trees: str
    took_s: float
    summary: Summary
    unusable: tuple[Unusable, ...]
    without: tuple[Left, ...] = ()
    comparison: Comparison | None = None
    run: Run | None = None


class Left(msgspec.Struct, frozen=True):
    """The figures of a variant."""

    without: tuple[str, ...]
    all: Group
    categories: tuple[Group, ...]
    languages: tuple[Group, ...]


# A question below it counts as failed.
FAILED = 0.5
SHOWN = 3


def report(run: Run, earlier: Run | None = None, *, verbose: bool = False, failed: bool = False) -> str:
    """Return the tables of a run; `verbose` adds each repository, `failed` the questions that failed."""
    figures = summary(run.repositories, run.timed)
    questions = sum(len(each.questions) for each in run.repositories)
    pieces = [
        f"{plural(len(run.repositories), 'repository', 'repositories')}, {plural(questions, 'question')}, {run.trees};"
        f" {run.took_s:.0f} s, {sum(each.index_ms for each in run.repositories) / 1e3:.0f} s of it indexing\n"
        f"{run.machine.line()}\n"
    ]
    pieces += [_quality(figures, verbose=verbose)] if questions else []
    pieces += [_compiled(figures), chart.text(figures.all)] if figures.all.budgets else []
    pieces += [_speed(figures)] if figures.speed else []
    pieces += [_trees(run.repositories)] if verbose else []
    pieces += [ablation(run)] if run.variants and questions else []
    pieces += [comparison(compared(earlier.repositories, run.repositories))] if earlier else []
    pieces += [_notes(run)] if _notes(run) else []
    pieces += [failures(run.repositories)] if failed else []
    return "\n".join(pieces)


def told(run: Run, earlier: Run | None = None, *, verbose: bool = False) -> str:
    """Return a run as one line of JSON; `verbose` adds every question."""
    variants = []
    for each in run.variants:
        found = summary(each.repositories)
        variants.append(Left(each.without, found.all, found.categories, found.languages))
    value = Told(
        schema=run.schema,
        machine=run.machine,
        trees=run.trees,
        took_s=round(run.took_s, 3),
        summary=summary(run.repositories, run.timed),
        unusable=run.unusable,
        without=tuple(variants),
        comparison=compared(earlier.repositories, run.repositories) if earlier else None,
        run=run if verbose else None,
    )
    return msgspec.json.encode(value).decode() + "\n"


def failures(repositories: Sequence[Measured]) -> str:
    """Return the questions under FAILED: what was wanted, and what came first."""
    pieces: list[str] = []
    for each in repositories:
        worst = sorted((one for one in each.questions if one.ndcg < FAILED), key=lambda one: one.ndcg)
        pieces += [_failure(each.name, one) for one in worst]
    return f"{plural(len(pieces), 'question')} under {FAILED}\n" + "".join(pieces)


def _failure(name: str, one: Asked) -> str:
    lines = [f"{one.ndcg:.2f}  {name} ({one.category}): {one.query}"]
    lines += [f"      wanted  {', '.join(map(place, one.wanted))}"]
    lines += [f"      {rank:>6}  {place(result)}" for rank, result in enumerate(one.results[:SHOWN], 1)]
    lines += [] if one.results else ["      nothing came"]
    return "\n".join(lines) + "\n"


def place(span: Span) -> str:
    """Return a place as people write it."""
    return f"{span.path}:{span.start_line}-{span.end_line}" if span.start_line else span.path


def _quality(figures: Summary, *, verbose: bool) -> str:
    head = ("find", "repositories", "questions", "NDCG@10", "hit@1", "hit@3", "hit@10", "recall@10")
    blocks = [[figures.all], figures.categories, figures.languages]
    blocks += [figures.repositories] if verbose else []
    rows = [_row(each) for block in blocks if len(block) > 1 or block is blocks[0] for each in block]
    return table(head, rows)


def _row(each: Group) -> tuple[str, ...]:
    figures = (each.ndcg_10, each.hit_1, each.hit_3, each.hit_10, each.recall_10)
    return (each.name, str(each.repositories), str(each.questions), *map(share, figures))


def _compiled(figures: Summary) -> str:
    groups = [figures.all, *figures.categories]
    head = ("query, relevant file", *(each.name for each in groups), "its code", "tokens", "until named", "until read")
    rows = [
        (
            f"within {budget.budget:,} tokens",
            *(share(each.budgets[at].recall) for each in groups),
            share(budget.coded),
            *(f"{figure:,.0f}" for figure in (budget.tokens, budget.named, budget.read)),
        )
        for at, budget in enumerate(figures.all.budgets)
    ]
    return table(head, rows)


def _speed(figures: Summary) -> str:
    rows = [(each.words, str(each.questions), f"{each.p50_ms:.1f}", f"{each.p99_ms:.1f}") for each in figures.speed]
    return table(("find in the daemon, words", "questions", "p50 ms", "p99 ms"), rows)


def _trees(repositories: Sequence[Measured]) -> str:
    rows = [
        (each.name, each.language, each.commit[:12], f"{each.files:,}", f"{each.chunks:,}", f"{each.index_ms:,.0f}")
        for each in repositories
    ]
    return table(("repository", "language", "commit", "files", "chunks", "index ms"), rows)


def _notes(run: Run) -> str:
    lines = ["the daemon runs code that was changed since it started: ctx daemon restart\n"] if run.outdated else []
    lines += [f"not measured: {each.message}{f' ({each.hint})' if each.hint else ''}\n" for each in run.unusable]
    for each in run.repositories:
        if not each.exact:
            lines.append(f"{each.name}: at {each.commit[:12]}, which is not the commit of the set\n")
        if each.missing:
            lines.append(f"{each.name}: {plural(each.missing, 'file')} missing from a partial clone\n")
    return "".join(lines)
