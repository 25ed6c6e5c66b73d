"""How far vectors are, in words and as JSON."""

from __future__ import annotations

import pytest

from ctxd.render.vectors import line, reply
from ctxd.state import VectorsFilled, VectorTier

MODEL = VectorTier(model="minilm")
FAST = VectorTier(model="minilm", per_s=50.0)
FAR = VectorTier(
    model="m@6",
    remote=True,
    hosts=("a.example", "b.example"),
    spent_usd=0.003,
    cap_usd=2.0,
    trouble="a.example answers 400",
    hint="is the model there?",
)
PART = VectorsFilled(10_000, 2_500, False)


@pytest.mark.parametrize(
    ("tier", "filled", "said"),
    [
        (VectorTier(), None, ""),
        (
            VectorTier(trouble="no model is installed", hint="install one"),
            None,
            "vectors: off (no model is installed); install one",
        ),
        (MODEL, VectorsFilled(10_000, 10_000, True), "vectors: ready (10,000 chunks, minilm)"),
        (MODEL, PART, "vectors: partial, 2,500 of 10,000 chunks (25 %)"),
        (FAST, PART, "vectors: partial, 2,500 of 10,000 chunks (25 %), 50 a second, 2 min left"),
        (
            VectorTier(model="minilm", per_s=50.0, trouble="no room", hint="make some"),
            PART,
            "vectors: partial, 2,500 of 10,000 chunks (25 %); stopped: no room; make some",
        ),
        (
            FAST,
            VectorsFilled(10_000, 2_500, False, "e5"),
            "vectors: partial, 2,500 of 10,000 chunks (25 %) by minilm, in place of those by e5, 50 a second,"
            " 2 min left",
        ),
        (MODEL, VectorsFilled(0, 0, False), "vectors: partial, 0 of 0 chunks (0 %)"),
        (
            FAR,
            PART,
            "vectors: partial, 2,500 of 10,000 chunks (25 %), remote: texts go to a.example or b.example, $0.003 of $2"
            " spent; stopped: a.example answers 400; is the model there?",
        ),
        (
            FAR,
            VectorsFilled(10_000, 10_000, True),
            "vectors: ready (10,000 chunks, m@6, remote: texts go to a.example or b.example, $0.003 of $2 spent);"
            " a.example answers 400; is the model there?",
        ),
    ],
)
def test_a_line_says_how_far_vectors_are(tier: VectorTier, filled: VectorsFilled | None, said: str) -> None:
    """State, progress, rate, time left, and what is in the way."""
    assert line(tier, filled) == said


def test_the_same_as_a_value() -> None:
    """A program reads numbers, null where nothing was measured."""
    assert reply(FAST, PART).left_s == 150.0
    assert (reply(MODEL, PART).state, reply(MODEL, PART).per_s) == ("partial", None)
    assert reply(VectorTier(trouble="x"), None).state == "off"
