"""What `outline`, `chunk`, `files` and `status` answer over a small index: whole outputs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import msgspec
import pytest

from ctxd.model import Freshness
from ctxd.search.listing.files import files
from ctxd.search.listing.outline import outline
from ctxd.search.listing.place import chunk
from ctxd.search.listing.status import status
from ctxd.state import Audited, WorktreeState
from ctxprotocol.errors import FileNotIndexed, UsageFailed
from ctxprotocol.messages import Chunk, Files, Outline, Status
from tests.unit.listing.index import POOL, ROOT, Index, answered, directory, shop, view


def test_an_outline_is_a_tree_of_signatures() -> None:
    """Members are indented below what holds them."""
    answer = outline(shop().snapshot, Outline(directory=directory(), file=b"pool.py"), view("src/"), "src/pool.py")

    assert answered(answer.out) == (
        "pool.py\n"
        "L3-L10  class Pool\n"
        "  L6-L10  def take(self)\n"
        "L13-L16  def create_pool(size=20) -> Pool\n"
        "\n"
        "3 results · N ms search · fresh\n"
    )


def test_an_outline_of_nothing_says_what_else_to_ask() -> None:
    """A text file has no definitions: exit 1."""
    index = Index()
    index.file("notes.txt", "hello\n", content="text", language="other")

    answer = outline(index.snapshot, Outline(directory=directory(), file=b"notes.txt"), view(), "notes.txt")

    assert answered(answer.out) == (
        "notes.txt\n"
        "  no definitions in this file; ctx chunk FILE:LINE shows its text\n"
        "\n"
        "0 results · N ms search · fresh\n"
    )
    assert answer.code == 1


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("logo.png", "not indexed: logo.png (binary)"),
        ("a b.py", 'not in the index: "a b.py"'),
        ("bad\udcff.py", 'not indexed: "bad\\xff.py" (name is not UTF-8)'),
    ],
)
def test_a_file_that_is_not_indexed_is_an_error_with_its_reason(path: str, said: str) -> None:
    """Skipped or unknown, and which of the two."""
    with pytest.raises(FileNotIndexed) as error:
        outline(shop().snapshot, Outline(directory=directory(), file=os.fsencode(path)), view(), path)

    assert error.value.message == said and error.value.code == 1


def test_a_chunk_is_shown_with_its_line_numbers() -> None:
    """The chunk that holds the line, and one neighbour before it."""
    request = Chunk(directory=directory(), file=b"src/pool.py", line=15, around=1)

    answer = chunk(shop().snapshot, request, view(), "src/pool.py")

    assert answered(answer.out) == (
        "src/pool.py  L11-L12  gap\n"
        "11\n"
        "12\n"
        "src/pool.py  L13-L16  function create_pool\n"
        "13  def create_pool(size=20):\n"
        '14      """Create the pool."""\n'
        "15      pool = Pool()\n"
        "16      return pool\n"
        "\n"
        "2 results · N ms search · fresh\n"
    )


def test_the_chunks_of_a_file_are_the_file() -> None:
    """All neighbours together, joined, are the text byte for byte."""
    request = Chunk(directory=directory(), file=b"src/pool.py", line=7, around=99, output="json")

    rows = json.loads(chunk(shop().snapshot, request, view(), "src/pool.py").out)["results"]

    assert "".join(row["code"] for row in rows) == POOL
    assert [(row["type"], row["line_start"], row["line_end"]) for row in rows] == [
        ("gap", 1, 2),
        ("class", 3, 10),
        ("gap", 11, 12),
        ("function", 13, 16),
    ]


@pytest.mark.parametrize("line", [0, 17])
def test_a_line_that_is_not_there_is_a_usage_error(line: int) -> None:
    """The error says how many lines there are."""
    with pytest.raises(UsageFailed) as error:
        chunk(shop().snapshot, Chunk(directory=directory(), file=b"x", line=line), view(), "src/pool.py")

    assert error.value.message == f"src/pool.py has 16 lines, not line {line}"


def test_files_prints_paths_and_nothing_else_to_a_program() -> None:
    """What was left out goes to stderr."""
    answer = files(shop().snapshot, Files(directory=directory(), limit=2), view("src/"))

    assert answer.out == "../include/queue.h\n../qa/test_pool.py\n"
    assert answer.notes == "note: 2 left out (--limit)\n"


def test_files_on_a_terminal_ends_in_a_footer() -> None:
    """A person sees how many, and how fresh."""
    stale = view(freshness=Freshness(False, "indexing", 3))

    answer = files(shop().snapshot, Files(directory=directory(), width=80, languages=("python",)), stale)

    assert answer.out == ("qa/test_pool.py\nsrc/pool.py\n\n2 files · not fresh: indexing, 3 files pending\n")


def test_file_rows_in_json() -> None:
    """Every path once, with its language and size."""
    index = shop()
    index.file("x.py:1-2 charge_card (score 999).py", "pass\n")
    request = Files(directory=directory(), output="json", paths=("*",), excludes=("qa", "*.c"))

    rows = json.loads(files(index.snapshot, request, view()).out)["results"]

    assert [row["file"] for row in rows] == ["include/queue.h", "src/pool.py", "x.py:1-2 charge_card (score 999).py"]
    assert rows[0] == {"file": "include/queue.h", "language": "c", "content": "code", "size_bytes": 39, "lines": 2}


def test_a_name_cannot_pose_as_a_line() -> None:
    """Spaces and breaks put a path into quotes."""
    index = Index()
    index.file("x.py:1-2 charge_card (score 999).py")
    index.file("a\nb.py")

    answer = files(index.snapshot, Files(directory=directory()), view())

    assert answer.out == '"a\\nb.py"\n"x.py:1-2 charge_card (score 999).py"\n'


def test_no_file_left_by_the_filters() -> None:
    """Exit 1, and how many there are without them."""
    answer = files(shop().snapshot, Files(directory=directory(), paths=("nowhere/",)), view())

    assert answer.out == (
        "nothing found in 4 files (C 2, Python 2; 3 skipped: ctx status --skipped)\n"
        "without --path nowhere/: 4 results\n"
    )
    assert answer.code == 1


STATE = WorktreeState(
    root=ROOT,
    phase="ready",
    watching="degraded",
    watch_reason="inotify watches exhausted",
    watch_remedy="raise fs.inotify.max_user_watches",
    watches=128,
    overflows=2,
    nested=("vendor/a", "vendor/b"),
    ignored=40,
    ignored_by=".gitignore:3",
    not_utf8=1,
    rebuilds=1,
    last_error="disk full, writes paused",
    linked=("trees/side",),
    odd_names=("lib/x\udcff.py",),
    sparse=1200,
    git_note="git is not installed",
    audited=Audited(cycles=2, found=3),
)


def test_status_says_what_is_there_and_what_is_not(tmp_path: Path) -> None:
    """By language, by reason; how changes are noticed and what would help; what went wrong."""
    path = tmp_path / "index-1-1.db"
    path.write_bytes(b"x" * 1200)
    state = msgspec.structs.replace(STATE, index_path=str(path))

    answer = status(shop().snapshot, Status(directory=directory(), skipped=True), view(), state)

    assert answer.out == (
        "/home/ada/shop\n"
        "fresh · generation 42\n"
        "4 files · 8 chunks · 6 symbols · 416 B of source\n"
        "  C: 2 files, 3 chunks, 2 symbols\n"
        "  Python: 2 files, 5 chunks, 4 symbols\n"
        "skipped: 3 (binary 1, lock file 1, minified 1)\n"
        "names that are not UTF-8: 1\n"
        "decoded with replacement: 1\n"
        "parsed with trouble: 1 (syntax errors 1)\n"
        "ignored: 40, most by .gitignore:3\n"
        "nested repos: 2\n"
        "linked worktrees, left out: 1\n"
        "not checked out (sparse checkout): 1,200\n"
        "git is not installed: ignore rules were applied without git\n"
        "watching: degraded (inotify watches exhausted), events lost 2×; raise fs.inotify.max_user_watches\n"
        "audit: 3 files differed from what events said\n"
        "index rebuilt after damage: 1\n"
        "last error: disk full, writes paused\n"
        f"index: 1.2 kB in {path}\n"
        "  logo.png  binary\n"
        "  poetry.lock  lock file\n"
        "  src/x.min.js  minified\n"
        "  src/queue.c  syntax errors, decoded with replacement: 2 (still indexed)\n"
        "  trees/side  linked worktree of this repository\n"
        '  "lib/x\\xff.py"  name is not UTF-8\n'
    )


def test_status_in_json_has_every_figure_and_the_lines() -> None:
    """Rows of skipped files only when asked for."""
    plain = json.loads(status(shop().snapshot, Status(directory=directory(), output="json"), view(), STATE).out)
    request = Status(directory=directory(), output="json", skipped=True)
    listed = json.loads(status(shop().snapshot, request, view(), STATE).out)

    assert (
        plain["results"] == []
        and "skipped: 3 (binary 1, lock file 1, minified 1; ctx status --skipped)" in plain["notes"]
    )
    assert {"file": "logo.png", "language": "", "reason": "binary"} in listed["results"]
    assert {"file": "lib/x\\xff.py", "language": "", "reason": "name is not UTF-8"} in listed["results"]
    assert (plain["linked_worktrees"], plain["not_checked_out"], plain["git"]) == (["trees/side"], 1200, STATE.git_note)
    assert plain["audit"] == {"cycles": 2, "found": 3, "ended_s": 0.0}
    assert plain["languages"][0] == {"language": "c", "files": 2, "chunks": 3, "symbols": 2}
    assert plain["skipped"][1] == {"reason": "lock file", "files": 1}
    assert plain["watching"]["state"] == "degraded" and plain["watching"]["directories"] == 128
    assert (plain["files"], plain["generation"], plain["fresh"], plain["nested"]) == (
        4,
        42,
        True,
        ["vendor/a", "vendor/b"],
    )
    assert "decoded with replacement: 1" in plain["notes"] and "nested repos: 2" in plain["notes"]


def test_status_of_an_empty_index_names_the_rule() -> None:
    """A repository whose rules exclude everything says so."""
    state = WorktreeState(root=ROOT, watching="trusted", watches=1, ignored=1, ignored_by=".gitignore:1")

    answer = status(Index().snapshot, Status(directory=directory()), view(), state)

    assert answer.out == (
        "/home/ada/shop\nfresh · generation 42\n0 files indexed, 1 ignored by .gitignore:1\nwatching: 1 directory\n"
    )
