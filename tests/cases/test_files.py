"""Trees as people have them: worktrees beside and inside, half checked out, renamed by case, rules that change."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cases.room import Room
from tests.home import Home
from tests.link import Link
from tests.tree import Tree


def test_linked_worktrees_inside_are_left_out_and_named(room: Room) -> None:
    """Their files are the same ones on another branch: added, moved and removed while the daemon runs."""
    room.tree.write("a.py", "def main_fn(): pass\n")
    room.tree.commit()
    assert room.places("*_fn") == [("a.py", 1)]

    room.tree.git("worktree", "add", "-q", "trees/side", "-b", "side")
    room.tree.write("trees/side/b.py", "def side_fn(): pass\n")
    assert room.places("*_fn") == [("a.py", 1)]
    assert room.status()["linked_worktrees"] == ["trees/side"]
    assert room.skipped() == {"trees/side": "linked worktree of this repository"}
    assert "linked worktrees, left out: 1" in room.ctx("status").stdout

    room.tree.git("worktree", "move", "trees/side", "trees/moved")
    assert room.status()["linked_worktrees"] == ["trees/moved"]
    room.tree.git("worktree", "remove", "--force", "trees/moved")
    assert (room.places("*_fn"), room.status()["linked_worktrees"]) == ([("a.py", 1)], [])


def test_each_worktree_answers_for_its_own_branch(room: Room, tmp_path: Path) -> None:
    """Asked from inside one, that one is meant; a commit, an edit and a switch in it do not show in the other."""
    room.tree.write("a.py", "def main_fn(): pass\n")
    room.tree.commit()
    room.tree.git("worktree", "add", "-q", "../side", "-b", "side")
    side = Room(room.home, Tree(tmp_path / "side", git=False), room.link)
    assert (room.places("*_fn"), side.places("*_fn")) == ([("a.py", 1)], [("a.py", 1)])

    side.tree.write("a.py", "def side_fn(): pass\n")
    side.tree.commit()
    assert (room.places("*_fn"), side.places("main_fn"), side.places("side_fn")) == (
        [("a.py", 1)],
        [],
        [("a.py", 1)],
    )
    side.tree.git("checkout", "-q", "--detach", "main")
    assert side.places("*_fn") == [("a.py", 1)] and side.places("main_fn")
    room.tree.write(".git/info/exclude", "a.py\nnew.py\n")
    side.tree.write("new.py", "def new_fn(): pass\n")
    assert side.places("new_fn") == [], "info/exclude is shared by the worktrees of a repository"


@pytest.mark.parametrize("more", [[], ["--sparse-index"]], ids=["full index", "sparse index"])
def test_a_sparse_checkout_holds_what_is_there_and_counts_the_rest(room: Room, more: list[str]) -> None:
    """Narrowed, widened and ended while the daemon runs."""
    for name in ("a", "b", "c"):
        room.tree.write(f"{name}/deep/{name}.py", f"def in_{name}(): pass\n")
    room.tree.commit()
    assert len(room.places("in_*")) == 3

    room.tree.git("sparse-checkout", "set", "--cone", *more, "a")
    assert (room.places("in_*"), room.status()["not_checked_out"]) == ([("a/deep/a.py", 1)], 2)
    assert "not checked out (sparse checkout): 2" in room.ctx("status").stdout
    room.tree.git("sparse-checkout", "add", "b")
    assert (len(room.places("in_*")), room.status()["not_checked_out"]) == (2, 1)
    room.tree.git("sparse-checkout", "disable")
    assert (len(room.places("in_*")), room.status()["not_checked_out"]) == (3, 0)


@pytest.mark.parametrize("by", ["git mv", "rename", "two steps", "another branch"])
def test_a_rename_by_case_alone_is_a_rename(room: Room, by: str) -> None:
    """Of a file and of a directory: the new names answer, the old ones are gone, nothing is there twice."""
    room.tree.write("Foo.py", "def in_foo(): pass\n")
    room.tree.write("Lib/Mod.py", "def in_mod(): pass\n")
    room.tree.commit()
    assert room.places("in_*") == [("Foo.py", 1), ("Lib/Mod.py", 1)]

    def rename(old: str, new: str) -> None:
        if by in ("git mv", "another branch"):
            room.tree.git("mv", old, new)
        elif by == "rename":
            os.rename(room.tree.path(old), room.tree.path(new))
        else:
            os.rename(room.tree.path(old), room.tree.path("between"))
            os.rename(room.tree.path("between"), room.tree.path(new))

    if by == "another branch":
        room.tree.git("checkout", "-qb", "lower")
    rename("Foo.py", "foo.py")
    rename("Lib", "lib")
    if by == "another branch":
        room.tree.commit()
        room.tree.git("checkout", "-q", "main")
        assert room.places("in_*") == [("Foo.py", 1), ("Lib/Mod.py", 1)]
        room.tree.git("checkout", "-q", "lower")

    assert room.places("in_*") == [("foo.py", 1), ("lib/Mod.py", 1)]
    assert room.files() == ["foo.py", "lib/Mod.py"]
    room.tree.write("lib/Mod.py", "def edited(): pass\n")
    assert (room.places("edited"), room.places("in_mod")) == ([("lib/Mod.py", 1)], [])


def test_names_that_differ_by_case_alone_are_two_files(room: Room) -> None:
    """Where the file system tells them apart, so do we."""
    room.tree.write("Foo.py", "def upper(): pass\n")
    room.tree.write("foo.py", "def lower(): pass\n")
    if len(os.listdir(room.tree.root)) < 3:
        pytest.skip("this file system takes them for one")

    assert (room.places("upper"), room.places("lower")) == ([("Foo.py", 1)], [("foo.py", 1)])
    os.unlink(room.tree.path("Foo.py"))
    assert room.files() == ["foo.py"]


STEPS = [
    # What is written where (None: removed), and what is left of a.py, lib/b.py, lib/gen/c.py, nest/d.py, out/e.py.
    ({".ctxignore": "lib/\n"}, "ad"),
    ({".ctxignore": "lib/gen\n*.md\n"}, "abd"),
    ({"lib/.ctxignore": "!gen\n"}, "abcd"),
    ({"lib/.ctxignore": "/b.py\n"}, "ad"),
    ({"lib/.ctxignore": None}, "abd"),
    ({".ctxignore": "!out/\n"}, "abcde"),
    ({".ctxignore": "!out/\nnest/\n"}, "abce"),
    ({"nest/.ctxignore": "!d.py\n"}, "abce"),
    ({".ctxignore": None}, "abcd"),
    ({"nest/.ctxignore": "d.py\n"}, "abc"),
    ({".ctxignore": "*\n!/lib/\n!/lib/**\n"}, "bc"),
    ({".ctxignore": "", "nest/.ctxignore": None}, "abcd"),
]


@pytest.mark.parametrize("how", ["written", "replaced", "moved away and back"])
def test_rules_of_ours_are_followed_at_each_edit(room: Room, how: str) -> None:
    """`.ctxignore` files made, edited, replaced as editors do, emptied and removed, at the root, below and nested."""
    room.tree.write(".gitignore", "out/\n")
    Tree(room.tree.path("nest"))
    for letter, path in zip("abcde", ("a.py", "lib/b.py", "lib/gen/c.py", "nest/d.py", "out/e.py"), strict=True):
        room.tree.write(path, f"def only_{letter}(): pass\n")

    def left() -> str:
        return "".join(sorted(row["name"][-1] for row in room.symbols("only_?")))

    assert left() == "abcd"
    for files, wanted in STEPS:
        for path, text in files.items():
            if text is None:
                os.unlink(room.tree.path(path))
            elif how == "written":
                room.tree.write(path, text)
            else:
                os.replace(room.tree.write(f"{path}.tmp~", text), room.tree.path(path))
        if how == "moved away and back" and room.tree.path(".ctxignore").exists():
            os.rename(room.tree.path(".ctxignore"), room.tree.root.parent / "aside")
            left()
            os.rename(room.tree.root.parent / "aside", room.tree.path(".ctxignore"))
        assert left() == wanted, files


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("foo.py", "Foo.py"), ("LIB/mod.py", "lib/Mod.py"), ("mod.py", "lib/Mod.py"), ("\u00e9.py", "e\u0301.py")],
)
def test_a_path_that_is_nearly_right_is_answered_with_the_right_one(room: Room, asked: str, meant: str) -> None:
    """But for case, the directory, or the way in which an accent is written."""
    for path in ("Foo.py", "lib/Mod.py", "e\u0301.py"):
        room.tree.write(path, "def x(): pass\n")

    done = room.ctx("outline", asked)

    assert done.returncode == 1
    assert done.stderr == (f"ctx: not in the index: {asked}\n  did you mean {meant}? ctx files lists what is indexed\n")


def test_names_that_cannot_be_shown_are_counted_and_listed(room: Room) -> None:
    """Written so that a person can find them; the rest is indexed, below them too where the name allows."""
    room.tree.write("a.py", "def kept(): pass\n")
    top = os.fsencode(room.tree.root)
    os.mkdir(top + b"/d\xe9")
    for name in (b"/x\xff.py", b"/d\xe9/y.py"):
        Path(os.fsdecode(top + name)).write_text("def lost(): pass\n")

    status = room.status()

    assert (room.places("kept"), room.places("lost"), status["not_utf8"]) == ([("a.py", 1)], [], 2)
    assert room.skipped() == {"d\\xe9": "name is not UTF-8", "x\\xff.py": "name is not UTF-8"}
    assert "names that are not UTF-8: 2" in room.ctx("status", "--skipped").stdout


def test_without_git_the_rules_hold_and_status_says_so(ctx: Home, repo: Tree) -> None:
    """A machine without git, or with one that fails: ignore files are read by us."""
    repo.write(".gitignore", "*.log\n")
    repo.write("a.py", "def kept(): pass\n")
    repo.write("b.log", "lost\n")
    git = shutil.which("git")
    assert git is not None
    path = ":".join(part for part in ctx.env["PATH"].split(":") if not os.path.exists(f"{part}/git"))

    files = ctx.json("files", cwd=repo.root, env={"PATH": path})["results"]
    status = ctx.run("status", cwd=repo.root)

    assert [row["file"] for row in files] == [".gitignore", "a.py"]
    assert "git is not installed: ignore rules were applied without git" in status.stdout


def test_a_file_that_may_not_be_read_is_listed(ctx: Home, repo: Tree) -> None:
    """Unreadable now, readable later: it comes by itself."""
    if os.geteuid() == 0:
        pytest.skip("root may read anything")
    repo.write("a.py", "def kept(): pass\n")
    repo.write("b.py", "def shut(): pass\n").chmod(0)
    assert ctx.run("update", cwd=repo.root).returncode == 0
    with Link(ctx.path) as link:
        before = link.symbols(repo.root, "shut")["results"]
        skipped = ctx.json("status", "--skipped", cwd=repo.root)["results"]
        repo.path("b.py").chmod(0o600)
        after = link.symbols(repo.root, "shut")["results"]

    assert (before, [row["file"] for row in after]) == ([], ["b.py"])
    assert {"file": "b.py", "language": "", "reason": "unreadable"} in skipped


def test_a_bare_repository_and_a_broken_one_are_no_trouble(room: Room) -> None:
    """What looks like git's own in the tree: files like any other, or nothing."""
    room.tree.write("a.py", "def kept(): pass\n")
    subprocess.run(["git", "init", "-q", "--bare", str(room.tree.path("bare.git"))], check=True, env=room.home.env)
    room.tree.write("empty/.git/HEAD", "ref: refs/heads/main\n")
    room.tree.write("empty/b.py", "def in_empty(): pass\n")
    room.tree.write("filed/.git", "gitdir: /nowhere/at/all\n")
    room.tree.write("filed/c.py", "def in_filed(): pass\n")

    assert room.places("kept") == [("a.py", 1)]
    assert room.places("in_*") == [("empty/b.py", 1), ("filed/c.py", 1)]
    assert room.status()["nested"] == []
