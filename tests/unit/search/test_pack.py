"""A budget is never exceeded, and not wasted while something fits."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxd import tokens
from ctxd.model import Found, Freshness, Hit, Stats
from ctxd.render import text
from ctxd.render.style import Style
from ctxd.search.pack import BODY_SHARE, CODE_SHARE, MAX_ROWS, STUB_SHARE, Packed, Row, packed


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

    def outline(room: int, without: frozenset[int]) -> Hit | None:
        numbers = tuple(n for n in range(first, first + lines) if n not in without)[: room // 22]
        if not numbers:
            return None
        code = "\n".join(body[n - first] for n in numbers)
        return msgspec.structs.replace(stub, render="outline", code=code, lines=numbers)

    return Row(
        stub, share, 20 * lines, lambda: msgspec.structs.replace(stub, render="full", code="\n".join(body)), outline
    )


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
@example([7, 34, 34, 34, 34, 34, 29, 1], 802)
@example([13, 1, 11, 1, 6], 253)
@given(st.lists(st.integers(1, 120), min_size=1, max_size=MAX_ROWS), st.integers(200, 3000))
def test_not_more_than_a_fifth_is_wasted(sizes: list[int], budget: int) -> None:
    """While a relevant body is left that would fit into what is left, no more than a fifth is left."""
    rows = [row(n, lines, 1.0) for n, lines in enumerate(sizes)]

    made = pack(rows, budget)

    if measure(made.hits, made.omitted) < 0.8 * budget - 16:
        shown = {hit.name for hit in made.hits if hit.render == "full"}
        for body in (one.full() for one in rows if one.stub.name not in shown):
            instead = [*(hit for hit in made.hits if hit.name != body.name), body]
            assert measure(instead, len(rows) - len(instead)) > budget


def test_order_is_rank() -> None:
    """A small body that fits after a large one that does not keeps its place."""
    made = pack([row(0, 15, 1.0), row(1, 200, 0.97), row(2, 5, 0.96)], 800)

    assert [hit.name for hit in made.hits] == ["name_0", "name_1", "name_2"]
    assert [hit.render for hit in made.hits] == ["full", "outline", "full"]


def test_what_is_hardly_relevant_gets_a_line() -> None:
    """Below the share for code a candidate is one line however much room there is, and below another nothing."""
    rows = [row(0, 10, 1.0), row(1, 5, CODE_SHARE - 0.01), row(2, 5, STUB_SHARE - 0.01)]

    made = pack(rows, 6000)

    assert [hit.render for hit in made.hits] == ["full", "stub"]
    assert made.omitted == 0


def test_where_nothing_stands_out_several_files_share_the_budget() -> None:
    """Six places that are each too long to be sent whole get their best lines, the first one more than the others."""
    made = pack([row(n, 60, 1.0 - n / 10) for n in range(6)], 900)

    assert [hit.render for hit in made.hits] == ["outline"] * 6
    sizes = [len(hit.lines) for hit in made.hits]
    assert sizes[0] == max(sizes) and min(sizes) >= 2
    assert 400 < measure(made.hits, made.omitted) <= 900


def test_one_that_stands_out_is_sent_whole() -> None:
    """Alone it may use the budget."""
    assert [hit.render for hit in pack([row(0, 24, 1.0), row(1, 50, 0.2)], 600).hits] == ["full"]


def test_what_is_likely_but_not_the_first_gets_its_best_lines() -> None:
    """A long body of less than the share for bodies is no more than a tenth of the budget."""
    made = pack([row(0, 5, 1.0), row(1, 200, BODY_SHARE - 0.05)], 3000)

    assert [hit.render for hit in made.hits] == ["full", "outline"]
    assert measure(made.hits[1:], 0) - measure([], 0) < 360


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 80), st.integers(1, 60), st.floats(0.4, 1)), max_size=12),
    st.integers(60, 3000),
    st.booleans(),
)
def test_no_line_is_sent_twice(spans: list[tuple[int, int, float]], budget: int, full: bool) -> None:
    """However the places of a file overlap, each of its lines is in the answer once at most."""
    ordered = sorted(spans, key=lambda one: -one[2])
    rows = [row(n, lines, share, "a.py", first) for n, (first, lines, share) in enumerate(ordered)]

    made = pack(rows, budget, full=full)

    shown = [
        n for hit in made.hits if hit.code is not None for n in hit.lines or range(hit.line_start, hit.line_end + 1)
    ]
    assert len(shown) == len(set(shown))


def test_stubs_and_full() -> None:
    """--stubs sends no body, --full no outline."""
    rows = [row(0, 10, 1.0), row(1, 300, 0.9)]  # the second does not fit

    assert {hit.render for hit in pack(rows, 900, stubs=True).hits} == {"stub"}
    assert [hit.render for hit in pack(rows, 900, full=True).hits] == ["full", "stub"]


def test_members_of_a_body_are_not_sent_again() -> None:
    """A class that is sent whole has its members in it."""
    made = pack([row(0, 30, 1.0, "a.py"), row(1, 5, 0.9, "a.py", first=10)], 2000)

    assert [hit.name for hit in made.hits] == ["name_0"]
    assert made.omitted == 0


def test_a_class_yields_to_its_members() -> None:
    """When a member's body is there already, the class around it is no second body."""
    made = pack([row(0, 5, 1.0, "a.py", first=10), row(1, 30, 0.97, "a.py")], 2000)

    assert [hit.render for hit in made.hits] == ["full", "outline"]
    assert not set(made.hits[1].lines) & set(range(10, 15))


def test_the_rest_is_counted() -> None:
    """What was found and not sent is a number."""
    made = pack([row(n, 100, 1.0) for n in range(10)], 300)

    assert made.omitted == 10 - len(made.hits) > 0
