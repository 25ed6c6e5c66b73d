"""Cases of the kind text: whatever the bytes, a name is on its line, code is the file's text, all is said."""

from __future__ import annotations

import pytest

from tests.cases.room import Room

# What stands before the definitions, by how many bytes a character takes.
BEFORE = {
    "two bytes": "äöü ß ñ",
    "three bytes": "→ → →",
    "four bytes": "🙂𝔘🙂",
    "combining": "e\u0301 n\u0303",
    "right to left": "שלום عالم",
    "wide": "数据校验",
    "separators": "a\u2028b\u0085c\x0cd\x0be",
}
LANGUAGES = {
    "py": ("# {}\n", "def {}(): pass\n"),
    "js": ("// {}\n", "function {}() {{ }}\n"),
    "rb": ("# {}\n", "def {}; end\n"),
    "rs": ("// {}\n", "fn {}() {{ }}\n"),
    "go": ("package p // {}\n", "func {}() {{ }}\n"),
    "c": ("/* {} */\n", "int {}(void) {{ return 1; }}\n"),
    "java": ("// {}\n", "class {} {{ }}\n"),
    "php": ("<?php // {}\n", "function {}() {{ }}\n"),
}


@pytest.mark.parametrize("before", BEFORE.values(), ids=BEFORE)
def test_offsets_are_of_bytes_in_every_language(room: Room, before: str) -> None:
    """B007: names and lines are not shifted by what stands before them, and code is the file's own lines."""
    for suffix, (comment, definition) in LANGUAGES.items():
        first, second = definition.format(f"toggle_{suffix}"), definition.format(f"is_paused_{suffix}")
        room.tree.write(f"a.{suffix}", comment.format(before) + first + comment.format(before) + second)

    for suffix, (comment, definition) in LANGUAGES.items():
        [row] = room.find(f"is_paused_{suffix}", limit=1)
        last = definition.format(f"is_paused_{suffix}")
        assert room.places(f"toggle_{suffix}") == [(f"a.{suffix}", 2)]
        assert (row["name"], row["definition_line"]) == (f"is_paused_{suffix}", 4)
        assert row["code"] + "\n" in (last, comment.format(before) + last)


def test_a_name_may_be_of_other_letters(room: Room) -> None:
    """B007: the name itself is cut by bytes too."""
    room.tree.write("a.py", "# →\ndef größe(): pass\nclass 数据: pass\n")

    assert (room.places("größe"), room.places("数据")) == ([("a.py", 2)], [("a.py", 3)])


ODD = {
    "latin1.py": ("# façade\ndef old_fn(): pass\n".encode("latin-1"), "old_fn", 2, False),
    "cp1252.py": ("# “quoted” – dash\ndef quoted_fn(): pass\n".encode("cp1252"), "quoted_fn", 2, False),
    "russian.py": ("# Привет, мир, это комментарий\ndef russian_fn(): pass\n".encode("cp1251"), "russian_fn", 2, False),
    "eucjp.rb": ("# encoding: EUC-JP\n# 日本語\ndef euc_fn; end\n".encode("euc_jp"), "euc_fn", 3, False),
    "cut.js": (b"// ok \xc3\xa4\n// \xf0\x9f\x98\nfunction cut_fn() { }\n", "cut_fn", 3, True),
    "stray.go": ("package p // ä ö ü €\n".encode() + b"// \xff\nfunc stray_fn() { }\n", "stray_fn", 3, True),
}


def test_a_file_in_an_old_encoding_keeps_its_symbols_and_stops_nobody(room: Room) -> None:
    """B009: each is found at its line, so is the one beside it; what was replaced is counted and named in status."""
    for path, (data, *_) in ODD.items():
        room.tree.write(path, data)
    room.tree.write("ok.py", "def ok_fn(): pass\n")

    status = room.status()
    listed = {row["file"]: row["reason"] for row in status["results"]}

    assert room.places("ok_fn") == [("ok.py", 1)]
    for path, (_, name, line, replaced) in ODD.items():
        assert room.places(name) == [(path, line)]
        assert ("decoded with replacement" in listed.get(path, "")) == replaced, path
    assert status["decoded_with_replacement"] == 2
    assert "decoded with replacement: 2" in room.ctx("status").stdout


def test_an_edit_that_changes_the_encoding_is_taken_as_it_is(room: Room) -> None:
    """B009: from Latin-1 to UTF-8 and to broken bytes and back, the counter goes along."""
    counts = []
    for data in (
        "# ç\ndef fn(): pass\n".encode("latin-1"),
        "# ç\ndef fn(): pass\n".encode(),
        ODD["cut.js"][0],
        b"x=1\n",
    ):
        room.tree.write("a.js", data)
        counts.append(room.status()["decoded_with_replacement"])

    assert counts == [0, 0, 1, 0]


ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "latin-1", "cp1252", "shift_jis", "euc_kr", "gb18030")
DECLARED = {"latin-1", "cp1252", "shift_jis", "euc_kr", "gb18030"}
TEXTS = {
    "shift_jis": "日本語",
    "euc_kr": "한국어",
    "gb18030": "数据",
    "utf-16": "Größe →",
    "utf-8": "→",
    "utf-8-sig": "→",
}
BREAKS = {"lf": "\n", "crlf": "\r\n", "cr": "\r"}


