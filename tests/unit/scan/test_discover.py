"""What is listed of a tree, inside git and outside, and what is watched on the way."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from ctxd.model import Listing
from ctxd.scan import discover as module
from ctxd.scan.discover import discover
from ctxd.scan.rules import Rules
from ctxprotocol.errors import RootGone
from tests.tree import Tree

IGNORE = ("node_modules/", "dist/", "__pycache__/")
RULES = Rules(ignore=IGNORE)


@pytest.fixture(params=["git", "plain"])
def tree(request: pytest.FixtureRequest, tmp_path: Path) -> Tree:
    """An empty tree, once as a repository and once as a plain directory: the rules are the same."""
    return Tree(tmp_path / "t", git=request.param == "git")


@pytest.fixture
def repository(tmp_path: Path) -> Tree:
    """An empty repository."""
    return Tree(tmp_path / "t")


def listing(tree: Tree, directory: str = "", rules: Rules = RULES) -> Listing:
    return discover(str(tree.root), rules, directory)


def paths(tree: Tree, directory: str = "", rules: Rules = RULES) -> list[str]:
    """The paths that are to be indexed."""
    return [f.path for f in listing(tree, directory, rules).files if not f.skip]


def skips(tree: Tree, rules: Rules = RULES) -> dict[str, str]:
    """The paths that are recorded and not read, with the reason."""
    return {f.path: f.skip for f in listing(tree, rules=rules).files if f.skip}


def write(tree: Tree, *names: str) -> None:
    for name in names:
        tree.write(name, "x\n")


def watched(tree: Tree, directory: str = "") -> list[str]:
    """The directories that are watched."""
    seen: dict[str, None] = {}
    discover(str(tree.root), RULES, directory, seen.setdefault)
    return sorted(seen)


def test_files_come_sorted_with_their_stat(tree: Tree) -> None:
    """Hidden files are files; `.git` is none."""
    write(tree, "b.py", "a/z.py", ".github/ci.yml", "a.py")
    found = listing(tree)
    assert [f.path for f in found.files] == [".github/ci.yml", "a.py", "a/z.py", "b.py"]
    real = os.lstat(tree.path("a.py"))
    stat = found.files[1].stat
    assert (stat.size_bytes, stat.mtime_ns, stat.ctime_ns, stat.inode) == (
        real.st_size,
        real.st_mtime_ns,
        real.st_ctime_ns,
        real.st_ino,
    )


def test_a_nested_ignore_file_is_anchored_where_it_lies(tree: Tree) -> None:
    """B001: `/deps/` in `app/.gitignore` is not the `deps` of the root."""
    tree.write("app/.gitignore", "/deps/\n")
    write(tree, "app/deps/x.py", "deps/y.py")
    assert paths(tree) == ["app/.gitignore", "deps/y.py"]


def test_ignore_files_of_other_tools_are_not_read(tree: Tree) -> None:
    """B003: `*` in `.dockerignore` says nothing to us."""
    tree.write(".dockerignore", "*\n!src\n")
    write(tree, "src/a.py")
    assert paths(tree) == [".dockerignore", "src/a.py"]


def test_a_tree_whose_rules_exclude_everything_says_which(tree: Tree) -> None:
    """B003: zero files never come without a reason."""
    tree.write(".gitignore", "*\n")
    write(tree, "src/a.py")
    found = listing(tree)
    assert (found.files, found.ignored, found.ignored_by) == ((), 1, ".gitignore:1")


@pytest.mark.parametrize(
    ("name", "line", "rule"),
    [(".ctxignore", "a.*", ".ctxignore:1"), (".gitignore", "/lib/\n", ".gitignore:1"), ("dist/x", "", "index.ignore")],
)
def test_each_kind_of_rule_is_named(tree: Tree, name: str, line: str, rule: str) -> None:
    """A person has to find the line."""
    tree.write(name, line)
    tree.write(".ctxignore", (tree.path(".ctxignore").read_text() if name == ".ctxignore" else "") + "\n/.*ignore\n")
    write(tree, *(["lib/a.py"] if "lib" in line else ["a.py"] if line else []))
    assert (listing(tree).files, listing(tree).ignored_by) == ((), rule)


def test_names_outside_ascii_are_paths_like_any_other(tree: Tree) -> None:
    """B004: git's quoting of names would lose them."""
    write(tree, "模块/Bar.cs", "é.py", "a b\n.py", '"q".py')
    assert paths(tree) == ['"q".py', "a b\n.py", "é.py", "模块/Bar.cs"]


