"""Nothing that a person could not see, or that would move the cursor, comes through; JSON keeps every byte."""

from __future__ import annotations

import json as stdlib
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxd.model import Found, Freshness, Hit, Stats
from ctxd.render import escape, json, text
from ctxd.render.style import Style

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e\u2066 }}} \u2069\U000e0041\U000e0042\r\x85\u2028\ufeff\u200b\x7f"
ANYTHING = st.text(st.characters(exclude_categories=())) | st.text(alphabet=st.sampled_from(HOSTILE + 'a b\t\n"\\:'))
BIDI = frozenset({"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"})


def hidden(shown: str, allowed: str = "") -> list[str]:
    """Characters of `shown` that are controls, turn the reading order, or are tags."""
    return [
        char
        for char in shown
        if char not in allowed
        and (
            unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")
            or unicodedata.bidirectional(char) in BIDI
            or char in "\u061c\u200b\u200e\u200f\ufeff"
            or 0xE0000 <= ord(char) <= 0xE0FFF
        )
    ]


@given(ANYTHING)
def test_escaped_text_hides_nothing(anything: str) -> None:
    """No control, bidirectional or tag character is left, in any form of text."""
    assert not hidden(escape.block(anything), allowed="\t\n")
    assert not hidden(escape.line(anything))
    assert not hidden(escape.path(anything))
    assert not hidden("".join(escape.lines(anything)), allowed="\t")


@given(ANYTHING)
def test_a_path_is_one_word(anything: str) -> None:
    """Unquoted it has neither space nor colon nor quote; quoted it ends at its own quote only."""
    shown = escape.path(anything)

    if not shown.startswith('"'):
        assert shown == anything and not set(shown) & set(' :"\\')
    else:
        assert shown.endswith('"') and '"' not in shown[1:-1].replace("\\\\", "").replace('\\"', "")


@given(st.text(), st.text(min_size=1))
def test_json_keeps_every_character(code: str, name: str) -> None:
    """Code and names come back as they were, in one line of JSON."""
    hit = Hit(file=name, line_start=1, line_end=1, type="function", name=name, language="python", code=code)

    printed = json.found(answer(hit))

    row = stdlib.loads(printed)["results"][0]
    assert (row["code"], row["name"], row["file"]) == (code, name, name)
    assert printed.count("\n") == 1 and printed.endswith("}\n")


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_only_our_own_lines_begin_in_the_first_column(code: str, file: str, name: str, summary: str) -> None:
    """However a file is called and whatever is in it: two results, their lines, a blank line, a footer."""
    hit = Hit(file="a/" + file, line_start=1, line_end=3, type="x", name=name, language="", code=code)
    place = Hit(file="b/" + file, line_start=1, line_end=3, type="x", name=name, language="", summary=summary or "s")

    lines = text.found(answer(hit, place), Style()).split("\n")

    ours = [line for line in lines if line and not line.startswith(" ")]
    assert len(ours) == 3
    assert ours[0].startswith(escape.path("a/" + file) + "  L1-L3  x")
    assert ours[1].startswith(escape.path("b/" + file) + "  L1-L3  x")
    assert ours[2] == "2 results · 4 ms search · fresh"
    assert not hidden("".join(lines), allowed="\t")


@pytest.mark.parametrize(
    ("char", "shown"),
    [
        ("\x1b", "\\x1b"),
        ("\x07", "\\x07"),
        ("\u202e", "\\u202e"),
        ("\U000e0041", "\\U000e0041"),
        ("\r", "\\r"),
        ("\udcff", "\\xff"),
    ],
)
def test_hidden_characters_are_written_out(char: str, shown: str) -> None:
    """As a programmer would write them."""
    assert escape.line(f"a{char}b") == f"a{shown}b"


@pytest.mark.parametrize("kept", ["日本語", "naïve", "👩‍🚀", "می‌خواهم", "→ ✓", "❤️"])
def test_text_that_people_read_stays(kept: str) -> None:
    """Scripts, joiners, an emoji with its look."""
    assert escape.line(kept) == kept


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("src/db/pool.ts", "src/db/pool.ts"),
        ("模块/Bar.cs", "模块/Bar.cs"),
        ("x.py:1-2 charge_card (score 999).py", '"x.py:1-2 charge_card (score 999).py"'),
        ("fake\n2. real.py", '"fake\\n2. real.py"'),
        ('a"b\\c', '"a\\"b\\\\c"'),
        ("", '""'),
    ],
)
def test_paths(path: str, shown: str) -> None:
    """Plain ones as they are, odd ones in quotes."""
    assert escape.path(path) == shown


@pytest.mark.parametrize(
    ("code", "lines"),
    [
        ("a\nb\n", ["a", "b"]),
        ("a\r\nb", ["a", "b"]),
        ("a\rb\r", ["a", "b"]),
        ("", [""]),
        ("\n\n", ["", ""]),
        ("\x85", ["\\x85"]),
    ],
)
def test_lines_are_counted_as_editors_do(code: str, lines: list[str]) -> None:
    """LF, CRLF and CR break; nothing else does."""
    assert escape.lines(code) == lines


def answer(*hits: Hit) -> Found:
    """Some results, answered in 4.1 ms."""
    return Found(
        query="q",
        root="/r",
        hits=hits,
        stats=Stats(search_ms=4.1, total_ms=6.0),
        freshness=Freshness(True),
        generation=42,
    )
