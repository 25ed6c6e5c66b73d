"""A long run in parts: together they are the whole."""

from __future__ import annotations

import random
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from tests.faults import failures
from tests.faults.__main__ import span
from tests.faults.lab import SIZES


@pytest.mark.parametrize("name", sorted(SIZES))
def test_parts_are_the_whole(name: str) -> None:
    """Each number is in one part, and a part is of the size that it is a part of."""

    def drawn(numbers: tuple[int, int]) -> list[int]:
        size = replace(SIZES[name], numbers=numbers)
        assert size.name == name
        lab: Any = SimpleNamespace(random=random.Random(7))
        return failures.numbers(lab, size, *failures.NUMBERS[name])

    whole = drawn(SIZES[name].numbers)

    assert len(whole) == failures.NUMBERS[name][0]
    assert drawn(span("1-15")) + drawn(span("16-1000")) == whole
