"""An outline has the head and the lines that matter; the line to show is chosen by the question's words."""

from __future__ import annotations

from ctxd.search.excerpt import Member, outline
from ctxd.search.ranking.line import Sought, pick

LINES = ["class Big:", *(f"    def method_{n}(self):" if n % 3 == 0 else f"        step({n})" for n in range(300))]
MEMBERS = [Member(2 + n, 4 + n, n % 2 == 0, f"method_{n} method {n}") for n in range(0, 300, 3)]


def test_members_that_match_are_shown_with_the_head() -> None:
    """Of a hundred members the asked one is there, in the order of the text, within the room."""
    numbers = outline(LINES, 1, 1, MEMBERS, Sought({"method_150": 2.0}), 120)

    assert numbers[0] == 1
    assert 152 in numbers
    assert list(numbers) == sorted(numbers)
    assert 5 < len(numbers) < 20


def test_no_room_no_outline() -> None:
    """Without room for a head there is none."""
    assert outline(LINES, 1, 1, MEMBERS, Sought({}), 3) == ()


def test_a_long_function_shows_the_lines_that_match() -> None:
    """Without members, lines with the question's words and their neighbours are shown."""
    numbers = outline(LINES, 10, 10, [], Sought({"step(100)": 1.0}), 90)

    assert {10, 111, 110, 112} <= set(numbers)


def test_each_word_of_the_question_has_its_line() -> None:
    """A line with a word that was not shown yet goes before another one with a word that was."""
    lines = ["def f():", *(f"    x{n} = alpha" for n in range(20)), *["    pass"] * 20, "    beta()", *["    pass"] * 9]

    numbers = outline(lines, 1, 1, [], Sought({"alpha": 2.0, "beta": 1.0}), 60)

    assert 42 in numbers and any(2 <= n <= 21 for n in numbers)


def test_lines_of_another_row_are_left_out() -> None:
    """What is in the answer already is not shown again."""
    numbers = outline(LINES, 1, 1, [], Sought({"step(100)": 1.0}), 90, frozenset({1, 102}))

    assert numbers and not {1, 102} & set(numbers)


def test_the_line_with_most_of_the_question_is_shown() -> None:
    """Words count, a literal text beats them, nothing found leaves the given line."""
    lines = ["alpha", "alpha beta", "don't --flag"]

    assert pick(lines, 5, Sought({"alpha": 1.0, "beta": 1.0}), 1) == 6
    assert pick(lines, 5, Sought({"alpha": 1.0, "beta": 1.0}, ("--flag",)), 1) == 7
    assert pick(lines, 5, Sought({"gamma": 1.0}), 1) == 1
