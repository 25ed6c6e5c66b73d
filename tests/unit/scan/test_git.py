"""git is asked without running anything of the repository, whoever owns it."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

import pytest

from ctxd.scan import git, traps
from ctxd.scan.discover import discover
from ctxd.scan.git import GitFailed, Repository
from ctxd.scan.look import look
from ctxd.scan.rules import Rules
from tests.tree import Tree


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A repository with one commit and a space in its path."""
    tree = Tree(tmp_path / "a tree")
    tree.write("a.py", "one = 1\n")
    tree.commit()
    return tree


def opened(tree: Tree, below: str = "") -> Repository:
    repository = Repository.open(str(tree.root / below))
    assert repository is not None
    return repository


def evil(folder: Path) -> tuple[Path, Path]:
    """Return a file that must not appear, and the program that makes it. git has a shell run it: no spaces."""
    canary, script = folder / "ran", folder / "evil.sh"
    script.write_text(f"#!/bin/sh\ntouch '{canary}'\n")
    script.chmod(0o755)
    return canary, script


def all_questions(tree: Tree) -> None:
    """Ask everything that ctx ever asks of git."""
    repository = opened(tree)
    repository.files()
    repository.ignored(["a.py"])
    repository.tracked(["a.py"])
    repository.rule_files()
    repository.identity()
    repository.head()
    discover(str(tree.root), Rules())
    look(str(tree.root), Rules(), ["a.py", "new.py"], ())


def test_no_program_of_a_repository_is_run(tree: Tree, tmp_path: Path) -> None:
    """Each setting that names a program, and each hook, would leave a file behind."""
    canary, script = evil(tmp_path)
    tree.write(".gitattributes", "* filter=evil diff=evil\n")
    for key in (
        "core.fsmonitor", "core.pager", "core.editor", "core.sshCommand", "core.askPass", "filter.evil.clean",
        "filter.evil.smudge", "filter.evil.process", "diff.evil.textconv", "diff.external", "credential.helper",
        "remote.origin.uploadpack", "core.alternateRefsCommand", "pager.ls-files", "pager.check-ignore",
        "alias.ls-files", "core.gitProxy", "gpg.program", "interactive.diffFilter",
    ):  # fmt: skip
        tree.git("config", key, str(script))
    tree.git("config", "core.hooksPath", str(tree.root / "hooks"))
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"):
        for folder in ("hooks", ".git/hooks"):
            tree.write(f"{folder}/{hook}", script.read_text()).chmod(0o755)
    all_questions(tree)
    assert not canary.exists()


