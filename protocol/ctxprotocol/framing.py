"""Frames without I/O: a 4-byte big-endian length and that many bytes of msgpack.

Owned by the connection that uses it, on whichever thread; nothing here waits. Every payload of a peer is
measured before it is decoded, so that no length field makes us allocate more than was really sent.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from ctxprotocol.errors import FrameRefused
from ctxprotocol.messages import AnyReply, AnyRequest, Hello, Stop

# A question with a pasted stack trace and a few thousand globs is far below this.
MAX_REQUEST_BYTES = 1 << 20
# The largest listing (200,000 paths of 80 bytes) just fits.
MAX_REPLY_BYTES = 16 << 20
MAX_NESTING = 64
# Messages of ours hold some thousands of values; measuring this many takes about 20 ms.
MAX_VALUES = 100_000

HEADER_BYTES = 4

T = TypeVar("T")

_ENCODER = msgspec.msgpack.Encoder()
_HELLO = msgspec.msgpack.Decoder(Hello)
_STOP = msgspec.msgpack.Decoder(Stop)
_REQUEST: msgspec.msgpack.Decoder[AnyRequest] = msgspec.msgpack.Decoder(AnyRequest)
_REPLY: msgspec.msgpack.Decoder[AnyReply] = msgspec.msgpack.Decoder(AnyReply)

# Lead bytes 0xc0 to 0xdf: how many bytes of length follow, or how many bytes of value.
_SIZED = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4, 0xC7: 1, 0xC8: 2, 0xC9: 4}
_FIXED = {
    0xC0: 0,
    0xC2: 0,
    0xC3: 0,
    0xCA: 4,
    0xCB: 8,
    0xCC: 1,
    0xCD: 2,
    0xCE: 4,
    0xCF: 8,
    0xD0: 1,
    0xD1: 2,
    0xD2: 4,
    0xD3: 8,
    0xD4: 2,
    0xD5: 3,
    0xD6: 5,
    0xD7: 9,
    0xD8: 17,
}
_CONTAINERS = {0xDC: (2, 1), 0xDD: (4, 1), 0xDE: (2, 2), 0xDF: (4, 2)}
_EXTENSIONS = (0xC7, 0xC8, 0xC9)


def pack(message: msgspec.Struct) -> bytes:
    """Return `message` as one frame, header included. Raises FrameRefused over MAX_REPLY_BYTES."""
    payload = _ENCODER.encode(message)
    if len(payload) > MAX_REPLY_BYTES:
        raise FrameRefused(
            f"a message of {len(payload)} bytes is over the limit of {MAX_REPLY_BYTES}",
            "ask for less: --limit, --path or --lang",
        )
    return len(payload).to_bytes(HEADER_BYTES, "big") + payload


class FrameDecoder:
    """Cuts a stream of bytes into payloads. After FrameRefused the stream has no meaning any more.

    `before_refusal`: the payloads that came whole in the piece that was refused.
    """

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._buffer = bytearray()
        self.before_refusal: list[bytes] = []

    @property
    def pending(self) -> int:
        """How many bytes of an unfinished frame are held."""
        return len(self._buffer)

    def feed(self, data: bytes) -> list[bytes]:
        """Take in `data`, return the payloads now complete; FrameRefused on a length over the limit."""
        self._buffer += data
        payloads: list[bytes] = []
        while len(self._buffer) >= HEADER_BYTES:
            length = int.from_bytes(self._buffer[:HEADER_BYTES], "big")
            if length > self._max_bytes:
                self._buffer.clear()
                self.before_refusal = payloads
                raise FrameRefused(f"a frame of {length} bytes is over the limit of {self._max_bytes}")
            end = HEADER_BYTES + length
            if len(self._buffer) < end:
                break
            payloads.append(bytes(self._buffer[HEADER_BYTES:end]))
            del self._buffer[:end]
        return payloads


def decode_hello(payload: bytes) -> Hello:
    """Decode the first frame of a connection; FrameRefused when it is no Hello."""
    measure(payload)
    return _decode(_HELLO, payload, "hello")


def decode_request(payload: bytes) -> AnyRequest:
    """Decode a request; FrameRefused when it is malformed, nested too deeply or of an unknown kind."""
    measure(payload)
    return _decode(_REQUEST, payload, "request")


def is_stop(payload: bytes) -> bool:
    """Say whether a frame is a Stop: the one request that a daemon takes from a client of any version."""
    try:
        measure(payload)
        _decode(_STOP, payload, "request")
    except FrameRefused:
        return False
    return True


def decode_reply(payload: bytes) -> AnyReply:
    """Decode a reply; FrameRefused means that the daemon is of another version."""
    measure(payload)
    return _decode(_REPLY, payload, "reply")


def _decode(decoder: msgspec.msgpack.Decoder[T], payload: bytes, what: str) -> T:
    try:
        return decoder.decode(payload)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise FrameRefused(f"a {what} cannot be decoded: {error}") from error


def measure(payload: bytes) -> None:
    """Walk `payload` without building anything; FrameRefused unless it is one whole, shallow, small value."""
    left = [1]  # per open container, how many values it still holds
    position = values = 0
    size = len(payload)
    while left:
        if not left[-1]:
            left.pop()
            continue
        left[-1] -= 1
        values += 1
        if position >= size or values > MAX_VALUES:
            raise FrameRefused("a frame is cut short" if position >= size else "a frame holds too many values")
        position, inside = _step(payload, position)
        if inside > size - position:
            raise FrameRefused("a frame is cut short")
        if inside:
            left.append(inside)
            if len(left) > MAX_NESTING + 1:
                raise FrameRefused(f"a frame is nested more than {MAX_NESTING} deep")
    if position != size:
        raise FrameRefused("a frame has the wrong length")


def _step(payload: bytes, position: int) -> tuple[int, int]:
    """Return the position after the value that begins at `position`, and how many values it contains."""
    lead = payload[position]
    position += 1
    if lead < 0x80 or lead >= 0xE0:
        return position, 0
    if lead < 0xA0:
        return position, (lead & 15) * (2 if lead < 0x90 else 1)
    if lead < 0xC0:
        return position + (lead & 31), 0
    if lead in _FIXED:
        return position + _FIXED[lead], 0
    if lead in _CONTAINERS:
        width, each = _CONTAINERS[lead]
        return position + width, int.from_bytes(payload[position : position + width], "big") * each
    if lead in _SIZED:
        width = _SIZED[lead]
        length = int.from_bytes(payload[position : position + width], "big")
        return position + width + length + (1 if lead in _EXTENSIONS else 0), 0
    raise FrameRefused(f"a frame holds the byte 0x{lead:02x}, which msgpack does not use")
