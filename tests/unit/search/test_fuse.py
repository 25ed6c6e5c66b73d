"""Places in a ranking have a worth, and equal scores are settled by path and line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxd.search.ranking.fuse import ordered, reciprocal


def test_reciprocal_falls_slowly() -> None:
    """The tenth place is still worth something."""
    assert reciprocal(0) == 1.0
    assert 0.8 < reciprocal(9) < 0.9


@given(st.permutations([("a.py", 1, 2), ("a.py", 3, 4), ("b.py", 1, 2)]))
def test_ties_do_not_depend_on_the_order_they_come_in(items: list[tuple[str, int, int]]) -> None:
    """Equal scores, also those that differ by rounding alone, go by path and line."""
    found = ordered(items, lambda item: 0.1 + 0.2 if item[0] == "b.py" else 0.3, lambda item: item)

    assert found == [("a.py", 1, 2), ("a.py", 3, 4), ("b.py", 1, 2)]
