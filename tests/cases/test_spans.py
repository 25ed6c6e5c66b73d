"""Cases of the kind spans: lines are the file's, and a definition begins with what belongs to it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cases.room import Room, Rows, filled

NUMBERED = {
    "top.py": "\n\n\ndef third(): pass\n",
    "notes.txt": "".join(
        f"marker-{n} says something about line {n}.\n{'' if n % 7 else chr(10)}" for n in range(1, 344)
    ),
    "flat.txt": "".join(f"flat-{n} and no blank line anywhere\n" for n in range(1, 401)),
    "guide.md": "".join(f"## Part {n}\n\nmarked-{n}\n\n" for n in range(1, 90)),
    "long.py": "def long_one():\n" + "".join(f"    step_{n}(value, value, value)\n" for n in range(300)),
    "keys.yaml": "".join(f"key_{n}:\n  value: {n}\n" for n in range(120)),
    "big.json": "{\n" + ",\n".join(f'  "entry-{n}": [{n}]' for n in range(300)) + "\n}\n",
    "crlf.c": "".join(f"/* {n} */\r\nint f_{n}(void) {{ return {n}; }}\r\n" for n in range(120)),
    "cr.py": "\r".join(f"def r_{n}(): pass" for n in range(50)),
    "open.go": "package p\n\n\nfunc Last() {}",
    "blank.py": "\n\n\n",
    "rows.csv": "".join(f"{n},{n},{n}\n" for n in range(500)),
    "plain.unknown": "".join(f"word{n}\n\n" for n in range(200)),
}


def lines_of(text: str) -> list[str]:
    """Cut at LF, CRLF and CR alone, as editors do."""
    return text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")


def test_every_chunk_is_the_lines_that_it_says(room: Room) -> None:
    """B016: file lines start to end equal the chunk's text, for every chunk of every kind of file, without a gap."""
    for path, text in NUMBERED.items():
        room.tree.write(path, text)

    for path, text in NUMBERED.items():
        chunks, lines = room.chunks(path), lines_of(text)
        for chunk in chunks:
            assert lines_of(chunk["code"]) == lines[chunk["line_start"] - 1 : chunk["line_end"]], (path, chunk)
        assert "".join(chunk["code"] for chunk in chunks) == text, path
    assert room.places("third") == [("top.py", 4)]
    assert room.places("Last") == [("open.go", 4)]


@pytest.mark.parametrize(
    ("path", "word"),
    [("notes.txt", "marker-299"), ("flat.txt", "flat-377"), ("guide.md", "marked-77"), ("big.json", "entry-255")],
)
def test_a_word_is_found_in_the_piece_that_holds_its_line(room: Room, path: str, word: str) -> None:
    """B016: what no grammar cuts knows its lines too."""
    room.tree.write(path, NUMBERED[path])
    line = next(n for n, text in enumerate(lines_of(NUMBERED[path]), 1) if word in text)

    [row] = room.find(word, limit=1)

    assert row["file"] == path and row["line_start"] <= line <= row["line_end"]
    assert word in row["code"]


# File, name, first line of the span, line of the definition, words of the comment.
BEGINS = [
    ("a.ts", "// loads a user row\nexport function getUser() {}\n", "getUser", 1, 2, "loads a user row"),
    ("b.ts", "/** opens the ledger */\nexport default class Ledger {}\n", "Ledger", 1, 2, "opens the ledger"),
    ("c.ts", "/* picks a color */\nexport const pick = () => 1\n", "pick", 1, 2, "picks a color"),
    ("d.ts", "// shown at noon\n@Component({})\nexport class Clock {}\n", "Clock", 1, 3, "shown at noon"),
    ("e.js", "// rounds the corner\nexports.round = function () {}\n", "round", 1, 2, "rounds the corner"),
    ("f.py", "# Retries.\n@retry\ndef call(): pass\n", "call", 1, 3, "Retries"),
    ("g.py", "# Two of them.\n@one\n@two(\n    3,\n)\nclass Both: pass\n", "Both", 1, 6, "Two of them"),
    (
        "h.py",
        "class A:\n    # Cached for long.\n    @cached\n    def kept(self): pass\n",
        "A.kept",
        2,
        4,
        "Cached for long",
    ),
    ("i.go", "package p\n\n// Mix blends two paints.\nfunc Mix() {}\n", "Mix", 3, 4, "blends two paints"),
    ("j.rs", "/// Splits the atom.\n#[inline]\npub fn split() {}\n", "split", 1, 3, "Splits the atom"),
    ("k.java", "/** Pays the bill. */\n@Deprecated\npublic class Payer {}\n", "Payer", 1, 3, "Pays the bill"),
    (
        "l.cs",
        "/// <summary>Sorts the mail.</summary>\n[Obsolete]\npublic class Sorter {}\n",
        "Sorter",
        1,
        3,
        "Sorts the mail",
    ),
    ("m.php", "<?php\n/** Bakes the bread. */\n#[Pure]\nfunction bake() {}\n", "bake", 2, 4, "Bakes the bread"),
    ("n.rb", "# Sweeps the floor.\ndef sweep; end\n", "sweep", 1, 2, "Sweeps the floor"),
    ("o.kt", "/** Lights the lamp. */\n@Composable\nfun light() {}\n", "light", 1, 3, "Lights the lamp"),
    ("p.swift", "/// Waters the plant.\n@objc\nfunc water() {}\n", "water", 1, 3, "Waters the plant"),
    ("q.c", "/* Winds the watch. */\nstatic int wind(void) { return 1; }\n", "wind", 1, 2, "Winds the watch"),
    ("r.cpp", "// Tunes the harp.\ntemplate <typename T>\nT tune(T x) { return x; }\n", "tune", 1, 3, "Tunes the harp"),
    ("s.lua", "-- Rings the bell.\nfunction ring() end\n", "ring", 1, 2, "Rings the bell"),
    ("t.sh", "# Feeds the cat.\nfeed() {\n  :\n}\n", "feed", 1, 2, "Feeds the cat"),
]


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rows]:
    with filled(tmp_path_factory.mktemp("spans"), {path: text for path, text, *_ in BEGINS}) as rows:
        yield rows


@pytest.mark.parametrize(("path", "text", "name", "start", "line", "words"), BEGINS, ids=[row[0] for row in BEGINS])
def test_comments_and_decorators_belong_to_what_they_stand_above(
    begun: Rows, path: str, text: str, name: str, start: int, line: int, words: str
) -> None:
    """B017: the span begins there, the definition line is the name's, and the comment's words find it first."""
    [row] = begun.symbols(name)
    found = begun.find(words)[0]

    assert (row["file"], row["line_start"], row["definition_line"]) == (path, start, line)
    # A short class is one piece with its members.
    assert (found["file"], found["name"]) == (path, name.partition(".")[0])
