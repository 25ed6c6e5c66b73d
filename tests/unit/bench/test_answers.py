"""The text of an answer, taken apart: by what really renders it."""

from __future__ import annotations

import msgspec

from ctxclient.bench.answers import parsed
from ctxclient.bench.datasets import Span
from ctxd.model import Found, Freshness, Hit, Stats
from ctxd.render import text
from ctxd.render.style import Style

HIT = Hit(
    file="src/pool.ts",
    line_start=8,
    line_end=10,
    type="function",
    name="createPool",
    language="typescript",
    qualified_name="createPool",
    definition_line=9,
    exported=True,
    score=0.94,
    summary="",
    signature="",
    via=(),
    parts=(),
)
# Code that looks like rows and like the closing line.
CODE = "src/fake.py  L1-L2  function f\nf — src/fake.py:3\n1 result · 5 tokens\n12  x — src/fake.py:9\n"


def out(*hits: Hit, numbered: bool = False, **stats: object) -> str:
    answer = Found(
        query="q",
        root="/r",
        hits=hits,
        stats=Stats(**{"search_ms": 4.1, "total_ms": 6.0, "tokens": 1589, "files_indexed": 8, **stats}),
        freshness=Freshness(True),
        generation=1,
    )
    return text.found(answer, Style(inline_stubs=True, numbered=numbered))


def hit(file: str, **values: object) -> Hit:
    return msgspec.structs.replace(HIT, **{"file": file, **values})


def test_rows_are_bodies_and_stubs() -> None:
    """Each row has its place, and ends where the next begins."""
    body = hit("src/pool.ts", render="full", code=CODE)
    stub = hit("lib/other.ts", line_end=8)
    why = hit("a b.py", qualified_name="", name="", why="called by createPool", verified=False)

    found = parsed(out(body, stub, why))

    assert [part.place for part in found.parts] == [
        Span("src/pool.ts", 8, 10),
        Span("lib/other.ts", 8, 8),
        Span("a b.py", 8, 10),
    ]
    assert found.tokens == 1589
    ends = [part.end for part in found.parts]
    rows = [found.out[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    assert [row.splitlines()[0].split()[-1] for row in rows[:2]] == ["createPool", "lib/other.ts:8"]
    assert found.out[found.parts[-1].end :].startswith("3 results")
    assert [part.coded for part in found.parts] == [True, False, False]
    assert found.out[: found.parts[0].named] == "src/pool.ts  L8-L10  function createPool\n"


def test_lines_of_code_are_no_rows() -> None:
    """Behind a space or a number nothing poses as a row, nor as the closing line."""
    excerpt = hit("src/pool.ts", render="full", code=CODE, lines=(8, 9, 40, 41))

    for shown in (out(excerpt), out(hit("src/pool.ts", render="full", code=CODE), numbered=True)):
        found = parsed(shown)
        assert [part.place.path for part in found.parts] == ["src/pool.ts"]
        assert found.tokens == 1589


def test_the_rows_of_the_right_files() -> None:
    """By the same rule for paths as the metric."""
    found = parsed(out(hit("a.ts"), hit("src/b.ts"), hit("src/b.ts", line_start=40, line_end=41)))

    assert found.of({"lib/src/b.ts"}) == list(found.parts[1:])
    assert found.of({"c.ts"}) == []


def test_an_answer_without_results_has_no_rows() -> None:
    """Nothing found is said in prose."""
    found = parsed("nothing found for q in 12 files\n")

    assert (found.parts, found.tokens) == ((), 0)
