"""A run: every question of every repository asked once, and what came. Runs in the client process.

Results are values that JSON holds; what they mean in sum is said by summary.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from ctxclient.bench import metrics
from ctxclient.bench.answers import Part, Text
from ctxclient.bench.datasets import Labelled, Question, SetInvalid, Span
from ctxclient.bench.machine import Machine
from ctxclient.bench.session import Session

SCHEMA = 1
BUDGETS = (500, 1000, 1200, 2000, 4000)

Report = Callable[[str, int, int], None]


class Compiled(msgspec.Struct, frozen=True):
    """The text answer of `ctx query` within one budget.

    `found`: it has a row of a relevant file; `coded`: one with code. From its beginning, `named` tokens to the end of
    the line that first names a relevant file, `read` to the end of that row with its code; where there is none, all its
    tokens. Both by the daemon's own count, in the proportion in which it counts the whole answer.
    """

    budget: int
    tokens: int
    found: bool
    coded: bool = False
    named: int = 0
    read: int = 0


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """One question and what came of it.

    `rank` is that of the first relevant file, 0 when none is among the first ten; `recall10` the share of the relevant
    files there.
    """

    query: str
    category: str
    ndcg: float
    rank: int
    recall10: float
    search_ms: float
    wanted: tuple[Span, ...]
    results: tuple[Span, ...]
    compiled: tuple[Compiled, ...] = ()


class Measured(msgspec.Struct, frozen=True, kw_only=True):
    """A repository of a run. `exact`: at the commit that the set names; `missing`, `left_out` as in Export."""

    name: str
    language: str
    commit: str = ""
    exact: bool = True
    missing: int = 0
    left_out: int = 0
    files: int = 0
    chunks: int = 0
    changed: int = 0
    index_ms: float = 0.0
    questions: tuple[Asked, ...] = ()


class Unusable(msgspec.Struct, frozen=True):
    """A repository that could not be measured, and why."""

    name: str
    message: str
    hint: str = ""


class Variant(msgspec.Struct, frozen=True):
    """The same questions with parts of the score left out; only what `find` gives."""

    without: tuple[str, ...]
    repositories: tuple[Measured, ...]


class Timed(msgspec.Struct, frozen=True):
    """A question of so many words that was only timed: the daemon's own time for `find`."""

    words: int
    search_ms: float


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """All of a run. `trees` says what was indexed: source folders, whole repositories, a worktree. `outdated`: the
    daemon's code was changed after it had started.
    """

    schema: int = SCHEMA
    machine: Machine
    trees: str
    repositories: tuple[Measured, ...]
    unusable: tuple[Unusable, ...] = ()
    variants: tuple[Variant, ...] = ()
    took_s: float = 0.0
    timed: tuple[Timed, ...] = ()
    outdated: bool = False


def asked(session: Session, root: str, labelled: Labelled, report: Report, budgets: Sequence[int]) -> list[Asked]:
    """Ask every question about the worktree at `root`; `report` hears of the progress."""
    found = []
    for number, question in enumerate(labelled.questions):
        report(labelled.repository.name, number, len(labelled.questions))
        found.append(_asked(session, root, question, budgets))
    return found


def _asked(session: Session, root: str, question: Question, budgets: Sequence[int]) -> Asked:
    answer = session.find(root, question.query, metrics.DEPTH)
    return Asked(
        query=question.query,
        category=question.category,
        ndcg=metrics.ndcg(question, answer.places),
        rank=metrics.first_rank(question.files, answer.places),
        recall10=metrics.recall(question.files, answer.places, metrics.DEPTH),
        search_ms=answer.stats.search_ms,
        wanted=question.targets,
        results=answer.places,
        compiled=tuple(_compiled(session, root, question, budget) for budget in budgets),
    )


def _compiled(session: Session, root: str, question: Question, budget: int) -> Compiled:
    text = session.query(root, question.query, budget)
    rows = text.of(question.files)
    if not rows:
        return Compiled(budget, text.tokens, False, False, text.tokens, text.tokens)
    named, read = _positions(session, text, rows[0])
    return Compiled(budget, text.tokens, True, any(row.coded for row in rows), named, read)


def _positions(session: Session, text: Text, row: Part) -> tuple[int, int]:
    """Return the tokens of a text up to the end of a row's first line, and to the end of the row."""
    *parts, whole = session.tokens(text.out[: row.named], text.out[: row.end], text.out)
    scale = text.tokens / whole if text.tokens and whole else 1.0
    named, read = (max(1, round(part * scale)) for part in parts)
    return named, read


def load(path: str) -> Run:
    """Return an earlier run. Raises SetInvalid."""
    try:
        with open(path, "rb") as file:
            return msgspec.json.decode(file.read(), type=Run)
    except OSError as error:
        raise SetInvalid(f"{path} cannot be read: {error.strerror}", "ctx bench --out FILE writes a run") from None
    except msgspec.DecodeError as error:
        raise SetInvalid(f"{path} is no run of ctx bench: {error}", "ctx bench --out FILE writes one") from None


def save(path: str, run: Run) -> None:
    """Write a run as JSON."""
    with open(path, "wb") as file:
        file.write(msgspec.json.encode(run) + b"\n")
