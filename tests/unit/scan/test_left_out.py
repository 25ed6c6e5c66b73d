"""What a listing says of what it leaves out, and how listings of directories keep that true of the whole tree."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from ctxd.model import FileStat, Listed, Listing
from ctxd.scan.discover import discover
from ctxd.scan.reconcile import absorb
from ctxd.scan.rules import Rules
from ctxd.scan.walk import ODD_NAMES
from tests.tree import Tree

RULES = Rules()


@pytest.fixture
def repository(tmp_path: Path) -> Tree:
    """A repository with one commit."""
    tree = Tree(tmp_path / "t")
    for name in ("a/a.py", "b/b.py", "top.py"):
        tree.write(name, "x\n")
    tree.commit()
    return tree


def listing(tree: Tree, directory: str = "") -> Listing:
    return discover(str(tree.root), RULES, directory)


def test_linked_worktrees_are_named(repository: Tree) -> None:
    """Whoever misses the files sees where they were; asked for by a directory, too."""
    repository.git("worktree", "add", "-q", "trees/side", "-b", "side")

    assert listing(repository).linked == ("trees/side",)
    assert listing(repository, "trees").linked == ("trees/side",)
    assert listing(repository, "trees/side").linked == ("trees/side",)


def test_a_nested_repository_is_named_when_it_is_what_is_listed(repository: Tree) -> None:
    """A clone that appears is one new directory: its listing is of itself."""
    Tree(repository.path("nest")).write("n.py", "x\n")

    assert (listing(repository).nested, listing(repository, "nest").nested) == (("nest",), ("nest",))


@pytest.mark.parametrize("more", [[], ["--sparse-index"]])
def test_what_a_sparse_checkout_leaves_out_is_counted(repository: Tree, more: list[str]) -> None:
    """Those files are tracked and not here; after `disable` none is missing."""
    repository.git("sparse-checkout", "set", "--cone", *more, "a")
    sparse = listing(repository)
    repository.git("sparse-checkout", "disable")

    assert ([f.path for f in sparse.files], sparse.sparse) == (["a/a.py", "top.py"], 1)
    assert (len(listing(repository).files), listing(repository).sparse) == (3, 0)


def test_a_sparse_nested_repository_counts_too(repository: Tree) -> None:
    """Its files are the tree's."""
    inner = Tree(repository.path("nest"))
    for name in ("a/x.py", "b/y.py"):
        inner.write(name, "x\n")
    inner.commit()
    inner.git("sparse-checkout", "set", "--cone", "a")

    assert listing(repository).sparse == 1


def test_names_that_are_not_utf8_are_kept_within_bounds(tmp_path: Path) -> None:
    """All are counted."""
    tree = Tree(tmp_path / "t")
    for number in range(ODD_NAMES + 5):
        Path(os.fsdecode(os.fsencode(tree.root) + f"/{number}".encode() + b"\xff")).write_text("x")

    found = listing(tree)

    assert (found.not_utf8, len(found.odd_names)) == (ODD_NAMES + 5, ODD_NAMES)


FILE = Listed("a.py", FileStat(1, 2, 3, 4))
WHOLE = Listing(
    "",
    (),
    nested=("a/n", "b"),
    linked=("trees/side",),
    odd_names=("a/x\udcff", "y\udcff"),
    not_utf8=12,
    sparse=3,
    ignored=7,
    ignored_by=".gitignore:1",
)


def test_a_listing_of_a_directory_replaces_what_was_said_of_it() -> None:
    """And of nothing else; a directory of a like name is another one."""
    part = Listing("a", (), nested=("a/m",), odd_names=("a/za\udcff", "a/zb\udcff"), not_utf8=2)

    known = absorb(WHOLE, part)

    assert (known.nested, known.linked, known.sparse, known.ignored) == (("a/m", "b"), ("trees/side",), 3, 7)
    assert (known.odd_names, known.not_utf8) == (("a/za\udcff", "a/zb\udcff", "y\udcff"), 13)
    assert absorb(WHOLE, Listing("b", ())).nested == ("a/n",)
    assert absorb(WHOLE, Listing("tree", ())).linked == ("trees/side",)
    assert absorb(WHOLE, Listing("trees/side/lib", (), linked=("trees/side",))).linked == ("trees/side",)


def test_a_listing_of_the_whole_tree_replaces_all_and_keeps_no_files() -> None:
    """Millions of them would stay in memory for nothing."""
    assert absorb(WHOLE, Listing("", (FILE,), nested=("c",))) == Listing("", (), nested=("c",))
    assert absorb(None, Listing("", (FILE,))) == Listing("", ())


def test_what_went_away_is_said_no_more(repository: Tree) -> None:
    """A nested repository was removed: the listing of the place where it was is empty."""
    Tree(repository.path("lib/nest")).write("n.py", "x\n")
    before = absorb(None, listing(repository))
    shutil.rmtree(repository.path("lib/nest"))

    after = absorb(before, listing(repository, "lib/nest"))

    assert (before.nested, after.nested) == (("lib/nest",), ())
