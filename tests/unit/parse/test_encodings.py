"""Bytes become text by mark, validity, declaration and evidence, and can become the same bytes again."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxd.parse.encodings import Decoded, declared, decode, encode, is_binary

JAPANESE = "日本語のコメントです。設定を読み込む\nカタカナとひらがな\n"
RUSSIAN = "-- Проверка подключения к базе данных\nSELECT 1; -- готово, всё хорошо\n"


@pytest.mark.parametrize(
    ("data", "encoding", "text"),
    [
        (b"plain\n", "utf-8", "plain\n"),
        ("# → ünï\n".encode(), "utf-8", "# → ünï\n"),
        (b"\xef\xbb\xbfdef f(): 1\n", "utf-8-sig", "def f(): 1\n"),
        ("\ufeffclass Wide {}\n".encode("utf-16-le"), "utf-16-le", "class Wide {}\n"),
        ("\ufeffclass Wide {}\n".encode("utf-16-be"), "utf-16-be", "class Wide {}\n"),
        (
            "# -*- coding: latin-1 -*-\n# café\n".encode("latin-1"),
            "iso8859-1",
            "# -*- coding: latin-1 -*-\n# café\n",
        ),
        ("/* Größe */\n".encode("cp1252"), "cp1252", "/* Größe */\n"),
        ("# “quoted” – dash\n".encode("cp1252"), "cp1252", "# “quoted” – dash\n"),
        (
            "# encoding: Shift_JIS\n# 日本語\n".encode("shift_jis"),
            "shift_jis",
            "# encoding: Shift_JIS\n# 日本語\n",
        ),
        (
            b"# coding: iso-2022-jp\n" + "# 日本\n".encode("iso2022_jp"),
            "iso2022_jp",
            "# coding: iso-2022-jp\n# 日本\n",
        ),
        (JAPANESE.encode("cp932"), "cp932", JAPANESE),
        (JAPANESE.encode("euc_jp"), "euc_jp", JAPANESE),
        (RUSSIAN.encode("cp1251"), "cp1251", RUSSIAN),
    ],
)
def test_known_encodings(data: bytes, encoding: str, text: str) -> None:
    """Each encoding is recognised, nothing is replaced, and the bytes come back."""
    decoded = decode(data)

    assert not is_binary(data)
    assert decoded == Decoded(text, encoding, 0)
    assert encode(decoded.text, decoded.encoding) == data


def test_cut_off_sequence_is_one_replacement() -> None:
    """A truncated UTF-8 sequence costs one character; the umlauts around it stay what they are."""
    data = "// Größe\n// ".encode() + b"\xf0\x9f\x98" + "\nfunction größer() {}\n".encode()

    decoded = decode(data)

    assert decoded.text == "// Größe\n// \ufffd\nfunction größer() {}\n"
    assert (decoded.encoding, decoded.replaced) == ("utf-8", 1)


def test_cut_off_sequence_alone() -> None:
    """A cut-off emoji is the only odd thing in an ASCII file: still UTF-8, not mojibake."""
    assert decode(b"// \xf0\x9f\x98\nafter()\n") == Decoded("// \ufffd\nafter()\n", "utf-8", 1)


def test_stray_byte_in_mostly_valid_utf8() -> None:
    """One Latin-1 byte in a file of valid UTF-8 is replaced and counted."""
    decoded = decode("ä ö ü ß →\n".encode() + b"caf\xe9\n")

    assert (decoded.text, decoded.replaced) == ("ä ö ü ß →\ncaf\ufffd\n", 1)


@pytest.mark.parametrize("label", [b"klingon", b"rot13", b"unicode_escape", b"hex", b"ascii", b"utf-8"])
def test_wrong_declarations_fall_back(label: bytes) -> None:
    """A declaration that is unknown, no text encoding, or does not fit the bytes is passed over."""
    assert decode(b"# coding: " + label + b"\n# caf\xe9 noir\n").text.endswith("# café noir\n")


def test_stale_declaration_loses_against_valid_utf8() -> None:
    """A file that says latin-1 and holds UTF-8 is read as UTF-8."""
    assert decode("# coding: latin-1\n# größer\n".encode()).text == "# coding: latin-1\n# größer\n"


def test_undefined_cp1252_byte_is_latin1() -> None:
    """A byte that Windows-1252 leaves undefined still gives a text that can be written back."""
    data = b"a \x81 caf\xe9 \xe8 \xe7 b\n"

    decoded = decode(data)

    assert decoded.replaced == 0
    assert encode(decoded.text, decoded.encoding) == data


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (b"# -*- coding: iso-8859-15 -*-", "iso8859-15"),
        (b"# vim: set fileencoding=cp1252 :", "cp1252"),
        (b"// -*- mode: c; coding: latin-1-unix -*-", "iso8859-1"),
        (b'<?xml version="1.0" encoding="ISO-8859-2"?>', "iso8859-2"),
        (b'@charset "koi8-r";', ""),
        (b'<meta charset="koi8-r">', "koi8-r"),
        (b"encoding = get_encoding()", ""),
    ],
)
def test_declarations(line: bytes, name: str) -> None:
    """The usual ways to name an encoding are read in the first two lines only."""
    assert declared(b"#!/bin/sh\n" + line + b"\n") == name
    assert declared(b"\n\n" + line + b"\n") == ""


@pytest.mark.parametrize(
    "data",
    [
        b"def before(): pass\n" + b"\0" * 3 + b"\ndef after(): pass\n",
        b"a" * 20_000 + b"\0",
        b"%PDF-1.4\nplain so far\n",
        b"\x89PNG\r\n",
        bytes(range(1, 32)) * 10,
        "\ufeffwide\n".encode("utf-32-le"),
        b"\xff\xfea\0b",
    ],
)
def test_binary(data: bytes) -> None:
    """A NUL anywhere, a known format, many control characters or broken UTF-16 make a file binary."""
    assert is_binary(data)


@pytest.mark.parametrize("data", [b"", b"page\x0cbreak\n", b"\x1b[1mbold\x1b[0m log line\n", b"tab\tbell\x07\n"])
def test_not_binary(data: bytes) -> None:
    """Form feeds, escape sequences and a stray bell are text."""
    assert not is_binary(data)


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=300))
def test_every_byte_string_decodes(data: bytes) -> None:
    """Decoding never fails, gives text that UTF-8 can hold, and is reversible when it replaced nothing."""
    decoded = decode(data)

    decoded.text.encode("utf-8")
    assert decoded.replaced == 0 or "\ufffd" in decoded.text
    if decoded.replaced == 0 and decoded.encoding in ("utf-8", "utf-8-sig", "cp1252", "latin-1"):
        assert encode(decoded.text, decoded.encoding) == data


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200), st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be"]))
def test_unicode_round_trip(text: str, encoding: str) -> None:
    """Text written in a Unicode encoding with its mark is read as it was."""
    text = text.encode("utf-8", "replace").decode().lstrip("\ufeff").replace("\x1b", "")

    assert decode(encode(text, encoding)) == Decoded(text, encoding, 0)
