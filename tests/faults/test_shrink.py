"""What is left of a failing history is what fails, and nothing else."""

from __future__ import annotations

import pytest

from tests.faults.shrink import shrunk


@pytest.mark.parametrize("needed", [{7}, {0, 39}, {3, 4, 21}, {1, 10, 20, 30, 38}, set(range(40))])
def test_only_the_needed_steps_are_left(needed: set[int]) -> None:
    """Wherever they stand, and however many there are."""
    assert shrunk(tuple(range(40)), lambda steps: needed <= set(steps), 10_000) == tuple(sorted(needed))


def test_it_gives_up_with_what_it_has() -> None:
    """After so many tries; what is returned has failed."""
    seen: list[tuple[int, ...]] = []

    def fails(steps: tuple[int, ...]) -> bool:
        seen.append(steps)
        return {3, 30} <= set(steps)

    left = shrunk(tuple(range(40)), fails, 9)
    assert len(seen) == 9 and {3, 30} <= set(left) and 2 < len(left) < 40
