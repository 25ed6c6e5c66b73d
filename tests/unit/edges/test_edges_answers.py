"""What `ctx callers`, `callees` and `deps` print: whole answers, filters, names in every notation, nothing found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxd.search.edges.resolution.chain import Part, parse
from ctxd.search.listing import targets
from ctxd.search.listing.targets import Asked
from ctxprotocol.errors import FileNotIndexed, UsageFailed
from tests.unit.edges.world import World, opened, world

here = opened(
    {
        "src/pool.py": """
import os

from .wire import dial
from . import ring


class Pool:
    def take(self):
        return dial()

    def get(self):
        return ring.turn(os.getpid())


class Other:
    def get(self):
        return None
""",
        "src/wire.py": """
from .pool import Pool


def dial():
    return Pool


def lonely_function():
    pass
""",
        "src/ring.py": """
from . import wire


def turn(n):
    return wire.dial()
""",
        "tests/test_pool.py": """
from src.pool import Pool


def test_take(thing):
    assert Pool().take()
    thing.take()
    thing.get()
""",
    }
)


def test_callers_are_grouped_by_file_surest_first_source_before_tests(here: World) -> None:
    """The definition, its references with their lines, what is ambiguous, and the sum of it."""
    assert here.printed("callers", "Pool.take") == (
        "src/pool.py  L8-L9  method Pool.take\n"
        "\n"
        "tests/test_pool.py\n"
        "  5  test_take  assert Pool().take()  · receiver type\n"
        "\n"
        "ambiguous\n"
        "tests/test_pool.py\n"
        "  6  test_take  thing.take()  · receiver not known: 1 candidate\n"
        "\n"
        "1 sure · 1 ambiguous · 0 unresolved · N ms search · fresh\n"
        "exit 0\n"
    )


def test_a_common_name_is_never_linked_by_name_alone(here: World) -> None:
    """`thing.get()` may be anybody's: it is counted as unresolved, not shown as a caller of one of them."""
    assert here.printed("callers", "get") == (
        "src/pool.py  L11-L12  method Pool.get\n"
        "src/pool.py  L16-L17  method Other.get\n"
        "\n"
        "unresolved\n"
        "tests/test_pool.py\n"
        "  7  test_take  thing.get()  · common name\n"
        "\n"
        "0 sure · 0 ambiguous · 1 unresolved · N ms search · fresh\n"
        "exit 0\n"
    )


def test_a_definition_that_nothing_refers_to_says_so(here: World) -> None:
    """Not `no callers`: no reference of that name is in the index. Exit code 1."""
    assert here.printed("callers", "lonely_function") == (
        "src/wire.py  L8-L9  function lonely_function\n"
        "\n"
        "no reference of this name is in the index\n"
        "0 sure · 0 ambiguous · 0 unresolved · N ms search · fresh\n"
        "exit 1\n"
    )


def test_a_name_that_is_nowhere_is_answered_with_the_nearest(here: World) -> None:
    """As everywhere else."""
    printed = here.printed("callers", "lonely_functoin")

    assert printed.startswith('nothing found for "lonely_functoin"')
    assert "nearest names: lonely_function (src/wire.py:8)" in printed
    assert printed.endswith("exit 1\n")


def test_a_name_of_another_program_has_its_references(here: World) -> None:
    """It is not defined here, and where it leads is said."""
    assert here.printed("callers", "getpid") == (
        "getpid is not defined here\n"
        "\n"
        "unresolved\n"
        "src/pool.py\n"
        "  12  Pool.get  return ring.turn(os.getpid())  · outside: os\n"
        "\n"
        "0 sure · 0 ambiguous · 1 unresolved · N ms search · fresh\n"
        "exit 0\n"
    )


def test_callees_say_where_each_of_them_is(here: World) -> None:
    """By line; what leads outside comes last."""
    assert here.printed("callees", "Pool.get", prefix="src/") == (
        "pool.py  L11-L12  method Pool.get\n"
        "\n"
        "  12  ring.turn → ring.py:4 function turn  · imported\n"
        "\n"
        "unresolved\n"
        "  12  os.getpid  · outside: os\n"
        "\n"
        "1 sure · 0 ambiguous · 1 unresolved · N ms search · fresh\n"
        "exit 0\n"
    )


def test_deps_follow_imports_and_end_in_circles(here: World) -> None:
    """pool imports wire, wire imports pool: it is named, and not opened again."""
    assert here.printed("deps", "src/pool.py", depth=3) == (
        "src/pool.py imports\n"
        "  1  os → outside\n"
        "  3  .wire (dial) → src/wire.py\n"
        "    1  .pool (Pool) → src/pool.py  · as above\n"
        "  4  . (ring) → src/ring.py\n"
        "    1  . (wire) → src/wire.py  · as above\n"
        "\n"
        "4 imports inside · 1 outside · N ms search · fresh\n"
        "exit 0\n"
    )


