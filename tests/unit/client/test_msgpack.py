"""The hand-written msgpack against msgspec."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxclient import msgpack
from ctxprotocol import framing
from ctxprotocol.messages import Answer, Failure, Find, Hello, Progress, Status, Welcome

TEXTS = st.text(max_size=40) | st.sampled_from(["x" * n for n in (31, 32, 255, 256, 65_535, 65_536)])
BYTES = st.binary(max_size=40) | st.sampled_from([b"x" * n for n in (255, 256, 65_535, 65_536)])
NUMBERS = st.integers(-(2**63), 2**64 - 1) | st.sampled_from(
    [sign * 2**n + d for sign in (1, -1) for n in (5, 7, 8, 15, 16, 31, 32) for d in (-1, 0, 1)]
)
LISTS = st.lists(st.text(max_size=5), max_size=20).map(tuple)


@given(st.booleans() | NUMBERS | TEXTS | BYTES | LISTS)
def test_values_are_written_as_msgspec_does(value: msgpack.Value) -> None:
    """Every value that a request may hold has msgspec's bytes."""
    assert msgpack.pack(value) == msgspec.msgpack.encode(value)


@pytest.mark.parametrize("size", [15, 16, 65_535, 65_536])
def test_long_lists_are_written_as_msgspec_does(size: int) -> None:
    """A list's header has three forms."""
    assert msgpack.pack(("a",) * size) == msgspec.msgpack.encode(["a"] * size)


@pytest.mark.parametrize(
    "message",
    [
        Hello(protocol=1, version="1.2.3", build=9),
        Status(directory=b"/a", skipped=True),
        Find(directory=b"/a", text="x", paths=("a", "b"), limit=3),
    ],
)
def test_messages_are_written_as_msgspec_does(message: msgspec.Struct) -> None:
    """The map's header follows the fields that a message could have: few (fixmap) or many (map16)."""
    tag = message.__struct_config__.tag
    defaults = {field.name: field.default for field in msgspec.structs.fields(message)}
    fields = [(name, getattr(message, name)) for name in message.__struct_fields__]
    sent = [(name, value) for name, value in fields if value != defaults[name]]

    assert isinstance(tag, str)
    assert msgpack.frame(tag, len(fields), sent) == framing.pack(message)


@given(TEXTS, TEXTS, st.integers(0, 255))
def test_answers_are_read_back(out: str, notes: str, code: int) -> None:
    """Whatever an Answer holds comes out as it went in."""
    read = msgpack.read(framing.pack(Answer(out=out, notes=notes, code=code))[4:])

    assert (read.get(b"out", b""), read.get(b"notes", b"")) == (out.encode(), notes.encode())
    assert (read[b"type"], read.get(b"code", 0)) == (b"answer", code)


@pytest.mark.parametrize(
    "message",
    [
        Welcome(protocol=1, version="0.1.0", build=1_790_000_000_123_456_789, pid=4_000_000),
        Progress(phase="indexing", done=70_000, total=5_000_000_000),
        Failure(error="busy", message="m" * 300, hint="h", code=3),
    ],
)
def test_every_reply_is_read(message: msgspec.Struct) -> None:
    """Every reply that the hot path meets is read as msgspec would."""
    read = msgpack.read(framing.pack(message)[4:])

    for name in message.__struct_fields__:
        value = getattr(message, name)
        assert read[name.encode()] == (value.encode() if isinstance(value, str) else value)


WHOLE = framing.pack(Answer(out="x" * 40, code=1))[4:]


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"\xc0",
        b"\x81",
        b"\x81\x01\x02",
        b"\x81\xa1a\x90",
        WHOLE + b"\x00",
        *(WHOLE[:n] for n in range(1, len(WHOLE))),
    ],
)
def test_anything_else_is_refused(payload: bytes) -> None:
    """What is cut short, too long or of another shape is a ValueError: then the slow path looks."""
    with pytest.raises(ValueError):
        msgpack.read(payload)


@pytest.mark.parametrize("known", [13, 14, 15, 16])
def test_the_header_changes_form_where_msgspec_changes_it(known: int) -> None:
    """With its tag, a message of up to 15 fields has a short header."""
    names = [f"f{n}" for n in range(known)]
    kind = msgspec.defstruct("Kind", [(name, int, 0) for name in names], omit_defaults=True, tag="kind")

    assert msgpack.frame("kind", known, [("f0", 7)]) == framing.pack(kind(f0=7))
