"""What the daemon and a parse worker say to each other: frames of a 4-byte big-endian length and a msgpack
value.

The daemon's loop writes requests and reads replies, the worker's only thread does the opposite. A worker
answers each path of a request with one reply, in order and as soon as it is finished: the first path
without a reply is the one it was working on.
"""

from __future__ import annotations

import msgspec

from ctxd.frames import frame
from ctxd.model import FileStat, SkipReason

# A 4 MB file becomes its compressed text, its words and its facts: never near this. More is a broken stream.
MAX_FRAME_BYTES = 256 << 20


class ParseSettings(msgspec.Struct, frozen=True):
    """What of the configuration changes the outcome of parsing; part of the cache key.

    Files over `max_file_bytes` are skipped, but code up to `max_code_bytes` is kept as text. `follow_links`
    opens links whose target is inside the root.
    """

    max_file_bytes: int = 1_000_000
    max_code_bytes: int = 4_000_000
    max_chunk_tokens: int = 500
    follow_links: bool = False


class Setup(msgspec.Struct, frozen=True, array_like=True, tag=0):
    """First frame to a worker. `niceness` is added to its own; `memory_bytes` bounds its address space (0 =
    none).

    `alarm_s` of CPU time on one path end the worker, also when nobody is left to end it.
    """

    settings: ParseSettings
    niceness: int
    memory_bytes: int
    alarm_s: float


class Read(msgspec.Struct, frozen=True, array_like=True, tag=1):
    """Read these paths below `root` and keep their bytes as `batch`; answered by one Outcome each, without
    a blob.

    `root` is an absolute path as the kernel's bytes.
    """

    batch: int
    root: bytes
    paths: tuple[str, ...]


class Parse(msgspec.Struct, frozen=True, array_like=True, tag=2):
    """Parse these members of `batch`, in order, then let the batch go. No indices: only let it go.

    Where `notes` has one for an index, no grammar is used: the file becomes chunks of text and carries the
    note.
    """

    batch: int
    indices: tuple[int, ...]
    notes: tuple[str, ...] = ()


class Outcome(msgspec.Struct, frozen=True, array_like=True):
    """What a path is. `gone`: nothing readable is there. `skip`: why it is not indexed. `key`: its name in
    the cache.

    `digest` is empty when the file was not read, `hashed_ns` the wall clock when it was taken. `blob` is an
    encoded ParsedFile and empty in answers to Read.
    """

    stat: FileStat
    digest: bytes = b""
    hashed_ns: int = 0
    key: bytes = b""
    skip: SkipReason = ""
    gone: bool = False
    note: str = ""
    blob: bytes = b""


NO_STAT = FileStat(0, 0, 0, 0)
_encoder = msgspec.msgpack.Encoder()
_requests: msgspec.msgpack.Decoder[Setup | Read | Parse] = msgspec.msgpack.Decoder(Setup | Read | Parse)
_outcomes = msgspec.msgpack.Decoder(Outcome)


def pack(value: Setup | Read | Parse | Outcome) -> bytes:
    """Return the frame of one message."""
    return frame(_encoder.encode(value))


def decode_request(payload: bytes) -> Setup | Read | Parse:
    """Return the message that the daemon sent."""
    return _requests.decode(payload)


def decode_outcome(payload: bytes) -> Outcome:
    """Return the message that a worker sent; raises msgspec.DecodeError."""
    return _outcomes.decode(payload)
