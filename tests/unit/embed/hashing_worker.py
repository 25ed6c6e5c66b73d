"""An embedding process without a model: a text is the sum of its words, and some words mean the same.

Some texts make it fail in the ways that a real one can.
"""

from __future__ import annotations

import hashlib
import os
import random
import time
from collections.abc import Sequence

from ctxd.embed.model import Vector, quantized
from ctxd.embed.pipe import Load
from ctxd.embed.worker import Embed, Unfit, serve

SAME = {"erase": "remove", "wipe": "remove", "teardown": "remove", "salary": "wage", "income": "wage"}


def load(wanted: Load) -> Embed:
    """Return the fake; a model file of the name `unfit` is none."""
    if wanted.onnx.endswith("unfit"):
        raise Unfit("that is no model")

    def one(text: str) -> Vector:
        if "poison" in text:
            os._exit(3)
        if "sleep" in text:
            time.sleep(60)
        if "raise" in text:
            raise ValueError("no such token")
        total = [0.0] * wanted.dimensions
        for word in text.lower().replace(".", " ").split()[: wanted.max_tokens]:
            seed = hashlib.sha256(SAME.get(word, word).encode()).digest()
            parts = random.Random(seed)
            total = [value + parts.gauss(0.0, 1.0) for value in total]
        return quantized(total)

    def embed(texts: Sequence[str]) -> list[Vector]:
        return [one(text) for text in texts]

    return embed


if __name__ == "__main__":
    serve(load)
