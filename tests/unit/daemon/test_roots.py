"""Which directory a request is about."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxd.roots import attached_at, locate, prefix, relative
from ctxprotocol.errors import RepoUnknown, RootGone, RootRefused, UsageFailed
from ctxprotocol.messages import Status


def ask(directory: Path, *, root: str = "", home: str = "", chosen: bool = False) -> Status:
    return Status(directory=os.fsencode(directory), root=root.encode(), home=home.encode(), chosen=chosen)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name in ("home/repo/.git", "home/repo/src/deep", "home/plain/below", "home/repo/inner/.git"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path.resolve()


def test_the_nearest_git_worktree_counts(tree: Path) -> None:
    """From anywhere inside, and a nested repository is its own."""
    home = str(tree / "home")
    assert locate(ask(tree / "home/repo/src/deep", home=home), (), (), home) == str(tree / "home/repo")
    assert locate(ask(tree / "home/repo/inner", home=home), (), (), home) == str(tree / "home/repo/inner")


def test_without_git_an_attached_directory_above_counts_else_the_directory_itself(tree: Path) -> None:
    """A plain folder that was attached stands for all below it."""
    plain = str(tree / "home/plain")
    assert locate(ask(tree / "home/plain/below"), (plain,), (), "") == plain
    assert locate(ask(tree / "home/plain/below"), (), (), "") == plain + "/below"


def test_ctx_root_wins_over_the_directory_and_dir_over_ctx_root(tree: Path) -> None:
    """`-C` is the caller's last word."""
    root = str(tree / "home/plain")
    assert locate(ask(tree / "home/repo", root=root), (), (), "") == root
    assert locate(ask(tree / "home/repo", root=root, chosen=True), (), (), "") == str(tree / "home/repo")


@pytest.mark.parametrize("git", [False, True])
def test_a_home_directory_is_refused_until_init_names_it(tree: Path, git: bool) -> None:
    """Also when it is a git worktree itself; a directory below it is then a plain one."""
    home = tree / "home"
    if git:
        (home / ".git").mkdir()
    with pytest.raises(RootRefused):
        locate(ask(home, home=str(home)), (), (), "")
    assert locate(ask(home / "plain", home=str(home)), (), (), "") == str(home / "plain")
    assert locate(ask(home, home=str(home)), (str(home),), (str(home),), "") == str(home)


def test_the_root_of_the_file_system_is_refused(tree: Path) -> None:
    """Nobody means to index a machine."""
    with pytest.raises(RootRefused):
        locate(ask(Path("/")), (), (), "")


def test_a_missing_directory_is_an_error_that_names_it(tree: Path) -> None:
    """A removed working directory gets no guess."""
    with pytest.raises(RootGone, match="nowhere"):
        locate(ask(tree / "nowhere"), (), (), "")


def test_links_lead_to_the_real_root_and_prefix(tree: Path) -> None:
    """Two names of one directory are one worktree."""
    (tree / "link").symlink_to(tree / "home/repo")
    root = locate(ask(tree / "link/src"), (), (), "")
    assert root == str(tree / "home/repo")
    assert prefix(root, os.fsencode(tree / "link/src")) == "src/"
    assert prefix(root, os.fsencode(tree / "link")) == ""
    assert prefix(root, os.fsencode(tree)) is None


def test_a_file_outside_is_refused_and_a_link_keeps_its_name(tree: Path) -> None:
    """The file's own name is not resolved: a link is reported as what it is."""
    root = str(tree / "home/repo")
    (tree / "home/repo/src/l.py").symlink_to("/etc/hosts")
    assert relative(root, os.fsencode(tree / "home/repo/src"), b"l.py") == "src/l.py"
    assert relative(root, os.fsencode(tree / "home/repo/src"), b"../a.py") == "a.py"
    with pytest.raises(UsageFailed):
        relative(root, os.fsencode(root), b"../other/a.py")


def test_forget_finds_an_attached_root_that_is_gone(tree: Path) -> None:
    """What was removed from disk can still be detached."""
    gone = str(tree / "gone")
    assert attached_at(os.fsencode(gone), {gone}) == gone
    with pytest.raises(RepoUnknown):
        attached_at(os.fsencode(tree), {gone})
