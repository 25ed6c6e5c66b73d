"""Make a failing history smaller: which of its steps are needed for it to fail."""

from __future__ import annotations

from collections.abc import Callable

# A history takes a second, and who waits for the sheet has waited long enough.
TRIES = 150


def shrunk(steps: tuple[int, ...], fails: Callable[[tuple[int, ...]], bool], tries: int = TRIES) -> tuple[int, ...]:
    """Return a part of `steps`, in their order, that still `fails`, where no single step can be left out.

    The minimizing delta debugging of Zeller and Hildebrandt (2002), by complements alone: first halves are left out,
    then ever smaller parts. After `tries` calls the smallest so far is returned.
    """
    parts = 2
    while len(steps) > 1 and parts <= len(steps):
        size = -(-len(steps) // parts)
        for first in range(0, len(steps), size):
            if not tries:
                return steps
            tries -= 1
            rest = steps[:first] + steps[first + size :]
            if rest and fails(rest):
                steps, parts = rest, max(2, parts - 1)
                break
        else:
            if size == 1:
                break
            parts = min(2 * parts, len(steps))
    return steps
