"""What is known of costs, and what is said not to be."""

from __future__ import annotations

import pytest

from ctxd.remote.prices import FREE, Price, price
from ctxprotocol.providers import Provider, resolved


@pytest.mark.parametrize(
    ("provider", "cost"),
    [
        (Provider(name="voyage"), Price(0.18)),
        (Provider(name="openai"), Price(0.02)),
        (Provider(name="openai", model="text-embedding-3-large"), Price(0.13)),
        (Provider(name="openai", model="text-embedding-9"), None),
        (Provider(name="openai", model="text-embedding-9", price_in=0.5), Price(0.5)),
        (Provider(name="openai", endpoint="https://gateway.example/v1"), None),
        (Provider(name="openai", endpoint="http://127.0.0.1:4000/v1"), FREE),
        (Provider(name="ollama"), FREE),
        (Provider(name="ollama", price_in=0.5), Price(0.5)),
        (Provider(name="ollama", endpoint="https://gpu.example/v1", price_in=0.0), FREE),
    ],
)
def test_a_model_has_the_price_of_its_own_maker_or_the_one_that_was_said(
    provider: Provider, cost: Price | None
) -> None:
    """What runs on this machine is free; the same model elsewhere may cost anything."""
    assert price(resolved(provider, "embed")) == cost


def test_dated_revisions_cost_what_their_model_does() -> None:
    """And nothing else that begins alike."""
    dated = resolved(Provider(name="openai", model="gpt-4.1-mini-2025-04-14"), "llm")
    other = resolved(Provider(name="openai", model="gpt-4.1-mini-audio"), "llm")
    assert price(dated) == Price(0.40, 1.60)
    assert price(other) is None
    assert Price(0.40, 1.60).of(1_000_000, 500_000) == pytest.approx(1.20)
