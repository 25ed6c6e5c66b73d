"""The metric, against values worked out by hand."""

from __future__ import annotations

import math

import pytest

from ctxclient.bench import metrics
from ctxclient.bench.datasets import Question, Span

SECOND, THIRD = 1 / math.log2(3), 1 / 2  # what the ranks 2 and 3 are worth


def question(*relevant: Span | str, secondary: tuple[Span | str, ...] = ()) -> Question:
    spans = [tuple(Span(one) if isinstance(one, str) else one for one in some) for some in (relevant, secondary)]
    return Question("q", "c", *spans)


def results(*paths: str) -> list[Span]:
    return [Span(path, 1, 10) for path in paths]


@pytest.mark.parametrize(
    ("asked", "found", "expected"),
    [
        (question("a.py"), results("a.py"), 1.0),
        (question("a.py"), results("b.py", "a.py"), SECOND),
        (question("a.py"), results("b.py", "c.py", "a.py", "a.py"), THIRD),
        (question("a.py"), results("b.py"), 0.0),
        (question("a.py"), [], 0.0),
        # Ten results count: the tenth is worth 1/log2(11), the eleventh nothing.
        (question("a.py"), results(*"bcdefghij", "a.py"), 1 / math.log2(11)),
        (question("a.py"), results(*"bcdefghijk", "a.py"), 0.0),
        # Two targets, both found: at 1 and 3 of the best 1 and 2.
        (question("a.py", "b.py"), results("a.py", "x", "b.py"), (1 + THIRD) / (1 + SECOND)),
        # Secondary places count like relevant ones, in what is found and in what is best.
        (question("a.py", secondary=("b.py",)), results("a.py"), 1 / (1 + SECOND)),
        (question("a.py", secondary=("b.py",)), results("b.py", "a.py"), 1.0),
        # Two targets on one rank are one rank: two spans of a file, met by one result.
        (question(Span("a.py", 1, 3), Span("a.py", 8, 9)), results("a.py"), 1 / (1 + SECOND)),
        # Twelve targets: the best list has ten ranks.
        (question(*(f"{n}.py" for n in range(12))), results(*(f"{n}.py" for n in range(12))), 1.0),
    ],
)
def test_ndcg(asked: Question, found: list[Span], expected: float) -> None:
    """The sum over distinct ranks of 1 / log2(rank + 1), over that of the best list."""
    assert metrics.ndcg(asked, found) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("target", "result", "expected"),
    [
        (Span("src/a.py"), Span("src/a.py", 1, 2), True),
        (Span("lib/src/a.py"), Span("src/a.py", 1, 2), True),  # the folder that is indexed lies in the repository
        (Span("a.py"), Span("src/a.py", 1, 2), True),
        (Span("src/a.py"), Span("osrc/a.py", 1, 2), False),
        (Span("a.py"), Span("ba.py", 1, 2), False),
        (Span("src/a.py"), Span("src/a.pyi", 1, 2), False),
        (Span("a.py", 10, 20), Span("a.py", 1, 9), False),
        (Span("a.py", 10, 20), Span("a.py", 1, 10), True),
        (Span("a.py", 10, 20), Span("a.py", 20, 40), True),
        (Span("a.py", 10, 20), Span("a.py", 21, 40), False),
        (Span("a.py", 10, 20), Span("a.py", 12, 13), True),
        (Span("a.py", 10, 20), Span("a.py", 1, 99), True),
        (Span("b/a.py", 10, 20), Span("c/a.py", 10, 20), False),
    ],
)
def test_a_result_matches_by_the_end_of_its_path_and_by_lines(target: Span, result: Span, expected: bool) -> None:
    """One path is the other's end, cut at a slash; lines overlap where the target has any."""
    assert metrics.matches(target, result) is expected


def test_files_are_those_that_answer_by_themselves() -> None:
    """Recall is of relevant files; secondary ones stand in only where there are no others."""
    both = question("a.py", Span("a.py", 3, 4), "b.py", secondary=("c.py",))

    assert both.files == {"a.py", "b.py"}
    assert question(secondary=("c.py",)).files == {"c.py"}
    assert metrics.first_rank(both.files, results("c.py", "x/b.py", "a.py")) == 2
    assert metrics.first_rank(both.files, results("c.py")) == 0
    assert [metrics.recall(both.files, results("c.py", "b.py", "a.py"), depth) for depth in (1, 2, 3)] == [0, 0.5, 1]


@pytest.mark.parametrize(
    ("values", "share", "expected"),
    [
        ([], 0.5, 0.0),
        ([7.0], 0.99, 7.0),
        ([4.0, 1.0, 3.0, 2.0], 0.5, 2.0),
        ([float(n) for n in range(1, 101)], 0.99, 99.0),
        ([float(n) for n in range(1, 11)], 0.99, 10.0),
    ],
)
def test_percentiles_are_values_that_occurred(values: list[float], share: float, expected: float) -> None:
    """The smallest value that so many of the values do not exceed."""
    assert metrics.percentile(values, share) == expected


def test_a_place_that_is_named_twice_counts_once() -> None:
    """A list that holds all there is to find is a perfect one."""
    asked = Question("q", "c", (Span("a.py"), Span("a.py")), (Span("a.py"), Span("b.py")))

    assert metrics.ndcg(asked, [Span("a.py", 1, 2), Span("b.py", 1, 2)]) == 1.0
