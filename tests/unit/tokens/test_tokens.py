"""The count of tokens against true counts of cl100k_base (cl100k.tsv, made by `python -m tests.ranking.tokens`)."""

from __future__ import annotations

import json
import os
from typing import NamedTuple

import pytest

from ctxd import tokens


class Row(NamedTuple):
    """A text of our own, the language it is in, and how many tokens it really has."""

    true: int
    language: str
    text: str


def rows() -> list[Row]:
    path = os.path.join(os.path.dirname(__file__), "cl100k.tsv")
    with open(path, encoding="utf-8") as file:
        fields = [line.rstrip("\n").split("\t") for line in file]
    return [Row(int(count), language, json.loads(text)) for count, language, text in fields]


ROWS = rows()
# Short texts of rare words; code and answers do better.
TONGUES = {"chinese", "japanese", "korean", "russian", "german", "french", "spanish", "greek", "arabic", "hindi"}
# Names of eight capitals and a framework's prefix in every line.
HARD = {"objectivec"}


def error(row: Row) -> float:
    return tokens.count(row.text) / row.true - 1


@pytest.mark.parametrize("row", [row for row in ROWS if row.language not in TONGUES], ids=lambda row: row.language)
def test_code_documents_and_answers_are_counted_within_a_tenth(row: Row) -> None:
    """Each text of code, configuration, data or an answer is within 10 % of its true count."""
    assert abs(error(row)) <= (0.11 if row.language in HARD else 0.10)


@pytest.mark.parametrize("row", [row for row in ROWS if row.language in TONGUES], ids=lambda row: row.language)
def test_other_tongues_are_counted_within_a_fifth(row: Row) -> None:
    """A sentence in another language than English, in whatever script, is within 20 % of its true count."""
    assert abs(error(row)) <= 0.20


def test_all_texts_together_have_no_bias() -> None:
    """The errors cancel out: all texts together are within 3 % of their true count."""
    assert sum(tokens.count(row.text) for row in ROWS) == pytest.approx(sum(row.true for row in ROWS), rel=0.03)


def test_lines_add_up_to_their_text() -> None:
    """Chunks are cut by the sizes of their lines: these add up to the count of any span, but for blank lines."""
    for row in ROWS:
        lines = row.text.splitlines(keepends=True)
        sizes = tokens.sizes(lines)
        for start in range(0, len(lines), 5):
            span = lines[start : start + 15]
            over = sum(sizes[start : start + 15]) - tokens.count("".join(span))
            assert -1 <= over <= 1 + sum(line.isspace() for line in span), (row.language, start)


def test_a_count_depends_on_the_text_only() -> None:
    """What was counted before, also more pieces than are remembered, changes no count."""
    before = [tokens.count(row.text) for row in ROWS]
    letters = "abcdefghijklmnopqrstuvwxyz"
    tokens.count(" ".join(a + b + c + d for a in letters for b in letters for c in letters for d in "xyz"))

    assert [tokens.count(row.text) for row in reversed(ROWS)] == before[::-1]


@pytest.mark.parametrize(
    ("text", "true"),
    [("", 0), ("x", 1), ("\n", 1), ("    ", 1), ("if", 1), ("1234", 2), ("=" * 80 + "\n", 2), (" " * 200, 3)],
)
def test_small_texts(text: str, true: int) -> None:
    """The smallest texts, and long runs of one character, have exactly their count."""
    assert tokens.count(text) == true


@pytest.mark.parametrize("text", ["a", "A", '{":', "[", "\u4e2d", "\U0001f680", "\u0301", " ", "\\n", "'", "\ud800"])
def test_a_long_run_of_anything_is_never_nearly_free(text: str) -> None:
    """No text of 10,000 repeats is counted as less than one token per 100 characters: a data file is never small."""
    assert tokens.count(text * 10_000) >= 100
