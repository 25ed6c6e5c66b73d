"""What `ctx symbols` answers over a small index: whole outputs, order, names in every notation."""

from __future__ import annotations

import json

import pytest

from ctxd.model import Freshness
from ctxd.search.listing.symbols import symbols
from ctxprotocol.errors import TooLong, UsageFailed
from ctxprotocol.messages import Symbols
from tests.unit.listing.index import Index, answered, directory, shop, symbol, view


def ask(index: Index, pattern: str = "", prefix: str | None = "", **options: object) -> str:
    """The text that a request prints, with its exit code."""
    answer = symbols(index.snapshot, Symbols(directory=directory(), pattern=pattern, **options), view(prefix))
    return answered(answer.out) + f"exit {answer.code}\n"


def rows(index: Index, pattern: str, **options: object) -> list[tuple[str, str, int]]:
    """File, qualified name and first line of each row, from JSON."""
    request = Symbols(directory=directory(), pattern=pattern, output="json", **options)
    answer = symbols(index.snapshot, request, view())
    return [(row["file"], row["qualified_name"], row["line_start"]) for row in json.loads(answer.out)["results"]]


def test_a_name_lists_its_definitions_source_before_test() -> None:
    """One line each: place, kind, name, signature; then the footer."""
    assert ask(shop(), "create_pool") == (
        "src/pool.py  L13-L16  function create_pool  def create_pool(size=20) -> Pool\n"
        "qa/test_pool.py  L1-L2  function create_pool  def create_pool()\n"
        "\n"
        "2 results · N ms search · fresh\n"
        "exit 0\n"
    )


def test_paths_are_relative_to_the_caller_and_the_root_is_named_from_outside() -> None:
    """From qa/ the source is ../src/pool.py; from another place the footer says where paths start."""
    below = ask(shop(), "create_pool", "qa/", limit=1)
    outside = ask(shop(), "create_pool", None, limit=1)

    assert below.startswith("../src/pool.py  L13-L16")
    assert "\n1 result · 1 left out · N ms search · fresh\n" in below
    assert outside.startswith("src/pool.py  L13-L16")
    assert "\n1 result in /home/ada/shop · 1 left out · N ms search · fresh\n" in outside


def test_a_body_comes_before_its_prototype() -> None:
    """The header is first by path, and the source file has the body."""
    assert rows(shop(), "queue_push") == [("src/queue.c", "queue_push", 1), ("include/queue.h", "queue_push", 2)]


def test_a_prototype_alone_is_still_found() -> None:
    """What only announces is shown when nothing defines."""
    index = Index()
    index.file("a.h", "int f(void);\n", [symbol("f", (1, 1))], language="c")

    assert rows(index, "f") == [("a.h", "f", 1)]


@pytest.mark.parametrize(
    "pattern",
    [
        "Pool.take",
        "Pool::take",
        "Pool#take",
        "Pool->take",
        "src\\pool\\Pool\\take",
        "pool.take",
        "take()",
        "pool.Pool.take",
        "src.pool.Pool.take",
        "TAKE",
    ],
)
def test_qualified_names_in_any_notation(pattern: str) -> None:
    """Owners by `.`, `::`, `#`, `->` or a backslash, file and folder in front, but for case where nothing is exact."""
    assert rows(shop(), pattern) == [("src/pool.py", "Pool.take", 6)]


def test_an_owner_that_is_none_finds_nothing() -> None:
    """`Queue.take` is not `Pool.take`."""
    assert rows(shop(), "Queue.take") == []


def test_exact_case_wins_over_any_other() -> None:
    """Pool and pool are two names; only where one is missing is the other meant."""
    index = Index()
    index.file("a.py", "class Pool: ...\npool = Pool()\n", [symbol("Pool", (1, 1), "class"), symbol("pool", (2, 2))])

    assert [name for _, name, _ in rows(index, "pool")] == ["pool"]
    assert [name for _, name, _ in rows(index, "POOL")] == ["Pool", "pool"]


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("create_*", ["create_pool", "create_pool"]),
        ("*_p??l", ["create_pool", "create_pool"]),
        ("CREATE*", ["create_pool", "create_pool"]),
        ("Pool.*", ["Pool.take"]),
        ("*::take", ["Pool.take"]),
        ("[c]reate*", []),
    ],
)
def test_globs(pattern: str, names: list[str]) -> None:
    """`*` and `?` only; a bracket is a bracket; nothing exact means any case."""
    assert [name for _, name, _ in rows(shop(), pattern)] == names


