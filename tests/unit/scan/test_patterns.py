"""Our reading of ignore files is git's: each pattern and path is put to both."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from ctxd.scan import patterns
from ctxd.scan.git import Repository
from ctxd.scan.patterns import Patterns
from tests.tree import Tree

LINES = [
    "*", "!*.py", "dist/", "dist", "/dist", "a/b", "/a/b/", "a/**", "**/b", "a/**/c", "*.py[co]", "!a/", "\\!x",
    "\\#x", "# x", "", "x\\ ", "x ", "[!a]b", "a?c", "**", "/", "**/", "*/", "a/*", "!/a/b", "[a-c]x", "*.x*", "é*",
    "b/**/", "?", "a.*", "!*", "*a*b*c*", "x/y/z", "**/a/b", "a/b/**", "[]x]", "{a,b}",
]  # fmt: skip
PATHS = [
    "a", "b", "c", "x", "dist", "a/b", "a/c", "a/b/c", "b/a/b", "dist/x", "x.py", "a/x.pyc", "!x", "#x", "x ", "cb",
    "abc", "a/x/c", "a/x/y/c", "éa", "x/y/z", "y/x/y/z", "ax", "]x", "q.xy", "b/b", "{a,b}", "a/dist", "z",
]  # fmt: skip


@pytest.mark.parametrize("seed", range(12))
def test_ignore_files_mean_what_git_takes_them_to_mean(tmp_path: Path, seed: int) -> None:
    """Random ignore files of one to four patterns, an entry's directories first, as a walk asks."""
    rng = random.Random(seed)
    print(f"seed {seed}")
    tree = Tree(tmp_path / "r")
    for path in sorted(PATHS, key=len, reverse=True):
        if not tree.path(path).exists():
            tree.write(path, "")
    entries = sorted({str(p.relative_to(tree.root)) for p in tree.root.rglob("*") if ".git" not in p.parts})
    repository = Repository.at(str(tree.root))
    assert repository is not None
    for _ in range(12):
        lines = rng.choices(LINES, k=rng.randint(1, 4))
        tree.write(".gitignore", "\n".join(lines) + "\n")
        ours = Patterns(lines)
        said = repository.ignored(entries)
        hidden: set[str] = {".gitignore"}
        for entry in entries:
            above = os.path.dirname(entry)
            if above in hidden or entry in hidden:
                hidden.add(entry)
                continue
            is_directory = tree.path(entry).is_dir()
            verdict = bool(ours.verdict(entry + "/" * is_directory))
            assert verdict == (entry in said), (lines, entry)
            if verdict:
                hidden.add(entry)


def test_the_rule_that_decided_is_named_by_file_and_line() -> None:
    """The last pattern that matches decides."""
    ours = Patterns(["*.log", "", "# no", "keep.log", "!keep.log"], "a/", "a/.gitignore")
    assert (ours.verdict("a/x.log"), ours.rule("a/x.log")) == (True, "a/.gitignore:1")
    assert (ours.verdict("a/keep.log"), ours.rule("a/keep.log")) == (False, "a/.gitignore:5")
    assert ours.verdict("a/x.py") is None


def test_a_hostile_pattern_costs_no_time() -> None:
    """Backtracking would need longer than the sun has."""
    hostile = Patterns(["*a" * 40 + "b", "*" * 200 + "x"])
    assert hostile.verdict("a" * 4_000) is None


@pytest.mark.parametrize("directory", ["build", "build/api", "a/x"])
def test_a_pattern_that_takes_back_leads_into_ignored_directories(directory: str) -> None:
    """`!build/api/x.py` has to be looked for."""
    assert Patterns(["!build/api/x.py", "!a/*/keep"]).leads(directory)


@pytest.mark.parametrize("directory", ["builds", "build/other", "b", "api"])
def test_other_directories_stay_closed(directory: str) -> None:
    """A name without a `/` opens nothing, as in git."""
    assert not Patterns(["!build/api/x.py", "!b", "!*.log", "a/b"]).leads(directory)


def test_an_ignore_file_that_is_no_small_file_is_none(tmp_path: Path) -> None:
    """A link could lead out of the root, a FIFO would never end; a directory may have any name."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("/etc/hosts")
    (tmp_path / "large").write_bytes(b"*\n" * 600_000)
    (tmp_path / "folder").mkdir()
    for name in ("fifo", "link", "large", "missing", "folder"):
        assert patterns.read(str(tmp_path / name), "", name) is None


def test_windows_line_ends_and_a_byte_order_mark_are_no_part_of_a_pattern(tmp_path: Path) -> None:
    """Editors on Windows write both."""
    (tmp_path / ".gitignore").write_bytes("\ufeff*.log\r\nsrc\r\n".encode())
    read = patterns.read(str(tmp_path / ".gitignore"), "", ".gitignore")
    assert read is not None
    assert read.verdict("a.log") and read.verdict("src/")
