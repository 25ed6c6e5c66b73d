"""Whole outputs of an answer: text for a terminal and for a program, JSON."""

from __future__ import annotations

import json as stdlib

import msgspec
import pytest

from ctxd import tokens
from ctxd.model import Found, Freshness, Hit, Stats, View
from ctxd.parse import languages
from ctxd.render import json, text, titles
from ctxd.render.style import Style, count, duration, milliseconds, size, style
from ctxprotocol.errors import RepoUnknown
from ctxprotocol.messages import Chunk, Find, Query

POOL = Hit(
    file="src/db/pool.ts",
    line_start=8,
    line_end=10,
    type="function",
    name="createPool",
    language="typescript",
    qualified_name="createPool",
    definition_line=9,
    exported=True,
    score=0.94,
    summary="Connection pool setup: max 20 connections, idle timeout 30s, retry logic",
    signature="function createPool(cfg: Config): Pool",
    via=("symbol", "lexical"),
    parts=(("symbol", 0.6), ("lexical", 0.34)),
    id="0123456789abcdef",
)
FRESH = Freshness(True)
CODE = "/** Connection pool setup. */\nfunction createPool(cfg) {\n}\n"


def answer(*hits: Hit, freshness: Freshness = FRESH, **stats: object) -> Found:
    """An answer of generation 42 in 4.1 ms."""
    return Found(
        query="pool",
        root="/home/ada/shop",
        hits=hits,
        stats=Stats(**{"search_ms": 4.1, "total_ms": 6.0, "tokens": 589, "files_indexed": 812, **stats}),
        freshness=freshness,
        generation=42,
    )


def full(hit: Hit, code: str = CODE, **values: object) -> Hit:
    """The hit with its code."""
    return msgspec.structs.replace(hit, render="full", code=code, **values)


def test_a_place_and_its_summary() -> None:
    """The shape of the specification."""
    assert text.found(answer(POOL), Style()) == (
        "src/db/pool.ts  L8-L10  function createPool\n"
        "  Connection pool setup: max 20 connections, idle timeout 30s, retry logic\n"
        "\n"
        "1 result · 4 ms search · fresh · 589 tokens\n"
    )


def test_bodies_and_stubs_for_a_program() -> None:
    """A body behind one space, a stub on one line, what was left out as a count."""
    stub = msgspec.structs.replace(POOL, line_start=12, line_end=84, name="drain", qualified_name="Pool.drain")

    printed = text.found(answer(full(POOL), stub, omitted=12), Style(inline_stubs=True))

    assert printed == (
        "src/db/pool.ts  L8-L10  function createPool\n"
        " /** Connection pool setup. */\n"
        " function createPool(cfg) {\n"
        " }\n"
        "Pool.drain — src/db/pool.ts:12-84\n"
        "\n"
        "2 results · 12 left out · 4 ms search · fresh · 589 tokens\n"
    )


def test_a_terminal_gets_rules_and_numbers() -> None:
    """A ruled header as wide as the terminal, right-aligned numbers, air between results."""
    printed = text.found(answer(full(POOL), full(POOL)), Style(width=60, numbered=True))

    one = (
        "── src/db/pool.ts  L8-L10  function createPool ─────────────\n"
        " 8  /** Connection pool setup. */\n"
        " 9  function createPool(cfg) {\n"
        "10  }\n"
    )
    assert printed == f"{one}\n{one}\n2 results · 4 ms search · fresh · 589 tokens\n"
    assert len(one.split("\n")[0]) == 60


def test_an_outline_keeps_the_numbers_of_its_lines() -> None:
    """Lines that are left out show as a jump in the numbers, also to a program."""
    hit = full(POOL, "class Pool {\n  take() {\n}\n", line_end=90, lines=(8, 40, 90), type="class")

    printed = text.row(hit, Style())

    assert printed == "src/db/pool.ts  L8-L90  class createPool\n8   class Pool {\n40    take() {\n90  }\n"


def test_a_run_of_lines_has_one_number() -> None:
    """Lines that follow each other are numbered where the run begins, and keep their indentation."""
    hit = full(POOL, "a\n  b\nc\n\n  d\n", line_end=40, lines=(8, 9, 30, 31, 32), type="class")

    printed = text.row(hit, Style())

    assert printed == "src/db/pool.ts  L8-L40  class createPool\n8   a\n      b\n30  c\n\n      d\n"


