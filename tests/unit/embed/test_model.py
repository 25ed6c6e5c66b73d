"""Vectors as bytes."""

from __future__ import annotations

import math

import pytest

from ctxd.embed.model import quantized


def test_the_largest_part_of_a_vector_is_127() -> None:
    """Whatever the length of a vector, its direction is kept as well as bytes can."""
    assert list(quantized([0.5, -0.25, 0.0])) == [127, 256 - 64, 0]
    assert quantized([5.0, -2.5, 0.0]) == quantized([0.5, -0.25, 0.0])


@pytest.mark.parametrize("odd", [math.nan, math.inf, -math.inf])
def test_what_is_no_number_makes_no_direction(odd: float) -> None:
    """A model that fails in its arithmetic gives a vector that is like no other."""
    assert quantized([0.1, odd, 0.3]) == bytes(3)
    assert quantized([0.0, 0.0]) == bytes(2)
