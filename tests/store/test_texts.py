"""Decompressed texts: the right bytes, however much was asked for before, within bounds."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ctxd.packing import pack
from ctxd.store.texts import ENTRY_BYTES, Texts


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 60)), max_size=40))
def test_every_beginning_is_right_whatever_came_before(asked: list[tuple[int, int]]) -> None:
    """Short after long, long after short, all of it, and with texts forgotten in between."""
    bodies = [bytes(range(65, 65 + n)) * 2 for n in range(5)]
    texts = Texts(max_bytes=20 + ENTRY_BYTES)

    for number, until in asked:
        found = texts.take(bytes([number]), pack(bodies[number]), until)
        assert found == (bodies[number][:until] if until else bodies[number])


def test_the_bound_is_kept_and_the_latest_stay() -> None:
    """What was asked for last needs no decompression: a body that is no zlib stream is not looked at."""
    bound = 100 + 3 * ENTRY_BYTES
    texts = Texts(bound)
    for number in range(10):
        texts.take(bytes([number]), pack(b"x" * 30))

    assert texts.take(bytes([9]), b"not looked at") == b"x" * 30
    assert texts._bytes <= bound and set(texts._known) == {bytes([n]) for n in (7, 8, 9)}
