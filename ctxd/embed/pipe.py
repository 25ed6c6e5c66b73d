"""What the daemon and its embedding process say to each other: frames of a 4-byte big-endian length and msgpack.

The daemon's loop writes one Load, then Texts, one at a time; the child answers each by Loaded, Vectors or Broken.
"""

from __future__ import annotations

import msgspec

from ctxd.embed.model import Digest, Pooling
from ctxd.frames import frame

# A few texts of some hundred characters, or their vectors: more is a broken stream.
MAX_FRAME_BYTES = 8 << 20


class Load(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """First frame: which model to load, after checking that its files are what they should be (`digests`)."""

    onnx: str
    tokenizer: str
    digests: tuple[Digest, ...]
    dimensions: int
    pooling: Pooling
    max_tokens: int
    niceness: int


class Texts(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """Texts to embed, prefixes included."""

    texts: tuple[str, ...]


class Loaded(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """The model is ready."""


class Vectors(msgspec.Struct, frozen=True, array_like=True, tag=3):
    """One vector for each text, in order."""

    vectors: tuple[bytes, ...]


class Broken(msgspec.Struct, frozen=True, array_like=True, tag=4):
    """It cannot be done, and why; the child ends after it."""

    message: str


Reply = Loaded | Vectors | Broken
_encoder = msgspec.msgpack.Encoder()
_requests: msgspec.msgpack.Decoder[Load | Texts] = msgspec.msgpack.Decoder(Load | Texts)
_replies: msgspec.msgpack.Decoder[Reply] = msgspec.msgpack.Decoder(Reply)


def pack(value: Load | Texts | Reply) -> bytes:
    """Return the frame of one message."""
    return frame(_encoder.encode(value))


def decode_request(payload: bytes) -> Load | Texts:
    """Return the message that the daemon sent."""
    return _requests.decode(payload)


def decode_reply(payload: bytes) -> Reply:
    """Return the message that the child sent; raises msgspec.DecodeError."""
    return _replies.decode(payload)