def test_without_our_options_the_canary_sings(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The guard is needed: the same questions without it run the repository's monitor."""
    canary, script = evil(tmp_path)
    tree.git("config", "core.fsmonitor", str(script))
    monkeypatch.setattr(git, "_OPTIONS", ())
    all_questions(tree)
    assert canary.exists()


def test_a_git_named_by_a_relative_path_is_not_run(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """`.` in PATH would be the repository."""
    tree.write("git", "#!/bin/sh\ntouch ran\n").chmod(0o755)
    monkeypatch.chdir(tree.root)
    monkeypatch.setenv("PATH", f".:{os.environ['PATH']}")
    with pytest.raises(GitFailed, match="not installed"):
        opened(tree).files()
    assert not tree.path("ran").exists()
    assert [f.path for f in discover(str(tree.root), Rules()).files] == ["a.py", "git"]


def test_variables_of_the_starter_name_no_other_repository(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hook that starts the daemon has GIT_DIR set."""
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    assert opened(tree).files() == ["a.py"]


@pytest.mark.skipif(os.getuid() != 0, reason="needs root to give a repository to another user")
def test_the_repository_of_another_user_is_listed(tree: Tree) -> None:
    """git itself refuses one ("dubious ownership"); nothing of it is run, so there is nothing to refuse."""
    for where, folders, files in os.walk(tree.root):
        for name in (*folders, *files):
            os.lchown(os.path.join(where, name), 12_345, 12_345)
    os.lchown(tree.root, 12_345, 12_345)
    assert opened(tree).files() == ["a.py"]


def test_git_in_a_subdirectory_speaks_of_paths_below_it(tree: Tree) -> None:
    """A worktree attached by a directory inside a repository keeps the rules of the directories above."""
    tree.write(".gitignore", "*.log\n")
    tree.write("lib/b.py", "")
    tree.write("lib/x.log", "")
    repository = opened(tree, "lib")
    assert repository.files() == ["b.py"]
    assert str(tree.root / ".gitignore") in repository.rule_files()


def test_a_directory_that_its_repository_ignores_is_outside_git(tree: Tree) -> None:
    """A home directory kept in git with everything ignored is common."""
    tree.write(".gitignore", "*\n")
    tree.write("project/b.py", "")
    assert Repository.open(str(tree.root / "project")) is None
    assert Repository.open(str(tree.root)) is not None


def test_a_linked_worktree_has_its_own_git_directory(tree: Tree, tmp_path: Path) -> None:
    """Its HEAD and index are not where the repository's own are; what is shared is."""
    tree.git("worktree", "add", "-q", str(tmp_path / "linked"), "-b", "side")
    repository = Repository.open(str(tmp_path / "linked"))
    assert repository is not None
    assert repository.common_dir == str(tree.root / ".git")
    assert repository.git_dir == str(tree.root / ".git/worktrees/linked")
    files = repository.rule_files()
    assert f"{repository.git_dir}/HEAD" in files and f"{repository.git_dir}/index" in files
    assert f"{repository.common_dir}/info/exclude" in files
    assert repository.identity() == opened(tree).identity()


def test_the_excludes_file_of_the_user_is_watched(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is where the user's configuration says, else where git looks by itself."""
    home = tree.root.parent / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    assert opened(tree).global_excludes() == f"{home}/.config/git/ignore"
    (home / ".gitconfig").write_text("[core]\n excludesFile = ~/mine\n")
    assert opened(tree).global_excludes() == f"{home}/mine" == git.user_excludes()


def test_a_repository_is_known_by_its_origin_and_its_head(tree: Tree) -> None:
    """Without an origin the common directory stands for it; without a commit HEAD is empty."""
    assert opened(tree).identity() == str(tree.root / ".git")
    tree.git("remote", "add", "origin", "git@github.com:acme/shop.git")
    assert opened(tree).identity() == "github.com/acme/shop"
    assert opened(tree).head() == tree.git("rev-parse", "HEAD").strip()
    assert opened(Tree(tree.root.parent / "empty")).head() == ""


@pytest.mark.parametrize("name", [":(top)a", ":!a", "-v", "a*", "[a]", "a\nb", "模块/é.py", " a ", '"q"', "./a"[2:]])
def test_odd_names_are_names(tree: Tree, name: str) -> None:
    """None of them is an option or a pattern to git, and none is quoted."""
    tree.write(name, "")
    tree.write(".git/info/exclude", "zzz\n")
    assert name in opened(tree).files()
    assert opened(tree).files(name) == [name]
    assert opened(tree).ignored([name]) == {}
    tree.write(".git/info/exclude", "*\n")
    assert opened(tree).ignored([name]) == {name: ".git/info/exclude:1"}
    tree.git("--literal-pathspecs", "add", "-f", "--", name)
    assert opened(tree).tracked([name]) == [name]


@pytest.mark.parametrize("kind", ["empty", "file", "fifo", "link", "no head"])
def test_something_else_of_that_name_is_no_repository(tmp_path: Path, kind: str) -> None:
    """Neither hangs nor counts."""
    place = tmp_path / ".git"
    match kind:
        case "empty":
            place.mkdir()
        case "file":
            place.write_text("gitdir: ../nowhere\n")
        case "fifo":
            os.mkfifo(place)
        case "link":
            place.symlink_to("nowhere")
        case _:
            (place / "objects").mkdir(parents=True)
            (place / "refs").mkdir()
    assert Repository.at(str(tmp_path)) is None


PIPES = (
    *(".git/HEAD", ".git/index", ".git/config", ".git/packed-refs", ".git/info/exclude"),
    *(".git/commondir", ".git/objects/info/alternates", ".gitignore", "sub/.gitignore", "sub/deep/.gitignore"),
)


@pytest.mark.parametrize("name", PIPES)
def test_a_pipe_in_place_of_a_file_of_gits_holds_nobody(tree: Tree, name: str) -> None:
    """git would wait for a writer until it is given up; the files are listed without it, and this is said."""
    tree.write("sub/deep/b.py", "")
    tree.path(name).parent.mkdir(exist_ok=True)
    tree.path(name).unlink(missing_ok=True)
    os.mkfifo(tree.path(name))
    began = time.monotonic()

    listing = discover(str(tree.root), Rules())

    assert time.monotonic() - began < git.TIMEOUT_S / 3
    assert [f.path for f in listing.files if not f.skip] == ["a.py", "sub/deep/b.py"]
    assert "pipe or a device" in listing.note or "a FIFO stands in place" in listing.note


@pytest.mark.parametrize("kind", ["device", "socket"])
def test_neither_a_device_nor_a_socket_is_read_for_rules(tree: Tree, kind: str) -> None:
    """A device may never end, or act when it is opened; once the file is one again, git is asked again."""
    place = tree.path(".git/info/exclude")
    place.unlink(missing_ok=True)
    if kind == "device":
        place.symlink_to("/dev/zero")
    else:
        tree.git("config", "core.excludesFile", "none")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(os.path.relpath(place))

    assert "pipe or a device" in discover(str(tree.root), Rules()).note
    place.unlink()
    assert discover(str(tree.root), Rules()).note == ""


def test_git_is_asked_again_when_the_pipe_is_gone(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Soon, unlike after a hang whose cause is not known."""
    monkeypatch.setattr(git.GitHeld, "pause_s", 0.0)
    tree.write("sub/b.py", "")
    os.mkfifo(tree.path("sub/.gitignore"))
    assert "a FIFO stands in place" in discover(str(tree.root), Rules()).note
    tree.path("sub/.gitignore").unlink()

    assert discover(str(tree.root), Rules()).note == ""


def test_a_git_that_hangs_is_given_up(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it waits for; it is not asked again for a while, and the files are listed without it."""
    script = tree.root.parent / "bin" / "git"
    script.parent.mkdir()
    script.write_text("#!/bin/sh\nexec sleep 60\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(git, "TIMEOUT_S", 0.3)
    listing = discover(str(tree.root), Rules())
    assert [f.path for f in listing.files if not f.skip] == ["a.py"]
    assert "did not answer" in listing.note
    monkeypatch.setattr(git, "_run", lambda *_: pytest.fail("git was asked again"))
    assert [f.path for f in look(str(tree.root), Rules(), ["a.py"], ()).found] == ["a.py"]
    assert "is not asked" in discover(str(tree.root), Rules()).note


def test_much_goes_in_and_out_of_a_git_that_is_looked_at(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at it every moment loses nothing of 20,000 questions and their answers."""
    tree.write(".gitignore", "*.log\n")
    monkeypatch.setattr(traps, "LOOK_S", 0.0005)
    names = [f"{number:0100d}.log" for number in range(20_000)]

    assert list(opened(tree).ignored(names)) == names


def test_the_rule_files_of_nested_repositories_are_named_too(tree: Tree) -> None:
    """Their index and excludes decide about their files."""
    Tree(tree.root / "nest")
    found = git.rule_files(str(tree.root), ["nest"])
    assert {f"{tree.root}/.git/index", f"{tree.root}/nest/.git/index", f"{tree.root}/nest/.git/info/exclude"} <= set(
        found
    )
    assert git.rule_files(str(tree.root.parent)) == ()
