"""Frames from any pieces, and what is refused."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxprotocol import framing
from ctxprotocol.errors import FrameRefused
from ctxprotocol.messages import Answer, Find, Hello, Repos, Stop

HELLO = Hello(protocol=1, version="0.1.0", build=5)
FIND = Find(directory=b"/a", text="x")


@given(st.lists(st.binary(max_size=300), max_size=8), st.data())
def test_any_pieces_give_the_same_payloads(payloads: list[bytes], data: st.DataObject) -> None:
    """B049: however the stream is cut, the payloads come out whole and in order."""
    stream = b"".join(len(payload).to_bytes(4, "big") + payload for payload in payloads)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=10)))
    decoder = framing.FrameDecoder(300)

    found = []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += decoder.feed(stream[start:end])

    assert found == payloads and decoder.pending == 0


def test_a_length_over_the_limit_is_refused_before_its_bytes_come() -> None:
    """B049: four bytes are enough to refuse a frame; nothing of it is kept."""
    decoder = framing.FrameDecoder(100)

    with pytest.raises(FrameRefused, match="101 bytes is over the limit of 100"):
        decoder.feed((101).to_bytes(4, "big"))

    assert decoder.pending == 0


def test_the_limit_itself_is_allowed() -> None:
    """A frame of exactly the limit passes."""
    assert framing.FrameDecoder(100).feed((100).to_bytes(4, "big") + b"x" * 100) == [b"x" * 100]


def test_whole_frames_before_a_refused_one_are_kept() -> None:
    """What came before the bad length in the same piece can still be read."""
    decoder = framing.FrameDecoder(100)

    with pytest.raises(FrameRefused):
        decoder.feed(framing.pack(Stop()) + b"\xff" * 4)

    assert [framing.decode_request(payload) for payload in decoder.before_refusal] == [Stop()]


def test_messages_come_back() -> None:
    """What was packed is decoded as it was."""
    hello, find, answer = framing.FrameDecoder(1000).feed(b"".join(map(framing.pack, (HELLO, FIND, Answer(out="o")))))

    assert framing.decode_hello(hello) == HELLO
    assert framing.decode_request(find) == FIND
    assert framing.decode_reply(answer) == Answer(out="o")


def test_unknown_fields_are_ignored() -> None:
    """A newer peer may send more fields."""
    payload = msgspec.msgpack.encode({"type": "repos", "later": {"deep": [1, 2]}, "output": "json"})

    assert framing.decode_request(payload) == Repos(output="json")


def nested(depth: int) -> bytes:
    return b"\x82\xa4type\xa5repos\xa5later" + b"\x91" * depth + b"\xc0"


WHOLE = framing.pack(FIND)[4:]
REFUSED = {
    "empty": b"",
    "not a map": b"\x93\x01\x02\x03",
    "unknown kind": msgspec.msgpack.encode({"type": "teleport"}),
    "no kind": msgspec.msgpack.encode({"text": "x"}),
    "a field is missing": msgspec.msgpack.encode({"type": "find", "text": "x"}),
    "wrong type": msgspec.msgpack.encode({"type": "find", "directory": b"/", "text": 5}),
    "text is not UTF-8": b"\x83\xa4type\xa4find\xa9directory\xc4\x01/\xa4text\xa1\xff",
    "never used byte": b"\xc1",
    "trailing bytes": WHOLE + b"\xc0",
    "nested 65 deep": nested(64),
    "nested past recursion": nested(100_000),
    "a list longer than its bytes": b"\x83\xa4type\xa4find\xa9directory\xc4\x01/\xa5paths\xdd\xff\xff\xff\xff",
    "a text longer than its bytes": b"\x81\xa4type\xdb\xff\xff\xff\xff",
    "too many values": b"\x82\xa4type\xa5repos\xa5later\xdd\x00\x01\x86\xa0" + b"\xc0" * 100_000,
    **{f"cut at {n}": WHOLE[:n] for n in range(1, len(WHOLE))},
}


@pytest.mark.parametrize("payload", REFUSED.values(), ids=REFUSED)
def test_malformed_requests_are_refused(payload: bytes) -> None:
    """Whatever is wrong with a payload, the one error is FrameRefused, at once."""
    with pytest.raises(FrameRefused):
        framing.decode_request(payload)


def test_nesting_at_the_limit_is_read() -> None:
    """64 containers within each other are still allowed."""
    assert framing.decode_request(nested(63)) == Repos()


@given(st.binary(max_size=60))
def test_random_bytes_never_raise_anything_else(payload: bytes) -> None:
    """B049: garbage is refused or decoded; nothing else happens."""
    for decode in (framing.decode_hello, framing.decode_request, framing.decode_reply):
        try:
            decode(payload)
        except FrameRefused:
            pass


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(VALUES)
def test_every_sound_value_measures_well(value: object) -> None:
    """The walk over a payload agrees with msgspec on what is one whole value."""
    framing.measure(msgspec.msgpack.encode(value))


@pytest.mark.parametrize("code", [0, 255])
def test_extensions_and_dates_measure_well(code: int) -> None:
    """Extension types are stepped over, of every size."""
    for size in (1, 2, 4, 8, 16, 5, 300, 70_000):
        framing.measure(msgspec.msgpack.encode(msgspec.msgpack.Ext(code - 128, b"x" * size)))


def test_a_reply_over_the_limit_is_not_packed() -> None:
    """A reply that no client would take is an error on the sender's side."""
    with pytest.raises(FrameRefused, match="over the limit"):
        framing.pack(Answer(out="x" * (framing.MAX_REPLY_BYTES + 1)))


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (framing.pack(Stop())[4:], True),
        (b"\x82\xa4type\xa4stop\xa4more\x01", True),
        (framing.pack(Repos())[4:], False),
        (framing.pack(Stop())[4:] + b"\xc0", False),
        (b"", False),
    ],
)
def test_a_stop_is_known_whoever_sends_it(payload: bytes, expected: bool) -> None:
    """Also with a field that only a later version has."""
    assert framing.is_stop(payload) is expected
