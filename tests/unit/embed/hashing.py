"""An embedder without a model or a process: a text is the sum of its words, and some words mean the same."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Sequence

from ctxd.embed.model import EmbedFailed, Model, Vector, quantized

MODEL = Model(name="hashing", dimensions=384, licence="none", weight=1.0)
SAME = {"erase": "remove", "wipe": "remove", "salary": "wage", "income": "wage"}


def vector(text: str) -> Vector:
    """Return the vector of a text."""
    total = [0.0] * MODEL.dimensions
    for word in text.lower().replace(".", " ").split():
        parts = random.Random(hashlib.sha256(SAME.get(word, word).encode()).digest())
        total = [value + parts.gauss(0.0, 1.0) for value in total]
    return quantized(total)


class Hashing:
    """The embedder. `asked` are the passages it was given; it fails while `failing` is set, and always at `poison`.

    After `most` passages it answers no more.
    """

    def __init__(self, model: Model = MODEL) -> None:
        self.model = model
        self.asked: list[str] = []
        self.questions: list[str] = []
        self.failing: EmbedFailed | None = None
        self.closed = False
        self.most = 1_000_000
        self.paid = False
        self.most_bytes = 1_000_000
        self.estimates: list[int] = []

    batch = 8
    going = None

    async def ready(self) -> None:
        """Nothing is to be learnt."""

    def afford(self, size_bytes: int) -> None:
        """Refuse what is more than may be embedded."""
        self.estimates.append(size_bytes)
        if size_bytes > self.most_bytes:
            raise EmbedFailed("that costs too much", final=True)

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        """Return one vector for each text."""
        if self.failing is not None:
            raise self.failing
        if any("poison" in text for text in texts):
            raise EmbedFailed("the process ended")
        if len(self.asked) >= self.most:
            await asyncio.Event().wait()
        (self.questions if query else self.asked).extend(texts)
        return [vector(text) for text in texts]

    async def close(self) -> None:
        """Take note."""
        self.closed = True