def test_colour_only_when_asked_for() -> None:
    """Bold places, a dim footer, nothing else."""
    printed = text.found(answer(POOL), Style(color=True))

    assert printed.startswith("\x1b[1msrc/db/pool.ts  L8-L10\x1b[0m  function createPool\n")
    assert printed.endswith("\n\x1b[2m1 result · 4 ms search · fresh · 589 tokens\x1b[0m\n")
    assert "\x1b" not in text.found(answer(POOL), Style(width=80))


def test_explain_shows_every_part_of_a_score() -> None:
    """In the order in which they were applied, with the retrievers."""
    printed = text.row(POOL, Style(explain=True, inline_stubs=True))

    assert printed == (
        "createPool — src/db/pool.ts:8-10\n  score 0.94 = symbol 0.6, lexical 0.34 · via symbol, lexical\n"
    )


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (Freshness(True), "fresh"),
        (Freshness(False, "indexing", 120), "not fresh: indexing, 120 files pending"),
        (Freshness(False, "file system nfs"), "not fresh: file system nfs"),
        (Freshness(False, "", 1), "not fresh: 1 file pending"),
    ],
)
def test_the_footer_says_how_fresh(state: Freshness, said: str) -> None:
    """And if not, why, and how many files are missing."""
    assert text.footer(answer(POOL, freshness=state), Style()) == f"1 result · 4 ms search · {said} · 589 tokens"


def test_a_hit_that_changed_meanwhile_says_so() -> None:
    """The reader checked the file, and it is another one now."""
    changed = msgspec.structs.replace(POOL, verified=False)

    assert text.row(changed, Style()).startswith(
        "src/db/pool.ts  L8-L10  function createPool  (changed since it was indexed)\n"
    )


def test_a_graph_neighbour_says_why_it_is_there() -> None:
    """On its stub, and under the header of its body."""
    near = msgspec.structs.replace(POOL, why="called by login")

    assert text.row(near, Style(inline_stubs=True)) == "createPool — src/db/pool.ts:8-10 (called by login)\n"
    assert text.row(full(near), Style()).splitlines()[1] == "  called by login"


def test_notes_are_for_stderr() -> None:
    """Warnings and the hint, a line each."""
    found = msgspec.structs.replace(answer(POOL), warnings=("one\x1b[2J",), hint="try --full")

    assert text.notes(found) == "note: one\\x1b[2J\nhint: try --full\n"
    assert text.notes(answer(POOL)) == ""


def test_paths_follow_the_caller() -> None:
    """Up from a sibling directory, down from a parent."""
    assert text.row(POOL, Style(prefix="src/db/")).startswith("pool.ts  L8")
    assert text.row(POOL, Style(prefix="tests/unit/")).startswith("../../src/db/pool.ts  L8")
    assert text.footer(answer(POOL), Style(prefix=None)).startswith("1 result in /home/ada/shop · ")


def test_a_request_decides_how_its_answer_looks() -> None:
    """Stubs of `query` take a line; numbers come with --full, chunk, and terminals."""
    view = View(root="/r", freshness=Freshness(True), started_ns=0, prefix="src/")

    query = style(Query(directory=b"/r", text="x"), view)
    find = style(Find(directory=b"/r", text="x", full=True, explain=True, color=True), view)
    chunk = style(Chunk(directory=b"/r", file=b"x", line=1), view)

    assert query == Style(prefix="src/", inline_stubs=True)
    assert find == Style(prefix="src/", numbered=True, explain=True, color=True)
    assert chunk.numbered and style(Query(directory=b"/r", text="x", width=80), view).numbered


def test_decoration_is_not_paid_for() -> None:
    """To a program the whole answer costs hardly more than the code and the names in it."""
    code = "".join(f"    total_{n} = rows[{n}] + offset\n" for n in range(40))
    bare = tokens.count(code + POOL.file + POOL.name)

    assert tokens.count(text.found(answer(full(POOL, code, line_end=47)), Style())) <= bare + 40


