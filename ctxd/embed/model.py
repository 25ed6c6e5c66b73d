"""What turns text into vectors, whoever does it: a model as a row of facts, and the one interface of all embedders.

Values and pure functions. A vector is `bytes`: one signed byte for each dimension, scaled so that its largest is 127.
Only its direction means anything; two vectors compare by their cosine, and only under the same model.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

Pooling = Literal["mean", "cls", "last"]
Vector = bytes
_MOST = 127


class Digest(msgspec.Struct, frozen=True):
    """A file of a model and the SHA-256 that it must have, in hexadecimal."""

    file: str
    sha256: str


class Model(msgspec.Struct, frozen=True, kw_only=True):
    """One embedding model. `name` tells its vectors from all others: another revision is another name.

    `pooling` says how the vectors of a text's tokens become one, `max_tokens` how many are looked at (longer texts are
    cut). The prefixes go before a question and before a passage. `digests` is empty where the files are not ours to
    know: a directory of the user's, or a provider over the network. `weight` is what its vectors earned beside words
    on the labelled set, `remote` whether texts leave this machine.
    """

    name: str
    dimensions: int
    licence: str
    pooling: Pooling = "mean"
    max_tokens: int = 64
    query_prefix: str = ""
    passage_prefix: str = ""
    digests: tuple[Digest, ...] = ()
    weight: float = 0.0
    remote: bool = False


class EmbedFailed(Exception):
    """No vectors now; says why and, in `hint`, what helps. `final`: asking again is of no use as things are.

    Before `after_s` it is of none either.
    """

    def __init__(self, message: str, hint: str = "", *, final: bool = False, after_s: float = 0.0) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.final = final
        self.after_s = after_s


class Going(msgspec.Struct, frozen=True):
    """Where texts go that leave this process for the network: hosts, what all of it has cost, and what it may cost.

    `cap_usd` is None where it costs nothing; `resting` says why questions get no vectors for a while.
    """

    hosts: tuple[str, ...]
    spent_usd: float
    cap_usd: float | None
    resting: str = ""


class Embedder(Protocol):
    """Turns texts into vectors of one model. Used on the event loop; whoever makes it closes it."""

    @property
    def model(self) -> Model:
        """The model whose vectors these are. Where its dimensions are 0 it is not known before `ready`."""

    @property
    def batch(self) -> int:
        """How many passages it likes at a time: a crash repeats no more."""

    @property
    def paid(self) -> bool:
        """Whether it may cost money."""

    @property
    def going(self) -> Going | None:
        """Where texts go, None where they stay in processes of our own."""

    async def ready(self) -> None:
        """Learn what there is to learn of the model. Raises EmbedFailed."""

    def afford(self, size_bytes: int) -> None:
        """Refuse passages of so many bytes where that would cost more than may be spent. Raises EmbedFailed."""

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        """Return one vector for each text, in order; prefixes are added here. A `query` goes before waiting passages.

        Raises EmbedFailed.
        """

    async def close(self) -> None:
        """End what it holds: a process, connections."""


def quantized(values: Sequence[float]) -> Vector:
    """Return the vector of these numbers; zeros where they say nothing: all zeros, or one that is no number."""
    most = max(map(abs, values), default=0.0)
    if not most or not all(map(math.isfinite, values)):
        return bytes(len(values))
    scale = _MOST / most
    return struct.pack(f"{len(values)}b", *[round(value * scale) for value in values])