def test_every_encoding_with_every_line_break(room: Room) -> None:
    """B010: the definition is on its line, and the chunks put together are the text of the file."""
    texts: dict[str, str] = {}
    for encoding in ENCODINGS:
        for name, line_break in BREAKS.items():
            head = f"# -*- coding: {encoding} -*-" if encoding in DECLARED else "# none"
            word = TEXTS.get(encoding, "Größe")
            fn = f"fn_{encoding.replace('-', '_')}_{name}"
            lines = [head, f"# {word}", f"def {fn}():", f'    return "{word}"', ""]
            path = f"{encoding}-{name}.py"
            texts[path] = line_break.join(lines)
            room.tree.write(path, texts[path].encode(encoding))

    for path, text in texts.items():
        fn = f"fn_{path.removesuffix('.py').replace('-', '_')}"
        assert room.places(fn) == [(path, 3)]
        assert "".join(chunk["code"] for chunk in room.chunks(path)) == text
    assert room.skipped() == {}


def test_line_breaks_may_be_mixed(room: Room) -> None:
    """B010: LF, CRLF and CR in one file count one each; form feeds and Unicode separators count none."""
    room.tree.write("a.py", b"a = 1\r\nb = 2\ndef third(): pass\rdef fourth(): pass\n\x0c\ndef sixth(): pass")
    room.tree.write("b.py", 'x = "a\u2028b\u0085c"\ndef second(): pass\n')

    assert [room.places(name)[0][1] for name in ("third", "fourth", "sixth", "second")] == [3, 4, 6, 2]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"def before(): pass\n\0\0\0\ndef after(): pass\n", "binary"),
        ("def wide(): pass\n".encode("utf-32"), "binary"),
        ("def wide(): pass\n".encode("utf-16-le"), "binary"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary"),
        (b"%PDF-1.7\ndef in_pdf(): pass\n", "binary"),
        (bytes(range(1, 32)) * 40, "binary"),
    ],
    ids=["nul", "utf-32", "utf-16 without a mark", "png", "pdf", "controls"],
)
def test_what_is_no_text_is_listed_with_its_reason(room: Room, data: bytes, reason: str) -> None:
    """B010: skipped means said; the file beside it is found."""
    room.tree.write("odd.py", data)
    room.tree.write("ok.py", "def sibling_ok(): pass\n")

    assert room.places("sibling_ok") == [("ok.py", 1)]
    assert room.skipped() == {"odd.py": reason}


SIZES = {
    "typescript": ("ts", "export function {}(a: number): number {{\n{}  return widgetWord;\n}}\n", "  // {}\n"),
    "python": ("py", "def {}():\n{}    return widgetWord\n", "    # {}\n"),
    "c": ("c", "int {}(void)\n{{\n{}    return widgetWord;\n}}\n", "    /* {} */\n"),
}


@pytest.mark.parametrize("language", SIZES)
def test_large_sources_keep_their_symbols_to_the_last(room: Room, language: str) -> None:
    """B011: 300 KB with 900 functions; the bundle beside it, of one line, has no result for a word of both."""
    suffix, definition, comment = SIZES[language]
    filler = comment.format("some words that fill the line of a comment " * 3) * 2
    room.tree.write(f"real.{suffix}", "".join(definition.format(f"fn_{n}", filler) for n in range(900)))
    room.tree.write("app.min.js", "var widgetWord=1;" + "function a(b){return b+widgetWord};" * 30_000)
    room.tree.write("bundle.js", "var widgetWord=1;" + "function a(b){return b+widgetWord};" * 30_000)

    assert room.tree.path(f"real.{suffix}").stat().st_size > 250_000
    assert [file for file, _ in room.places("fn_899")] == [f"real.{suffix}"]
    assert {row["file"] for row in room.find("widgetWord", limit=50)} == {f"real.{suffix}"}
    assert room.skipped() == {"app.min.js": "minified", "bundle.js": "minified"}


def test_each_limit_has_its_reason(room: Room) -> None:
    """B011: code over 1 MB is text and says so, also where its names are missed; over 4 MB it is left out."""
    room.tree.write("mid.py", "def in_mid(): pass\n" * 60_000)
    room.tree.write("huge.py", "def in_huge(): pass\n" * 220_000)
    room.tree.write("data.csv", "a,b,c\n" * 200_000)
    room.tree.write("ok.py", "def beside(): pass\n")

    nothing = room.ctx("symbols", "in_mid")

    assert room.skipped() == {
        "data.csv": "too large",
        "huge.py": "too large",
        "mid.py": "too large to parse: indexed as text (still indexed)",
    }
    assert room.find("in_mid", limit=1)[0]["file"] == "mid.py"
    assert nothing.returncode == 1 and "2 skipped, 1 not parsed: ctx status --skipped" in nothing.stdout
    assert "too large to parse" in room.ctx("outline", "mid.py").stdout
    assert "too large" in room.ctx("outline", "huge.py").stderr
