"""Path patterns: what they accept, and that no pattern of a person takes long."""

from __future__ import annotations

import time

import pytest

from ctxd.search import globs
from ctxprotocol.errors import TooLong, UsageFailed

PATHS = (
    "a.py",
    "src/a.py",
    "src/db/pool.py",
    "src/db/pool.ts",
    "tests/db/pool.py",
    "docs/a b.md",
    "odd\nfolder/a.py",
    "src/[x].py",
)


@pytest.mark.parametrize(
    ("pattern", "accepted"),
    [
        ("*", PATHS),
        ("*.ts", ["src/db/pool.ts"]),
        ("a.py", ["a.py", "src/a.py", "odd\nfolder/a.py"]),
        ("/a.py", ["a.py"]),
        ("./a.py", ["a.py"]),
        ("db", ["src/db/pool.py", "src/db/pool.ts", "tests/db/pool.py"]),
        ("src/db/", ["src/db/pool.py", "src/db/pool.ts"]),
        ("src/*.py", ["src/a.py", "src/[x].py"]),
        ("src/**/*.py", ["src/a.py", "src/db/pool.py", "src/[x].py"]),
        ("**/db/**", ["src/db/pool.py", "src/db/pool.ts", "tests/db/pool.py"]),
        ("**/a.py", ["a.py", "src/a.py", "odd\nfolder/a.py"]),
        ("*.{ts,md}", ["src/db/pool.ts", "docs/a b.md"]),
        ("[!s]*/**/pool.?y", ["tests/db/pool.py"]),
        ("src/\\[x\\].py", ["src/[x].py"]),
        ("src/[[]x].py", ["src/[x].py"]),
        ("[x", []),
        ("*.PY", []),
        ("", PATHS),
    ],
)
def test_a_pattern_accepts(pattern: str, accepted: tuple[str, ...] | list[str]) -> None:
    """As ignore files read it; whatever matches a folder takes all below it."""
    accept = globs.paths([pattern], [])

    assert accept is not None
    assert [path for path in PATHS if accept(path)] == list(accepted)


def test_excludes_win_and_several_patterns_add_up() -> None:
    """Any of the wanted, none of the unwanted."""
    accept = globs.paths(["src", "docs"], ["*.ts", "[[]*"])

    assert accept is not None
    assert [path for path in PATHS if accept(path)] == ["src/a.py", "src/db/pool.py", "docs/a b.md"]
    assert globs.paths([], []) is None


@pytest.mark.parametrize("pattern", ["*a" * 400 + "b", "?" * 1000, "**/" * 300 + "x", "{a,b}" * 200])
def test_hostile_patterns_are_quick(pattern: str) -> None:
    """A thousand paths of two thousand characters against the worst patterns: seconds elsewhere, or for ever."""
    accept = globs.paths([pattern], [])
    assert accept is not None

    started = time.perf_counter()
    found = sum(accept("a" * 2000 + str(n)) for n in range(100))

    assert found == 0 and time.perf_counter() - started < 5


@pytest.mark.parametrize("patterns", [["x" * 1001], ["x"] * 101])
def test_too_much_of_it_is_refused(patterns: list[str]) -> None:
    """A typed error."""
    with pytest.raises(TooLong):
        globs.paths(patterns, [])


def test_a_class_that_cannot_be_is_refused() -> None:
    """With the pattern in the message."""
    with pytest.raises(UsageFailed, match=r"not a pattern: \[z-a\]"):
        globs.paths(["[z-a]"], [])
