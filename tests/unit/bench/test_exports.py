"""A commit's files in the cache, from real repositories, friendly and not."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from ctxclient.bench.datasets import Repository
from ctxclient.bench.exports import exported, is_safe, snapshot
from ctxclient.bench.git import Git, GitFailed
from tests.tree import Tree


def files(place: str) -> dict[str, bytes]:
    return {
        os.path.relpath(os.path.join(folder, name), place): Path(folder, name).read_bytes()
        for folder, _, names in os.walk(place)
        for name in names
    }


@pytest.fixture
def one(tmp_path: Path) -> Tree:
    """A repository of two commits: `first` is tagged, HEAD has a file more."""
    tree = Tree(tmp_path / "clones" / "one")
    tree.write("src/a.py", "a = 1\n")
    tree.write("src/deep/b.py", "b = 1\n")
    tree.write("README.md", "read\n")
    tree.path("link").symlink_to("/etc/passwd")
    tree.commit()
    tree.git("tag", "first")
    tree.write("src/c.py", "c = 1\n")
    tree.commit()
    return tree


def export(tree: Tree, commit: str, tmp_path: Path, root: str = "", **options: bool):
    repository = Repository("one", "python", commit, root=root or None)
    settings = {"whole": False, "any_commit": False} | options
    return exported(repository, str(tree.root.parent), str(tmp_path / "cache"), **settings)


def test_a_commit_is_written_and_used_again(one: Tree, tmp_path: Path) -> None:
    """Regular files of that commit, byte for byte; links are counted, not made; the second time nothing is written."""
    first = one.git("rev-parse", "first").strip()

    found = export(one, first, tmp_path)
    Path(found.place, "mark").write_text("kept")
    again = export(one, first, tmp_path)

    assert again == found and found.exact and found.commit == first
    assert (found.files, found.missing, found.left_out) == (3, 0, 1)
    assert sorted(files(again.place)) == ["README.md", "mark", "src/a.py", "src/deep/b.py"]


def test_only_the_folder_or_the_whole(one: Tree, tmp_path: Path) -> None:
    """The folder to index is its own tree; the whole lies beside it."""
    head = one.git("rev-parse", "HEAD").strip()

    folder = export(one, head, tmp_path, "src")
    whole = export(one, head, tmp_path, "src", whole=True)

    assert sorted(files(folder.place)) == ["a.py", "c.py", "deep/b.py"]
    assert sorted(files(whole.place)) == ["README.md", "src/a.py", "src/c.py", "src/deep/b.py"]
    with pytest.raises(GitFailed, match="no folder nowhere"):
        export(one, head, tmp_path, "nowhere")


def test_a_commit_that_is_not_there(one: Tree, tmp_path: Path) -> None:
    """It is said, with what to do; HEAD is taken only when that is asked for, and marked."""
    with pytest.raises(GitFailed) as refused:
        export(one, "ab" * 20, tmp_path)
    found = export(one, "ab" * 20, tmp_path, any_commit=True)

    assert refused.value.message == "one: commit abababababab is not in the clone"
    assert "--any-commit" in refused.value.hint
    assert (found.exact, found.commit) == (False, one.git("rev-parse", "HEAD").strip())
    with pytest.raises(GitFailed, match="no git repository"):
        exported(Repository("two", "c", "ab"), str(tmp_path), str(tmp_path), whole=True, any_commit=True)


def test_an_interrupted_export_is_written_anew(one: Tree, tmp_path: Path) -> None:
    """A folder without its record is none."""
    found = export(one, "first", tmp_path)
    os.unlink(os.path.join(os.path.dirname(found.place), "export.json"))
    os.unlink(os.path.join(found.place, "README.md"))

    again = export(one, "first", tmp_path)

    assert again == found and "README.md" in files(again.place)
    assert os.listdir(os.path.dirname(os.path.dirname(found.place))) == [os.path.basename(os.path.dirname(found.place))]


def test_nothing_of_the_repository_is_run(one: Tree, tmp_path: Path) -> None:
    """Filters, hooks, monitors, external diffs and signature programs stay unasked; bytes are those of the commit."""
    trap = tmp_path / "trapped"
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ntouch '{trap}'\ncat\n")
    program.chmod(0o755)
    one.write(".gitattributes", "*.py filter=evil diff=evil text eol=crlf ident working-tree-encoding=UTF-16\n")
    one.git("-c", "core.autocrlf=false", "add", ".gitattributes")
    one.git("commit", "-qm", "attributes")
    for key in (
        *("filter.evil.smudge", "filter.evil.clean", "filter.evil.process", "diff.evil.textconv", "diff.external"),
        *("core.fsmonitor", "core.sshCommand", "gpg.program", "core.pager", "core.editor", "core.alternateRefsCommand"),
    ):
        one.git("config", key, str(program))
    one.git("config", "log.showSignature", "true")
    for hook in ("post-checkout", "reference-transaction", "post-index-change"):
        path = one.write(f".git/hooks/{hook}", program.read_text())
        path.chmod(0o755)

    found = export(one, "HEAD", tmp_path)

    assert files(found.place)["src/a.py"] == b"a = 1\n"
    assert not trap.exists()
    subprocess.run(["git", "checkout-index", "-f", "src/a.py"], cwd=one.root, check=False, capture_output=True)
    assert trap.exists(), "the trap is set"


def test_what_a_partial_clone_lacks_is_counted_and_not_fetched(one: Tree, tmp_path: Path) -> None:
    """The rest is written, and nobody is asked for more: not even where the origin is a program."""
    one.git("config", "uploadpack.allowFilter", "true")
    one.git("config", "uploadpack.allowAnySHA1InWant", "true")
    clones = Tree(tmp_path / "partial", git=False)
    clones.git("clone", "-q", "--bare", "--filter=blob:none", f"file://{one.root}", "one")
    bare = Tree(clones.root / "one", git=False)
    bare.git("cat-file", "blob", "HEAD:src/a.py")  # this one has been fetched before
    trap = tmp_path / "trapped"
    bare.git("config", "remote.origin.url", f"ext::sh -c touch% {trap}")
    bare.git("config", "protocol.ext.allow", "always")

    found = export(bare, "HEAD", tmp_path)

    assert files(found.place) == {"src/a.py": b"a = 1\n"}
    assert (found.files, found.missing, found.left_out) == (1, 3, 1)
    assert not trap.exists()
    subprocess.run(["git", "cat-file", "blob", "HEAD:README.md"], cwd=bare.root, check=False, capture_output=True)
    assert trap.exists(), "the trap is set"


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        (b"src/a.py", True),
        (b".github/a.yml", True),
        (b"a..b/c", True),
        (b"../a", False),
        (b"src/../../a", False),
        (b"/etc/a", False),
        (b"a//b", False),
        (b".git/config", False),
        (b"sub/.GIT/hooks/x", False),
        (b".git. /config", False),
        (b"GIT~1/config", False),
        (b"a\\..\\b", False),
    ],
)
def test_only_paths_that_stay_inside_are_written(path: bytes, safe: bool) -> None:
    """Nor may an export look like a repository with hooks of its own."""
    assert is_safe(path) is safe


def test_a_forged_tree_writes_nothing_outside(one: Tree, tmp_path: Path) -> None:
    """Names that git itself would never store, and a file that is a folder too."""
    blob = bytes.fromhex(one.git("rev-parse", "HEAD:src/a.py").strip())
    folder = bytes.fromhex(one.git("rev-parse", "HEAD:src").strip())
    entries = [(b"100644", b"..", blob), (b"100644", b"a", blob), (b"40000", b"a", folder), (b"100644", b"ok", blob)]
    raw = b"".join(mode + b" " + name + b"\0" + oid for mode, name, oid in entries)
    made = subprocess.run(
        ["git", "hash-object", "-w", "-t", "tree", "--literally", "--stdin"],
        cwd=one.root,
        input=raw,
        capture_output=True,
        check=True,
    )
    commit = one.git("commit-tree", "-m", "forged", made.stdout.decode().strip()).strip()
    git = Git.at(str(one.root))
    assert git is not None

    found = snapshot(git, commit, str(tmp_path / "cache"))

    assert sorted(files(found.place)) == ["a", "ok"]
    assert found.files == 2 and found.left_out == 4
    assert sorted(os.listdir(tmp_path)) == ["cache", "clones"]


def test_where_a_repository_is(one: Tree, tmp_path: Path) -> None:
    """A work tree, a linked one, a bare directory; not a folder with a file called HEAD."""
    one.git("worktree", "add", "-q", str(tmp_path / "linked"))
    Tree(tmp_path, git=False).git("clone", "-q", "--bare", str(one.root), "bare")
    os.mkdir(tmp_path / "plain")
    (tmp_path / "plain" / "HEAD").write_text("ref: refs/heads/main\n")

    found = {name: Git.at(str(tmp_path / name)) for name in ("clones/one", "linked", "bare", "plain")}

    assert found["plain"] is None
    commits = [git.commit("HEAD") for git in found.values() if git is not None]
    assert commits == [one.git("rev-parse", "HEAD").strip()] * 3
    inside = Git.around(str(one.root / "src" / "deep"))
    assert inside is not None and inside[1] == str(one.root)
