"""P1: an answer reflects every operation that finished before the question was asked."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
from collections.abc import Iterator

import pytest

from ctxprotocol.messages import Answer, Symbols
from tests.home import Home
from tests.link import Link
from tests.tree import Tree


@pytest.fixture
def link(ctx: Home, repo: Tree) -> Iterator[Link]:
    """A connection to a daemon that has indexed `repo` (one file, committed)."""
    repo.write("base.py", "def base(): pass\n")
    repo.commit()
    assert ctx.run("update", cwd=repo.root).returncode == 0
    with Link(ctx.path) as opened:
        yield opened


def where(link: Link, repo: Tree, name: str) -> list[str]:
    """Return the files that define `name` according to the daemon; the answer must say that it is fresh."""
    answer = link.symbols(repo.root, name)
    assert answer["fresh"] is True, answer
    return sorted(row["file"] for row in answer["results"])


def test_a_same_size_edit_is_seen_at_the_first_question(link: Link, repo: Tree) -> None:
    """B039: size and mtime prove nothing."""
    repo.write("a.py", "def one(): pass\n")
    assert where(link, repo, "one") == ["a.py"]
    before = os.stat(repo.path("a.py"))

    repo.write("a.py", "def two(): pass\n")
    os.utime(repo.path("a.py"), ns=(before.st_atime_ns, before.st_mtime_ns))

    assert (where(link, repo, "two"), where(link, repo, "one")) == (["a.py"], [])


def test_an_editor_that_saves_by_rename_is_seen(link: Link, repo: Tree) -> None:
    """Written beside, moved over: one change."""
    repo.write("base.py.tmp", "def saved(): pass\n")
    os.replace(repo.path("base.py.tmp"), repo.path("base.py"))

    assert (where(link, repo, "saved"), where(link, repo, "base")) == (["base.py"], [])


def test_a_directory_moved_out_and_a_deep_one_made(link: Link, repo: Tree, tmp_path) -> None:
    """B041: what moves out is gone, what is made in a new folder is there, and so is its next edit."""
    repo.write("pkg/sub/m.py", "def in_pkg(): pass\n")
    assert where(link, repo, "in_pkg") == ["pkg/sub/m.py"]

    os.rename(repo.path("pkg"), tmp_path / "pkg")
    repo.write("x/y/z.py", "def zed(): pass\n")

    assert (where(link, repo, "in_pkg"), where(link, repo, "zed")) == ([], ["x/y/z.py"])
    repo.write("x/y/z.py", "def zet(): pass\n")
    assert (where(link, repo, "zet"), where(link, repo, "zed")) == (["x/y/z.py"], [])


def test_a_directory_moved_in_and_renamed(link: Link, repo: Tree, tmp_path) -> None:
    """Files that come with a directory are indexed under each name it gets, and watched there."""
    Tree(tmp_path / "outside", git=False).write("deep/m.py", "def came_in(): pass\n")

    os.rename(tmp_path / "outside", repo.path("inside"))
    assert where(link, repo, "came_in") == ["inside/deep/m.py"]
    os.rename(repo.path("inside"), repo.path("renamed"))
    assert where(link, repo, "came_in") == ["renamed/deep/m.py"]
    repo.write("renamed/deep/m.py", "def went_on(): pass\n")
    assert (where(link, repo, "went_on"), where(link, repo, "came_in")) == (["renamed/deep/m.py"], [])


def test_a_deleted_tree_is_gone(link: Link, repo: Tree) -> None:
    """rm -rf leaves nothing behind in the index."""
    for number in range(50):
        repo.write(f"d/{number % 5}/f{number}.py", f"def f_{number}(): pass\n")
    assert where(link, repo, "f_49") == ["d/4/f49.py"]

    shutil.rmtree(repo.path("d"))

    assert link.symbols(repo.root, "f_*")["results"] == []


@pytest.fixture
def switched(link: Link, repo: Tree) -> Tree:
    """A repository with two branches of 20 files each, on `main`, indexed."""
    for number in range(20):
        repo.write(f"f{number}.py", f"def main_{number}(): pass\n")
    repo.commit()
    repo.git("checkout", "-qb", "other")
    for number in range(20):
        repo.write(f"f{number}.py", f"def other_{number}(): pass\n")
    repo.commit()
    repo.git("checkout", "-q", "main")
    assert where(link, repo, "main_7") == ["f7.py"]
    return repo


def test_switching_branches_shows_one_side_only(link: Link, switched: Tree) -> None:
    """B043: 20 files rewritten on a branch; there and back, each side's names alone, and never an empty index."""
    names = {}
    for branch in ("other", "main", "other"):
        switched.git("checkout", "-q", branch)
        counts = [len(link.symbols(switched.root, f"{side}_*")["results"]) for side in ("main", "other")]
        names[branch] = counts

    assert names == {"main": [20, 0], "other": [0, 20]}