def test_a_name_that_is_not_utf8_is_counted(tree: Tree) -> None:
    """It cannot be shown or asked for."""
    os.mkdir(os.fsencode(tree.root) + b"/d\xff")
    for name in (b"/x\xff.py", b"/d\xff/y.py", b"/ok.py"):
        Path(os.fsdecode(os.fsencode(tree.root) + name)).write_text("x")
    found = listing(tree)
    assert ([f.path for f in found.files], found.not_utf8) == (["ok.py"], 2)


def test_a_root_that_is_not_utf8_is_listed(tmp_path: Path) -> None:
    """The root's own path is only ever given back to the system."""
    root = os.fsdecode(os.fsencode(tmp_path) + b"/r\xff")
    tree = Tree(root)
    write(tree, "a.py", "lib/b.py")
    assert paths(tree) == ["a.py", "lib/b.py"]


def test_nested_repositories_are_part_of_the_tree_by_their_own_rules(repository: Tree) -> None:
    """B006: a submodule, a clone that git knows nothing of, one without commits; an ignored one is absent."""
    repository.write(".gitignore", "priv/\n*.log\n")
    for name in ("sub", "nest", "new", "priv"):
        inner = Tree(repository.root / name)
        inner.write("f.py", "")
        inner.write("f.log", "")
        inner.write("g.tmp", "")
        inner.write(".gitignore", "*.tmp\n")
        if name != "new":
            inner.commit()
    repository.git("add", "sub")
    found = listing(repository)
    assert [f.path for f in found.files] == [
        ".gitignore",
        *[f"{name}/{file}" for name in ("nest", "new", "sub") for file in (".gitignore", "f.log", "f.py")],
    ]
    assert found.nested == ("nest", "new", "sub")
    assert watched(repository) == ["", "nest", "new", "sub"]
    assert paths(repository, "nest") == ["nest/.gitignore", "nest/f.log", "nest/f.py"]


def test_repositories_are_nested_recursively_and_by_a_git_file(repository: Tree) -> None:
    """`git submodule` keeps the git directory elsewhere."""
    inner = Tree(repository.root / "a/b")
    write(inner, "x.py")
    deep = Tree(inner.root / "c/d")
    write(deep, "y.py")
    os.rename(deep.root / ".git", repository.root / ".git/kept")
    deep.write(".git", f"gitdir: {repository.root}/.git/kept\n")
    found = listing(repository)
    assert [f.path for f in found.files] == ["a/b/c/d/y.py", "a/b/x.py"]
    assert found.nested == ("a/b", "a/b/c/d")


def test_a_submodule_that_lost_its_git_directory_is_still_listed(repository: Tree) -> None:
    """git lists nothing below a gitlink; its files are there all the same."""
    inner = Tree(repository.root / "sub")
    write(inner, "lib/f.py", "f.log")
    inner.commit()
    repository.git("add", "sub")
    os.rename(inner.root / ".git", repository.root.parent / "away")
    repository.write(".gitignore", "*.log\n")
    assert paths(repository) == [".gitignore", "sub/lib/f.py"]
    assert paths(repository, "sub/lib") == ["sub/lib/f.py"]


def test_a_linked_worktree_inside_its_repository_is_left_out(repository: Tree) -> None:
    """Its files are the same ones on another branch."""
    write(repository, "a.py")
    repository.commit()
    repository.git("worktree", "add", "-q", "trees/side", "-b", "side")
    assert paths(repository) == ["a.py"]
    assert paths(repository, "trees/side") == []
    assert discover(f"{repository.root}/trees/side", RULES).files[0].path == "a.py"