def test_json_has_the_shape_of_the_specification() -> None:
    """Every key, once, in one compact line."""
    printed = json.found(answer(full(POOL), strategies_used=("symbol", "lexical")))

    assert printed == (
        '{"schema":1,"query":"pool","root":"/home/ada/shop","results":[{"file":"src/db/pool.ts","line_start":8,'
        '"line_end":10,"type":"function","name":"createPool","qualified_name":"createPool","parent":"",'
        '"definition_line":9,"exported":true,"uri":"file:src/db/pool.ts#L8-L10","id":"0123456789abcdef",'
        '"language":"typescript","score":0.94,"render":"full",'
        '"summary":"Connection pool setup: max 20 connections, idle timeout 30s, retry logic",'
        '"signature":"function createPool(cfg: Config): Pool",'
        '"code":"/** Connection pool setup. */\\nfunction createPool(cfg) {\\n}\\n","verified":true,'
        '"via":["symbol","lexical"]}],"stats":{"search_ms":4.1,"steering_ms":0,"total_ms":6.0,"tokens":589,'
        '"cost_usd":0,"strategies_used":["symbol","lexical"],"files_indexed":812,"files_pending":0,"omitted":0},'
        '"fresh":true,"generation":42,"warnings":[],"hint":null}\n'
    )


def test_json_of_a_stub_has_no_code_and_explains_when_asked() -> None:
    """`explain` lists features with their values."""
    row = stdlib.loads(json.found(answer(POOL), explain=True))["results"][0]

    assert "code" not in row and row["render"] == "stub"
    assert row["explain"] == [{"feature": "symbol", "value": 0.6}, {"feature": "lexical", "value": 0.34}]


def test_a_stale_answer_in_json_says_why() -> None:
    """The reason and the number of pending files."""
    stale = answer(POOL, freshness=Freshness(False, "indexing", 7), files_pending=7)

    data = stdlib.loads(json.found(stale))

    assert (data["fresh"], data["fresh_reason"], data["stats"]["files_pending"]) == (False, "indexing", 7)


def test_an_error_is_an_object() -> None:
    """Code, message, hint."""
    assert json.error(RepoUnknown("no worktree there")) == (
        '{"schema":1,"error":{"code":"repo_unknown","message":"no worktree there","hint":null}}\n'
    )


@pytest.mark.parametrize(
    ("file", "uri"),
    [
        ("src/pool.py", "file:src/pool.py#L8-L45"),
        ("a b#c?d%.py", "file:a%20b%23c%3Fd%25.py#L8-L45"),
        ("模.py", "file:%E6%A8%A1.py#L8-L45"),
    ],
)
def test_uris_are_percent_encoded_where_needed(file: str, uri: str) -> None:
    """Only what may not stand in a path."""
    assert json.uri(file, 8, 45) == uri


def test_an_identity_depends_on_path_and_text_alone() -> None:
    """Not on where in the file the text stands, nor on how it is rendered."""
    moved = full(msgspec.structs.replace(POOL, id="", line_start=80, line_end=82))
    here = full(msgspec.structs.replace(POOL, id=""))

    ids = {stdlib.loads(json.found(answer(hit)))["results"][0]["id"] for hit in (moved, here)}

    assert ids == {json.identity(POOL.file, CODE)}
    assert json.identity("other.ts", CODE) not in ids and json.identity(POOL.file, CODE + " ") not in ids


def test_a_root_that_is_not_utf8_is_shown() -> None:
    """As escaped bytes, in text and in JSON."""
    odd = msgspec.structs.replace(answer(POOL), root="/home/\udcff")

    assert stdlib.loads(json.found(odd))["root"] == "/home/\\xff"
    assert '"/home/\\\\xff"' in text.footer(odd, Style(prefix=None))


def test_titles_are_those_of_the_table_of_languages() -> None:
    """One list of names in two places stays one list."""
    rows = (*languages.LANGUAGES, languages.TEXT)

    assert {row.name: titles.title(row.name) for row in rows} == {row.name: row.title for row in rows}


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (count(1, "file"), "1 file"),
        (count(1204, "file"), "1,204 files"),
        (count(2, "index"), "2 indexes"),
        (count(0, "repository"), "0 repositories"),
        (milliseconds(0.4), "<1 ms"),
        (milliseconds(1234.5), "1,234 ms"),
        (size(999), "999 B"),
        (size(1_400_000), "1.4 MB"),
        (size(999_960), "1.0 MB"),
        (size(123_000_000_000), "123 GB"),
        (duration(59.9), "59 s"),
        (duration(3_700), "1 h 1 min"),
        (duration(90_000), "1 d 1 h"),
    ],
)
def test_figures(shown: str, expected: str) -> None:
    """Numbers as people write them."""
    assert shown == expected
