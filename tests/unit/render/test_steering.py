"""The footer of a steered answer: who, for how much, how long."""

from __future__ import annotations

import pytest

from ctxd.model import Stats
from ctxd.render.style import money
from ctxd.render.text import steering


@pytest.mark.parametrize(
    ("usd", "shown"),
    [
        *((0.0, "$0"), (0.000_003, "<$0.00001"), (0.000_123_4, "$0.00012"), (0.0003, "$0.0003")),
        *((0.012, "$0.012"), (0.1, "$0.10"), (1.2, "$1.20"), (12.345, "$12.35")),
    ],
)
def test_money_has_two_digits_that_mean_something(usd: float, shown: str) -> None:
    """However little it is."""
    assert money(usd) == shown


@pytest.mark.parametrize(
    ("stats", "shown"),
    [
        (Stats(), ""),
        (Stats(cost_usd=0.0003, steering_ms=1_240.0), ""),
        (Stats(steered_by="m", cost_usd=0.0003, steering_ms=1_240.0), "steered by m, $0.0003, 1.2 s"),
        (Stats(steered_by="m", cost_usd=None, dropped=3), "steered by m, price unknown, 0.0 s, 3 dropped"),
        (Stats(steered_by="a\x1bb\n"), "steered by a\\x1bb\\n, $0, 0.0 s"),
    ],
)
def test_the_footer_says_who_steered(stats: Stats, shown: str) -> None:
    """Nothing where nobody did; a model's name is data, too."""
    assert steering(stats) == shown