def test_repositories_side_by_side_in_a_plain_directory_are_all_listed(tmp_path: Path) -> None:
    """A linked worktree beside its repository is not nested in it."""
    outer = Tree(tmp_path, git=False)
    one = Tree(tmp_path / "one")
    write(one, "a.py", "x.log")
    one.write(".gitignore", "*.log\n")
    one.commit()
    one.git("worktree", "add", "-q", "../two", "-b", "side")
    assert paths(outer) == ["one/.gitignore", "one/a.py", "two/.gitignore", "two/a.py"]


def test_tracked_files_are_listed_although_a_rule_ignores_them(repository: Tree) -> None:
    """git goes on tracking them; their directories are watched, other ignored ones are not."""
    repository.write(".gitignore", "build/\nout/\n")
    write(repository, "build/kept.py", "build/other.py", "out/x.py")
    repository.git("add", "-f", "build/kept.py")
    assert paths(repository) == [".gitignore", "build/kept.py"]
    assert watched(repository) == ["", "build"]
    assert watched(repository, "out") == []


def test_directories_without_a_listed_file_are_watched_unless_ignored(tree: Tree) -> None:
    """The first file in them has to be seen."""
    tree.write(".gitignore", "*.log\nhidden/\n")
    write(tree, "logs/a.log", "hidden/deep/a.py", "node_modules/x/y.js")
    tree.path("empty/deep").mkdir(parents=True)
    assert watched(tree) == ["", "empty", "empty/deep", "logs"]


def test_a_directory_is_watched_before_it_is_read(tree: Tree) -> None:
    """What is written between the two is in the listing and an event as well, never in neither."""
    write(tree, "lib/a.py")

    def watch(directory: str) -> None:
        write(tree, f"{directory}/late.py" if directory else "late.py")

    found = discover(str(tree.root), RULES, "", watch)
    assert [f.path for f in found.files] == ["late.py", "lib/a.py", "lib/late.py"]


@pytest.mark.parametrize("change", ["written", "removed"])
def test_rules_that_change_while_git_is_asked_are_applied(tree: Tree, change: str) -> None:
    """git's listing was taken before the directories were watched: such a change is no event."""
    write(tree, "lib/a.log", "lib/a.py")
    rules = tree.path("lib/.gitignore")
    if change == "removed":
        rules.write_text("*.log\n.gitignore\n")
    asked: list[str] = []

    def watch(directory: str) -> None:
        asked.append(directory)
        if asked == [""]:
            if change == "removed":
                rules.unlink()
            else:
                rules.write_text("*.log\n.gitignore\n")

    found = discover(str(tree.root), RULES, "", watch)
    assert [f.path for f in found.files] == (["lib/a.log", "lib/a.py"] if change == "removed" else ["lib/a.py"])


