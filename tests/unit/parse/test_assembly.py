"""From bytes to facts: encodings, masks, limits and faults together."""

from __future__ import annotations

import pytest

from ctxd import words
from ctxd.model import ParsedFile
from ctxd.packing import unpack
from ctxd.parse import assembly
from ctxd.parse.encodings import encode
from ctxd.parse.languages import detect, named
from ctxd.parse.pipe import ParseSettings

SECRET = "AKIA" + "QX7ZP2MW" + "L4KD6TRN"


def parse(path: str, data: bytes, settings: ParseSettings | None = None) -> ParsedFile:
    """Return the facts of a file of this name."""
    return assembly.parse(data, detect(path, data[:400]), settings or ParseSettings())


def text_of(parsed: ParsedFile) -> str:
    """Return the stored text."""
    return unpack(parsed.text).decode()


def assembled(parsed: ParsedFile) -> bytes:
    """Put the file together again from its chunks."""
    stored = unpack(parsed.text)
    return encode(b"".join(stored[c.byte_start : c.byte_end] for c in parsed.chunks).decode(), parsed.encoding)


@pytest.mark.parametrize(
    ("path", "data", "name", "line_start", "encoding"),
    [
        ("latin.py", "# coding: latin-1\n# é\ndef fn():\n    return 'naïve'\n".encode("latin-1"), "fn", 3, "iso8859-1"),
        ("nodecl.c", "/* Größe */\nint fn(void) { return 0; }\n".encode("cp1252"), "fn", 2, "cp1252"),
        ("wide.ts", "\ufeffclass fn { m() { } }\n".encode("utf-16-le"), "fn", 1, "utf-16-le"),
        ("bom.py", b"\xef\xbb\xbfdef fn():\n    return 1\n", "fn", 1, "utf-8-sig"),
        ("crlf.py", b"x = 1\r\n\r\ndef fn():\r\n    return 1\r\n", "fn", 3, "utf-8"),
        ("cr.py", b"x = 1\r\rdef fn():\r    return 1\r", "fn", 3, "utf-8"),
        ("feed.py", b"x = 1\n\x0c\ndef fn():\n    return '\x0b\xe2\x80\xa8'\n", "fn", 3, "utf-8"),
    ],
)  # fmt: skip
def test_encodings_and_line_breaks(path: str, data: bytes, name: str, line_start: int, encoding: str) -> None:
    """B010: whatever the encoding and the line breaks, the definition is on its line and the file can be rebuilt."""
    parsed = parse(path, data)

    found = {symbol.name: symbol for symbol in parsed.symbols}[name]
    assert found.definition_line == line_start
    assert (parsed.encoding, parsed.replaced) == (encoding, 0)
    assert assembled(parsed) == data


def test_cut_off_sequence_costs_one_character() -> None:
    """B010: what follows a cut-off sequence is parsed; the replacement is counted."""
    parsed = parse("trunc.js", b"function before() { return 1 }\n// \xf0\x9f\x98\nfunction after() { return 2 }\n")

    assert [(symbol.name, symbol.line_start) for symbol in parsed.symbols][-1][0] == "after"
    assert (parsed.replaced, parsed.line_count) == (1, 3)


def test_no_secret_is_left_anywhere() -> None:
    """A token in a default argument, a constant and a comment is in no part of the encoded facts."""
    code = f'KEY = "{SECRET}"\n\n\ndef connect(key="{SECRET}"):\n    """Use {SECRET}."""\n    # {SECRET}\n'

    parsed = parse("a.py", code.encode())

    assert SECRET not in repr(parsed) and SECRET.lower() not in repr(parsed).lower()
    assert text_of(parsed) == code.replace(SECRET, "*" * len(SECRET))
    assert [symbol.name for symbol in parsed.symbols] == ["KEY", "connect"]


def test_words_belong_to_their_chunks() -> None:
    """Each chunk's words are those of its own lines, compound names with their parts."""
    parsed = parse("a.py", b"import os\n\ndef getUserById():\n    return os.sep\n")

    lines = text_of(parsed).splitlines(keepends=True)
    assert list(parsed.words) == [
        words.expand("".join(lines[chunk.line_start - 1 : chunk.line_end])) for chunk in parsed.chunks
    ]
    assert "getUserById get user by id" in parsed.words[1]


def test_code_over_the_limit_is_text() -> None:
    """Code between the two limits is kept without symbols, and says so."""
    parsed = parse("a.py", b"def fn(): pass\n" * 100, ParseSettings(max_file_bytes=1000))

    assert (parsed.symbols, parsed.language) == ((), "python")
    assert parsed.note == "too large to parse: indexed as text"
    assert parsed.chunks[-1].line_end == 100


def test_a_fault_of_extraction_costs_structure_only(monkeypatch, capsys) -> None:
    """An error in a language's extraction leaves the text searchable, names itself, and is in the log."""

    def fail(*_: object) -> None:
        raise IndexError("list index out of range")

    monkeypatch.setattr(assembly, "extract", fail)

    parsed = assembly.parse(b"def fn(): pass\n", named("python"), ParseSettings())

    assert parsed.note == "not parsed: IndexError"
    assert [chunk.kind for chunk in parsed.chunks] == ["text"]
    assert "list index out of range" in capsys.readouterr().err


def test_same_bytes_same_facts() -> None:
    """Parsing is a function of the bytes: two runs give equal facts."""
    data = b"import os\nclass A:\n    def f(self):\n        return os.sep\n" * 50

    assert parse("a.py", data) == parse("b.py", data)
