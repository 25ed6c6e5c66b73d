"""What providers cost: USD for a million tokens in and out, their list prices of June 2025. Pure.

Prices change; a provider's own `price_in` and `price_out` in the configuration go before this table. What is on this
machine costs nothing. A model that is in neither has no known price, and that is said, not guessed.
"""

from __future__ import annotations

import msgspec

from ctxprotocol.providers import Target

_MILLION = 1_000_000


class Price(msgspec.Struct, frozen=True):
    """USD for a million tokens that are sent, and for a million that come back."""

    sent: float
    received: float = 0.0

    def of(self, sent_tokens: int, received_tokens: int = 0) -> float:
        """Return USD."""
        return (sent_tokens * self.sent + received_tokens * self.received) / _MILLION


FREE = Price(0.0)
# By wire format and model; a model's dated revisions (`gpt-4.1-mini-2025-04-14`) cost the same.
_TABLE: dict[str, dict[str, Price]] = {
    "voyage": {
        "voyage-code-3": Price(0.18),
        "voyage-3-large": Price(0.18),
        "voyage-3.5": Price(0.06),
        "voyage-3.5-lite": Price(0.02),
        "voyage-code-2": Price(0.12),
    },
    "openai": {
        "text-embedding-3-small": Price(0.02),
        "text-embedding-3-large": Price(0.13),
        "text-embedding-ada-002": Price(0.10),
        "gpt-4.1": Price(2.00, 8.00),
        "gpt-4.1-mini": Price(0.40, 1.60),
        "gpt-4.1-nano": Price(0.10, 0.40),
        "gpt-4o": Price(2.50, 10.00),
        "gpt-4o-mini": Price(0.15, 0.60),
    },
    "gemini": {
        "gemini-2.5-pro": Price(1.25, 10.00),
        "gemini-2.5-flash": Price(0.30, 2.50),
        "gemini-2.5-flash-lite": Price(0.10, 0.40),
        "gemini-2.0-flash": Price(0.10, 0.40),
    },
}
# Whose prices the table has: the same model elsewhere may cost anything.
_HOSTS = {
    "voyage": "api.voyageai.com",
    "openai": "api.openai.com",
    "gemini": "generativelanguage.googleapis.com",
}


def price(target: Target) -> Price | None:
    """Return what a provider's model costs, None where that is not known."""
    if target.price_in >= 0:
        return Price(target.price_in, max(target.price_out, 0.0))
    if target.local:
        return FREE
    if _HOSTS.get(target.kind) != target.host:
        return None
    models = _TABLE[target.kind]
    if target.model in models:
        return models[target.model]
    base, _, revision = target.model.partition("-20")
    return models.get(base) if revision[:2].isdigit() else None
