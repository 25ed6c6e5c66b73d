"""Lines end at LF, CRLF and CR only, and their byte offsets are those of the UTF-8 text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxd.parse.lines import source, split


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\n", ["a\n"]),
        ("\n\n", ["\n", "\n"]),
        ("a\r\nb\rc\nd", ["a\r\n", "b\r", "c\n", "d"]),
        ("a\n\rb", ["a\n", "\r", "b"]),
        ("a\x0bb\x0cc\u2028d\x85e\u2029\n", ["a\x0bb\x0cc\u2028d\x85e\u2029\n"]),
    ],
)
def test_line_breaks(text: str, lines: list[str]) -> None:
    """Only the three line breaks of editors and compilers count."""
    assert split(text).text == lines


@given(st.text(alphabet="ab\r\n\x0cé→😀"))
def test_lines_partition_the_text(text: str) -> None:
    """The lines joined are the text, and each byte offset is where that line starts."""
    lines = split(text)

    assert "".join(lines.text) == text
    assert [len("".join(lines.text[:n]).encode()) for n in range(len(lines) + 1)] == lines.byte_starts
    assert lines.join(2, 3) == "".join(lines.text[1:3])


@given(st.text(alphabet="ab\r\né"))
def test_parser_source_keeps_lines_and_offsets(text: str) -> None:
    """What the parser gets has as many LF-ended lines as the text has lines, at the same offsets."""
    data = source(text)

    assert len(data) == len(text.encode())
    assert [len(line) for line in data.splitlines(keepends=True)] == [len(line.encode()) for line in split(text).text]