def test_a_daemon_that_cannot_index_does_not_call_the_other_branch_fresh(ctx: Home, link: Link, switched: Tree) -> None:
    """B043: the index is locked when HEAD moves; neither answer nor status says fresh before the branch is in it."""
    database = ctx.json("status", cwd=switched.root)["index"]
    with sqlite3.connect(database, isolation_level=None) as lock:
        lock.execute("BEGIN IMMEDIATE")
        switched.git("checkout", "-q", "other")
        answer = link.symbols(switched.root, "main_*", fresh_within_ms=300)
        status = ctx.json("status", "--fresh-within", "300", cwd=switched.root)
        lock.execute("ROLLBACK")
    lock.close()

    assert (answer["fresh"], status["fresh"], status["files_pending"] > 0) == (False, False, True)
    assert len(link.symbols(switched.root, "main_*")["results"]) == 0
    assert where(link, switched, "other_7") == ["f7.py"]


def test_a_daemon_that_was_stopped_during_a_switch_answers_for_the_branch_that_is_there(
    ctx: Home, link: Link, switched: Tree
) -> None:
    """B043: it knows of nothing when it goes on, and the question was asked before it could know."""
    os.kill(ctx.pid, signal.SIGSTOP)
    try:
        switched.git("checkout", "-q", "other")
        link.send(Symbols(directory=os.fsencode(switched.root), pattern="*_7", output="json"))
    finally:
        os.kill(ctx.pid, signal.SIGCONT)
    reply = link.receive()

    assert isinstance(reply, Answer)
    assert [row["name"] for row in json.loads(reply.out)["results"]] == ["other_7"]


def test_rules_that_change_are_followed_at_once(link: Link, repo: Tree) -> None:
    """A new ignore line takes a file out, taking the line away brings it back, .ctxignore re-includes."""
    repo.write("gen/g.py", "def generated_one(): pass\n")
    assert where(link, repo, "generated_one") == ["gen/g.py"]

    repo.write(".gitignore", "gen/\n")
    assert where(link, repo, "generated_one") == []
    repo.write(".ctxignore", "!gen/\n")
    assert where(link, repo, "generated_one") == ["gen/g.py"]
    os.unlink(repo.path(".ctxignore"))
    assert where(link, repo, "generated_one") == []
    os.unlink(repo.path(".gitignore"))
    assert where(link, repo, "generated_one") == ["gen/g.py"]


def test_info_exclude_is_followed(link: Link, repo: Tree) -> None:
    """Rules outside the work tree count too."""
    repo.write("local/l.py", "def local_only(): pass\n")
    assert where(link, repo, "local_only") == ["local/l.py"]

    repo.write(".git/info/exclude", "local/\n")

    assert where(link, repo, "local_only") == []


def test_a_second_definition_and_its_removal(link: Link, repo: Tree) -> None:
    """Both places while both are there, one again after."""
    repo.write("second.py", "def base(): pass\n")
    assert where(link, repo, "base") == ["base.py", "second.py"]

    os.unlink(repo.path("second.py"))

    assert where(link, repo, "base") == ["base.py"]


def test_a_link_that_replaces_a_file_hides_it(link: Link, repo: Tree, tmp_path) -> None:
    """The name is still there, but it is a link now, and links are not followed."""
    (tmp_path / "out.py").write_text("def base(): pass\n")

    os.unlink(repo.path("base.py"))
    os.symlink(tmp_path / "out.py", repo.path("base.py"))

    assert where(link, repo, "base") == []


def test_an_unchanged_tree_keeps_its_generation(link: Link, repo: Tree) -> None:
    """Questions write nothing, and a touched file with the same content is no new generation of results."""
    first = link.symbols(repo.root, "base")["generation"]

    again = [link.symbols(repo.root, "base")["generation"] for _ in range(3)]

    assert again == [first] * 3


def test_not_waiting_for_freshness_is_said(link: Link, repo: Tree) -> None:
    """--fresh-within 0 answers at once; the answer is either right or says that it is not fresh."""
    repo.write("n.py", "def just_now(): pass\n")

    answer = link.symbols(repo.root, "just_now", fresh_within_ms=0)

    assert answer["fresh"] is False or [row["file"] for row in answer["results"]] == ["n.py"]


def test_update_full_serves_the_old_index_until_the_new_one_is_done(ctx: Home, link: Link, repo: Tree) -> None:
    """B087 in small: edits made during a rebuild are in the finished index."""
    for number in range(300):
        repo.write(f"r/{number}.py", f"def r_{number}(): pass\n")
    assert len(link.symbols(repo.root, "r_*", limit=400)["results"]) == 300

    assert ctx.run("update", "--full", cwd=repo.root).returncode == 0
    repo.write("r/0.py", "def after_rebuild(): pass\n")

    assert where(link, repo, "after_rebuild") == ["r/0.py"]
    assert len(link.symbols(repo.root, "r_*", limit=400)["results"]) == 299
