"""A damaged index file costs a rebuild and nothing else (B082)."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.home import Home
from tests.tree import Tree


def overwrite(path: Path) -> None:
    size = path.stat().st_size
    with open(path, "r+b") as file:
        for at in range(8192, size, 8192):
            file.seek(at)
            file.write(b"\xa5" * 4096)


def truncate(path: Path) -> None:
    os.truncate(path, 100)


def replace(path: Path) -> None:
    path.write_text("this is no database\n" * 500)


def remove(path: Path) -> None:
    shutil.rmtree(path.parent)


def outdate(path: Path) -> None:
    """Write to it from outside: who has read it before has its pages in memory, and would not see what befalls it."""
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO meta VALUES ('written by a test', 1)")


def index_of(home: Home) -> Path:
    (path,) = Path(home.path).glob("indexes/*/index-*.db")
    return path


@pytest.fixture
def indexed(ctx: Home, repo: Tree) -> Home:
    for number in range(200):
        repo.write(f"m{number}.py", f"def fn_{number}():\n    return {number}\n")
    assert ctx.run("update", cwd=repo.root).returncode == 0
    return ctx


@pytest.mark.parametrize("harm", [overwrite, truncate, replace, remove])
@pytest.mark.parametrize("running", [True, False])
def test_the_next_answer_is_right(indexed: Home, repo: Tree, harm, running: bool) -> None:
    """Whether the daemon runs or starts on it; at most one file is set aside, and the daemon stays."""
    if running:
        pid = indexed.pid
    else:
        indexed.run("daemon", "stop", cwd="/")
    harm(index_of(indexed))

    asked = [indexed.run("symbols", f"fn_{number}", cwd=repo.root) for number in (0, 77, 199)]

    assert [each.returncode for each in asked] == [0, 0, 0], [each.stderr for each in asked]
    assert len(list(Path(indexed.path).glob("indexes/*/*.damaged"))) <= 1
    assert not running or indexed.pid == pid
    assert indexed.json("status", cwd=repo.root)["fresh"] is True


def test_damage_that_a_save_meets_is_mended(indexed: Home, repo: Tree) -> None:
    """The writer finds it first; the save is in the index that takes its place."""
    overwrite(index_of(indexed))
    repo.write("m7.py", "def saved_after_damage(): pass\n")

    done = indexed.run("symbols", "saved_after_damage", cwd=repo.root)

    assert done.returncode == 0, done.stderr
    assert indexed.run("symbols", "fn_150", cwd=repo.root).returncode == 0


def test_one_damaged_index_does_not_hide_the_other_repositories(indexed: Home, repo: Tree, tmp_path: Path) -> None:
    """`ctx repos` names it as damaged, lists the others with their counts, and has it built anew."""
    harmed = index_of(indexed)
    other = Tree(tmp_path / "other")
    other.write("o.py", "def beside(): pass\n")
    assert indexed.run("update", cwd=other.root).returncode == 0
    outdate(harmed)
    overwrite(harmed)

    listed = {Path(row["root"]).name: row for row in indexed.json("repos", cwd="/")["results"]}
    answered = indexed.run("symbols", "fn_77", cwd=repo.root)

    assert (listed["r"]["phase"], listed["other"]["phase"]) == ("damaged", "ready")
    assert listed["other"]["files"] == 1
    assert (answered.returncode, "m77.py" in answered.stdout) == (0, True)
