"""Words as they are indexed: what each process remembers of them."""

from __future__ import annotations

from ctxd import words


def test_what_is_remembered_is_bounded() -> None:
    """A daemon that lives for weeks reads names without end; none is expanded wrongly for being forgotten."""
    names = [f"numberOf{number}" for number in range(3 * words._Expansions.LIMIT)]

    expanded = [words.expand(name) for name in names]

    assert expanded[1] == "numberOf1 number of 1"
    assert len(words._expansions) <= words._Expansions.LIMIT
    assert words.expand(names[0]) == expanded[0]
