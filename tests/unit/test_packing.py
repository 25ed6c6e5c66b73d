"""Stored texts come back as they were, and one that was harmed does not come back."""

from __future__ import annotations

import random
import zlib

import pytest

from ctxd.packing import pack, unpack, unpack_beginning

JAVA = (
    b"/*\n * Licensed under the Apache License, Version 2.0\n */\npackage a;\n\nimport java.util.List;\n\n"
    b"public class A {\n}\n"
)


def test_every_text_comes_back() -> None:
    """Nothing, one byte, code, noise, and what is longer than any window."""
    for text in (b"", b"x", JAVA, random.Random(1).randbytes(100_000), JAVA * 5_000):
        assert unpack(pack(text)) == text


def test_a_beginning_says_whether_it_is_all() -> None:
    """As much as was asked for; 0 asks for all."""
    body = pack(JAVA * 100)

    assert unpack_beginning(body, 10) == (JAVA[:10], False)
    assert unpack_beginning(body, 0) == (JAVA * 100, True)


@pytest.mark.parametrize("harm", [lambda body: body[:-1], lambda body: body[:9] + bytes([body[9] ^ 1]) + body[10:]])
def test_a_damaged_text_is_an_error(harm) -> None:
    """The checksum is over the text, so no other one is returned."""
    with pytest.raises(zlib.error):
        unpack(harm(pack(JAVA)))


def test_a_small_file_takes_less_than_by_itself() -> None:
    """Half, when it is like others of its language."""
    assert len(pack(JAVA)) < 0.5 * len(zlib.compress(JAVA, 6))