def test_the_listing_is_taken_once_when_nothing_changes(repository: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Later passes are for a tree in motion."""
    write(repository, "lib/a.py")
    for place in ("lib", "lib/a.py", ""):
        os.utime(repository.path(place), (1, 1))
    passes: list[str] = []
    discover(str(repository.root), RULES, "", passes.append)
    assert passes == ["", "lib"]


def test_default_patterns_apply_on_top_and_can_be_taken_back(tree: Tree) -> None:
    """`!` in a `.ctxignore` beats git's rules and the configured ones, in whole directories or for a file."""
    tree.write(".gitignore", "/generated/\n*.log\n")
    write(tree, "dist/a.js", "dist/__pycache__/b.py", "generated/api/c.py", "generated/d.py", "x.log", "web/dist/e.js")
    assert paths(tree) == [".gitignore"]
    tree.write(".ctxignore", "!/dist/\n!generated/api/\n!x.log\n")
    assert paths(tree) == [".ctxignore", ".gitignore", "dist/a.js", "generated/api/c.py", "x.log"]
    tree.write("web/.ctxignore", "!dist/\n")
    assert "web/dist/e.js" in paths(tree)


def test_a_ctxignore_excludes_what_git_tracks(tree: Tree) -> None:
    """Nested ones are anchored where they lie, the inner one wins."""
    write(tree, "a/x.sql", "a/keep.sql", "b/x.sql", "a/deep/y.sql", "c/z.py")
    tree.write(".ctxignore", "*.sql\nc/\n")
    tree.write("a/.ctxignore", "!/keep.sql\n")
    assert paths(tree) == [".ctxignore", "a/.ctxignore", "a/keep.sql"]


def test_configured_patterns_may_take_back_earlier_ones(tree: Tree) -> None:
    """They are one ignore file in the configuration."""
    write(tree, "dist/a.js", "lib/dist/b.js")
    rules = Rules(ignore=(*IGNORE, "!/dist/"))
    assert paths(tree, rules=rules) == ["dist/a.js"]


def test_secrets_and_lock_files_are_recorded_by_name(tree: Tree) -> None:
    """A `.ctxignore` can take back a lock file, never a secret."""
    tree.write(".ctxignore", "!yarn.lock\n!.env\n")
    write(tree, ".env", "k/id_rsa", ".env.example", "package-lock.json", "yarn.lock")
    assert skips(tree) == {".env": "secret", "k/id_rsa": "secret", "package-lock.json": "lock file"}
    assert paths(tree) == [".ctxignore", ".env.example", "yarn.lock"]


def test_links_are_recorded_and_not_followed(tree: Tree, tmp_path: Path) -> None:
    """B061: `loop -> .` ends, nothing comes from outside the root."""
    (tmp_path / "other").mkdir()
    (tmp_path / "other/o.py").write_text("x")
    write(tree, "real/a.py")
    for name, target in {
        "loop": ".",
        "real/up": "..",
        "h.py": "/etc/hosts",
        "ext": "../other",
        "in": "real",
        "dead": "no",
        "out": "../t2",
    }.items():
        tree.path(name).symlink_to(target)
    assert skips(tree) == {
        "loop": "link",
        "real/up": "link",
        "in": "link",
        "dead": "link",
        "h.py": "link outside the root",
        "ext": "link outside the root",
        "out": "link outside the root",
    }
    assert paths(tree) == ["real/a.py"]


def test_links_are_followed_within_the_root_when_that_is_configured(tree: Tree) -> None:
    """Loops end; the watcher hears of each link, since nobody sees what happens behind it."""
    tree.write(".gitignore", "real/\n")
    write(tree, "real/a.py", "real/.env")
    tree.path("in").symlink_to("real")
    tree.path("one.py").symlink_to("real/a.py")
    tree.path("real/loop").symlink_to("..")
    tree.path("h").symlink_to("/etc")
    seen: list[str] = []
    rules = Rules(ignore=IGNORE, follow_symlinks=True)
    found = discover(str(tree.root), rules, "", seen.append)
    assert {f.path: f.skip for f in found.files} == {
        ".gitignore": "",
        "h": "link outside the root",
        "in/.env": "secret",
        "in/a.py": "",
        "in/loop": "link",
        "one.py": "",
    }
    assert {"in", "one.py"} <= set(seen)


def test_what_is_no_regular_file_is_recorded(tree: Tree) -> None:
    """A FIFO would never end, a device is none of ours."""
    os.mkfifo(tree.path("pipe"))
    with socket.socket(socket.AF_UNIX) as server:
        os.chdir(tree.root)
        server.bind("sock")
        assert skips(tree) == {"pipe": "not a regular file", "sock": "not a regular file"}
    os.chdir("/")


def test_a_file_too_large_for_any_language_is_recorded(tree: Tree) -> None:
    """Between the limits the language decides, which is not known here."""
    rules = Rules(max_file_bytes=10, max_code_bytes=20)
    for size in (10, 11, 20, 21):
        tree.write(f"f{size}", "x" * size)
    assert skips(tree, rules) == {"f21": "too large"}


def test_files_past_the_limit_are_turned_away_in_the_order_of_paths(tree: Tree) -> None:
    """What is skipped anyway takes no place."""
    write(tree, ".env", "a", "b", "c", "d")
    assert skips(tree, Rules(max_files=2)) == {".env": "secret", "c": "too many files", "d": "too many files"}


@pytest.mark.parametrize("directory", ["missing", "a.py", "link", "node_modules/x", ".git", "a.py/x"])
def test_a_directory_that_is_none_of_the_tree_is_empty(tree: Tree, directory: str) -> None:
    """So that comparing finds everything below it gone."""
    write(tree, "a.py", "node_modules/x/y.js", "lib/b.py")
    tree.path("link").symlink_to("lib")
    seen: list[str] = []
    found = discover(str(tree.root), RULES, directory, seen.append)
    assert (found.directory, found.files, seen) == (directory, (), [])


def test_a_directory_is_listed_by_the_rules_of_the_whole_tree(tree: Tree) -> None:
    """What a listing of the tree says of a directory, a listing of the directory says too."""
    tree.write(".gitignore", "*.log\n/lib/gen/\n")
    tree.write("lib/.gitignore", "*.tmp\n")
    tree.write(".ctxignore", "!lib/gen/keep/\nlib/no.py\n")
    write(tree, "lib/a.py", "lib/a.log", "lib/d/b.tmp", "lib/d/c.py", "lib/gen/x.py", "lib/gen/keep/y.py", "lib/no.py")
    whole = listing(tree).files
    for directory in ("lib", "lib/d", "lib/gen", "lib/gen/keep", "library"):
        below = tuple(f for f in whole if f.path.startswith(f"{directory}/"))
        assert listing(tree, directory).files == below


def test_a_missing_root_is_an_error(tmp_path: Path) -> None:
    """An empty listing would empty the index."""
    with pytest.raises(RootGone, match="cannot read"):
        discover(str(tmp_path / "missing"), RULES)


def test_a_directory_that_cannot_be_read_for_now_is_an_error(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """An input/output error of a network file system must not make files gone."""
    write(tree, "lib/a.py")
    real = os.scandir

    def scandir(where: str) -> object:
        if where.endswith("lib"):
            raise OSError(5, "Input/output error")
        return real(where)

    monkeypatch.setattr("ctxd.scan.walk.os.scandir", scandir)
    with pytest.raises(RootGone, match="Input/output"):
        listing(tree)


def test_tracked_files_in_a_directory_that_may_not_be_read_are_recorded(
    repository: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They exist, and nobody can look at them."""
    write(repository, "lib/a.py", "b.py")
    repository.commit()
    real = os.scandir

    def scandir(where: str) -> object:
        if where.endswith("lib"):
            raise PermissionError(13, "Permission denied")
        return real(where)

    monkeypatch.setattr("ctxd.scan.walk.os.scandir", scandir)
    assert skips(repository) == {"lib/a.py": "unreadable"}
    assert paths(repository) == ["b.py"]


def test_without_git_a_repository_is_listed_by_its_ignore_files(
    repository: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nested, exclude and global files count; the listing says that git was not there."""
    repository.write(".gitignore", "*.log\n")
    repository.write(".git/info/exclude", "mine/\n")
    write(repository, "a.py", "a.log", "mine/b.py", "lib/c.py", "lib/c.tmp")
    repository.write("lib/.gitignore", "*.tmp\n")
    with_git = paths(repository)
    monkeypatch.setenv("PATH", "/nowhere")
    found = listing(repository)
    assert [f.path for f in found.files] == with_git == [".gitignore", "a.py", "lib/.gitignore", "lib/c.py"]
    assert found.note == "git is not installed"


def test_the_excludes_file_of_the_user_counts(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Inside git and outside."""
    home = tree.root.parent / "home"
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/ignore").write_text("*.bak\n")
    monkeypatch.setenv("HOME", str(home))
    write(tree, "a.py", "a.bak")
    assert paths(tree) == ["a.py"]


def test_files_in_ignored_directories_are_counted_within_bounds(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree of which nothing is left may hide millions of files."""
    monkeypatch.setattr(module, "COUNTED", 3)
    write(tree, *(f"node_modules/{n}.js" for n in range(5)))
    assert (listing(tree).ignored, listing(tree).ignored_by) == (3, "index.ignore")