def test_deps_in_reverse_are_the_importers(here: World) -> None:
    """One step, and what imports those."""
    assert here.printed("deps", "src/ring.py", reverse=True, depth=2) == (
        "src/ring.py is imported by\n"
        "  src/pool.py:4  . (ring)\n"
        "    src/wire.py:1  .pool (Pool)\n"
        "    tests/test_pool.py:1  src.pool (Pool)\n"
        "\n"
        "3 imports inside · N ms search · fresh\n"
        "exit 0\n"
    )
    assert here.ask("deps", "tests/test_pool.py", reverse=True).code == 1


def test_filters_are_about_where_the_references_stand(here: World) -> None:
    """What they leave out is counted; nothing left is exit code 1."""
    printed = here.printed("callers", "Pool.take", excludes=("tests/**",))

    assert "no reference of this name is left\nwithout --exclude 'tests/**': 2 more\n" in printed
    assert printed.endswith("exit 1\n")


def test_a_limit_keeps_the_surest(here: World) -> None:
    """And says how many rows it left out."""
    printed = here.printed("callers", "Pool.take", limit=1)

    assert "assert Pool().take()" in printed and "thing.take()" not in printed
    assert "1 sure · 1 ambiguous · 0 unresolved · 1 left out" in printed


@pytest.mark.parametrize(
    "name", ["Pool.take", "Pool::take", "Pool#take", "src/pool.py:take", "src/pool.py:9", "take()"]
)
def test_a_definition_can_be_named_in_every_notation(name: str, here: World) -> None:
    """Qualified, by its file, by a line of it."""
    assert [row.split()[0] for row in here.callers(name)] == ["tests/test_pool.py:5", "tests/test_pool.py:6"]


def test_places_that_are_none_are_refused(here: World) -> None:
    """A line without a definition, a file that is not indexed."""
    with pytest.raises(UsageFailed, match="no definition on line 1"):
        here.ask("callers", "src/pool.py:1")
    with pytest.raises(FileNotIndexed):
        here.ask("callees", "src/none.py:take")


def test_rows_of_json_have_caller_callee_rule_and_confidence(here: World) -> None:
    """The row is the caller's definition; `line` is the call's."""
    (row, _) = json.loads(here.ask("callers", "Pool.take", output="json").out)["results"]

    assert row == {
        "file": "tests/test_pool.py",
        "line_start": 4,
        "line_end": 7,
        "type": "function",
        "name": "test_take",
        "qualified_name": "test_take",
        "line": 5,
        "kind": "call",
        "confidence": "sure",
        "rule": "receiver type",
        "candidates": 1,
        "code": "assert Pool().take()",
        "receiver": "Pool()",
        "reference": "take",
        "caller": "test_take",
        "caller_file": "tests/test_pool.py",
        "callee": "Pool.take",
        "callee_file": "src/pool.py",
        "callee_line": 8,
        "uri": "file:tests/test_pool.py#L4-L7",
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A.b", Asked("A.b")),
        ("A::b()", Asked("A::b")),
        ("src/a.py:12", Asked("", "src/a.py", 12)),
        ("a.py:run", Asked("run", "a.py")),
        ("a.py:A.b", Asked("A.b", "a.py")),
        ("A::12", Asked("A::12")),
    ],
)
def test_a_name_is_read_as_it_is_typed(text: str, found: Asked) -> None:
    """`::` joins names, a single colon stands behind a path."""
    assert targets.asked(text) == found


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("self.pool", "self pool"),
        ("get_app(a, (b)).run", "get_app() run"),
        ("await new Foo<Bar>(1)", "Foo()"),
        ("&pool.Pool{Size: 1}", "pool Pool()"),
        ("(*p)->next", ""),
        ("a[0].b", ""),
        ("x or y", ""),
        ("db?.pool!.take", "db pool take"),
        ("Pool::new(1)", "Pool new()"),
        ("Foo(", "Foo()"),
        ('", "', ""),
    ],
)
def test_an_expression_is_a_chain_or_nothing(text: str, parts: str) -> None:
    """Names, calls, literals with their type; what is more than that cannot be followed."""
    expected = tuple(Part(part.removesuffix("()"), part.endswith("()")) for part in parts.split())

    assert parse(text) == expected


def test_a_crowd_of_references_is_looked_at_as_far_as_rows_need(tmp_path: Path) -> None:
    """Enough are sure among the first 500: the others are said to be left. More rows, more that are looked at."""
    calls = "".join(f"    ring_once({number})\n" for number in range(700))
    with world(str(tmp_path), {"a.py": f"def ring_once(n):\n    pass\n\n\ndef all_of_them():\n{calls}"}) as crowd:
        assert crowd.counts("ring_once") == {"sure": 500, "ambiguous": 0, "unresolved": 0, "elsewhere": 0}
        assert "200 more references of this name were too many to look at" in crowd.printed("callers", "ring_once")
        assert crowd.counts("ring_once", limit=100)["sure"] == 700
