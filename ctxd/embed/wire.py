"""How vectors are asked for over the network, and what comes back: as Voyage has it, and as OpenAI has it. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ctxd.embed.model import Vector, quantized
from ctxd.remote.failure import RemoteFailed
from ctxprotocol.providers import Target

# Providers take a hundred thousand tokens at a time.
_BYTES = 100_000
_MOST_DIMENSIONS = 16_384


class _Row(msgspec.Struct, frozen=True):
    embedding: list[float]
    index: int = -1


class _Usage(msgspec.Struct, frozen=True):
    total_tokens: int | None = None


class _Reply(msgspec.Struct, frozen=True):
    data: list[_Row]
    usage: _Usage | None = None


def payload(target: Target, texts: Sequence[str], *, query: bool) -> bytes:
    """Return the request for some texts in a provider's wire format."""
    asked: dict[str, object] = {"model": target.model, "input": list(texts)}
    if target.kind == "voyage":
        asked |= {"input_type": "query" if query else "document", "truncation": True}
    else:
        asked |= {"encoding_format": "float"}
    return msgspec.json.encode(asked)


def vectors(body: bytes, count: int, host: str) -> tuple[list[Vector], int | None]:
    """Return the vectors of a reply in the order of the texts, and the tokens that it charges. Raises RemoteFailed."""
    try:
        reply = msgspec.json.decode(body, type=_Reply)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise RemoteFailed("malformed", f"{host} answers something else than vectors") from None
    rows = sorted(reply.data, key=lambda row: row.index)
    if len(rows) != count or [row.index for row in rows] not in ([-1] * count, list(range(count))):
        raise RemoteFailed("malformed", f"{host} answers with {len(rows)} vectors for {count} texts")
    sizes = {len(row.embedding) for row in rows}
    if len(sizes) != 1 or not 0 < min(sizes) <= _MOST_DIMENSIONS:
        raise RemoteFailed("malformed", f"{host} answers with vectors of {sorted(sizes)} dimensions")
    tokens = reply.usage.total_tokens if reply.usage is not None else None
    return [quantized(row.embedding) for row in rows], None if tokens is None else max(0, tokens)


def batches(texts: Sequence[str], most: int) -> Iterator[list[str]]:
    """Cut texts into requests of a size that every provider takes, `most` texts each."""
    batch: list[str] = []
    size = 0
    for text in texts:
        longer = len(text.encode())
        if batch and (len(batch) == most or size + longer > _BYTES):
            yield batch
            batch, size = [], 0
        batch.append(text)
        size += longer
    if batch:
        yield batch
