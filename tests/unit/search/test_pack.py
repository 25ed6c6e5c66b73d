"""A budget is never exceeded, and not wasted while something fits."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxd import tokens
from ctxd.model import Found, Freshness, Hit, Stats
from ctxd.render import text
from ctxd.render.style import Style
from ctxd.search.pack import BODY_SHARE, MAX_ROWS, Packed, Row, packed


def measure(hits: Sequence[Hit], omitted: int) -> int:
    found = Found(
        query="q",
        root="/r",
        hits=tuple(hits),
        stats=Stats(omitted=omitted, tokens=8888),
        freshness=Freshness(fresh=True),
        generation=1,
    )
    return tokens.count(text.found(found, Style(inline_stubs=True)))


def row(place: int, lines: int, share: float, file: str = "", first: int = 1) -> Row:
    body = [f"    value_{n} = compute(value_{n - 1}, {n})" for n in range(lines)]
    stub = Hit(
        file=file or f"src/module_{place}.py",
        line_start=first,
        line_end=first + lines - 1,
        type="function",
        name=f"name_{place}",
        language="python",
    )

    def outline(room: int) -> Hit | None:
        count = room // 20
        if count < 1:
            return None
        code = "\n".join(body[:count])
        return msgspec.structs.replace(stub, render="outline", code=code, lines=tuple(range(first, first + count)))

    return Row(stub, share, lambda: msgspec.structs.replace(stub, render="full", code="\n".join(body)), outline)


def pack(rows: list[Row], budget: int, *, stubs: bool = False, full: bool = False) -> Packed:
    return packed(rows, budget, measure, stubs=stubs, full=full)


rows_strategy = st.lists(st.tuples(st.integers(1, 120), st.floats(0, 1)), max_size=20)


@settings(max_examples=150, deadline=None)
@given(rows_strategy, st.integers(60, 3000), st.booleans(), st.booleans())
def test_never_over_budget(sizes: list[tuple[int, float]], budget: int, stubs: bool, full: bool) -> None:
    """Whatever is found, the rendered answer fits."""
    rows = [row(n, lines, share) for n, (lines, share) in enumerate(sorted(sizes, key=lambda one: -one[1]))]

    made = pack(rows, budget, stubs=stubs, full=full)

    assert measure(made.hits, made.omitted) <= budget or not made.hits
    assert len(made.hits) + made.omitted <= len(rows)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(1, 120), min_size=1, max_size=MAX_ROWS), st.integers(200, 3000))
def test_not_more_than_a_fifth_is_wasted(sizes: list[int], budget: int) -> None:
    """While a relevant body is left that would fit into what is left, no more than a fifth is left."""
    rows = [row(n, lines, 1.0) for n, lines in enumerate(sizes)]

    made = pack(rows, budget)

    spent = measure(made.hits, made.omitted)
    if spent < 0.8 * budget:
        shown = {hit.name for hit in made.hits if hit.render == "full"}
        left = [one.full() for one in rows if one.stub.name not in shown]
        assert all(measure([hit], 0) - measure([], 0) > budget - spent for hit in left)


def test_order_is_rank() -> None:
    """A small body that fits after a large one that does not keeps its place."""
    made = pack([row(0, 30, 1.0), row(1, 200, 0.9), row(2, 5, 0.8)], 600)

    assert [hit.name for hit in made.hits] == ["name_0", "name_1", "name_2"]
    assert [hit.render for hit in made.hits] == ["full", "outline", "full"]


def test_what_is_hardly_relevant_gets_a_line() -> None:
    """Below the share for bodies a candidate is one line, unless the answer would be thin."""
    rows = [row(0, 40, 1.0), row(1, 5, BODY_SHARE - 0.1)]

    assert [hit.render for hit in pack(rows, 1000).hits] == ["full", "stub"]
    assert [hit.render for hit in pack(rows, 6000).hits] == ["full", "full"]
    assert [hit.render for hit in packed(rows, 6000, measure, stubs=False, full=False, fill=False).hits] == [
        "full",
        "stub",
    ]


def test_stubs_and_full() -> None:
    """--stubs sends no body, --full no outline."""
    rows = [row(0, 10, 1.0), row(1, 300, 0.9)]

    assert {hit.render for hit in pack(rows, 900, stubs=True).hits} == {"stub"}
    assert [hit.render for hit in pack(rows, 900, full=True).hits] == ["full", "stub"]


def test_members_of_a_body_are_not_sent_again() -> None:
    """A class that is sent whole has its members in it."""
    made = pack([row(0, 30, 1.0, "a.py"), row(1, 5, 0.9, "a.py", first=10)], 2000)

    assert [hit.name for hit in made.hits] == ["name_0"]
    assert made.omitted == 0


def test_a_class_yields_to_its_members() -> None:
    """When a member's body is there already, the class around it is no second body."""
    made = pack([row(0, 5, 1.0, "a.py", first=10), row(1, 30, 0.9, "a.py")], 2000)

    assert [hit.render for hit in made.hits] == ["full", "outline"]


def test_the_rest_is_counted() -> None:
    """What was found and not sent is a number."""
    made = pack([row(n, 100, 1.0) for n in range(10)], 300)

    assert made.omitted == 10 - len(made.hits) > 0