def test_a_hostile_glob_takes_no_time() -> None:
    """Thirty stars on a long name: the engine is linear."""
    index = Index()
    index.file("a.py", "x\n", [symbol("a" * 2000, (1, 1))])

    assert rows(index, "a*" * 30 + "b") == []


def test_a_pattern_that_is_too_long_is_refused() -> None:
    """A typed error, not a slow answer."""
    with pytest.raises(TooLong):
        rows(shop(), "*" * 2000)


def test_a_bad_path_pattern_is_refused() -> None:
    """An unclosed class is text; a class that RE2 does not take is a usage error."""
    with pytest.raises(UsageFailed):
        rows(shop(), "take", paths=("[z-a]",))


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({"languages": ("c",)}, ["queue_push", "queue_push"]),
        ({"kind": "class"}, ["Pool"]),
        ({"paths": ("qa",)}, ["create_pool"]),
        ({"excludes": ("*.py", "*.h")}, ["queue_push"]),
        ({"limit": 3}, ["queue_push", "Pool", "Pool.take"]),
        ({"content": "docs"}, []),
    ],
)
def test_everything_can_be_listed_and_narrowed(options: dict[str, object], names: list[str]) -> None:
    """Without a pattern: all definitions by path and line, those beside the source last."""
    assert [name for _, name, _ in rows(shop(), "", **options)] == names


def test_a_json_row_has_the_keys_of_a_definition() -> None:
    """All that is known of a definition, no score."""
    request = Symbols(directory=directory(), pattern="take", output="json")

    answer = json.loads(symbols(shop().snapshot, request, view("src/")).out)

    assert answer["results"] == [
        {
            "file": "src/pool.py",
            "line_start": 6,
            "line_end": 10,
            "type": "method",
            "name": "take",
            "qualified_name": "Pool.take",
            "parent": "Pool",
            "definition_line": 6,
            "exported": True,
            "uri": "file:src/pool.py#L6-L10",
            "language": "python",
            "summary": "def take(self)",
            "signature": "def take(self)",
        }
    ]
    assert (answer["schema"], answer["generation"], answer["fresh"], answer["hint"]) == (1, 42, True, None)
    assert answer["stats"]["files_indexed"] == 4


def test_nothing_found_is_explained() -> None:
    """The files that were searched, the skipped ones, the nearest names with their places; exit 1."""
    assert ask(shop(), "crate_pool") == (
        'nothing found for "crate_pool" in 4 files (C 2, Python 2; 3 skipped: ctx status --skipped)\n'
        "nearest names: create_pool (src/pool.py:13), Pool (src/pool.py:3)\n"
        "exit 1\n"
    )


def test_what_a_filter_removed_is_said() -> None:
    """The same question without its filters has results."""
    assert ask(shop(), "create_pool", languages=("c",), paths=("src/*",)) == (
        'nothing found for "create_pool" in 4 files (C 2, Python 2; 3 skipped: ctx status --skipped)\n'
        "without --lang c --path 'src/*': 2 results\n"
        "nearest names: create_pool (src/pool.py:13), Pool (src/pool.py:3)\n"
        "exit 1\n"
    )


def test_an_index_that_is_still_growing_says_so() -> None:
    """Nothing found yet is not nothing there."""
    stale = view(freshness=Freshness(False, "indexing", 120))

    answer = symbols(shop().snapshot, Symbols(directory=directory(), pattern="zzz"), stale)

    assert answer.out.splitlines()[1:] == ["not fresh: indexing, 120 files pending"]


def test_rules_that_hide_everything_are_named() -> None:
    """An empty index is not an empty repository."""
    hidden = view(ignored=12, ignored_by=".gitignore:1")

    text = symbols(Index().snapshot, Symbols(directory=directory(), pattern="x"), hidden)
    data = symbols(Index().snapshot, Symbols(directory=directory(), pattern="x", output="json"), hidden)

    assert text.out == 'nothing found for "x" (0 files indexed, 12 ignored by .gitignore:1)\n'
    assert json.loads(data.out)["hint"] == "0 files indexed, 12 ignored by .gitignore:1"
    assert (text.code, data.code) == (1, 1)
