"""Questions from a repository's own commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxclient.bench import history
from ctxclient.bench.datasets import Labelled, Span
from ctxclient.bench.git import Git
from ctxclient.bench.history import NAMED, PLAIN, Commit
from tests.tree import Tree


def labelled(tree: Tree, wanted: int = 100) -> Labelled:
    git = Git.at(str(tree.root))
    assert git is not None
    head = git.commit("HEAD")
    assert head is not None
    return history.labelled(git, "one", head, wanted)


def test_a_history_is_a_set(tmp_path: Path) -> None:
    """Newest first; files that are gone, merges, reverts, huge commits and short subjects make no question."""
    tree = Tree(tmp_path / "one")
    tree.write("src/pool.py", "1")
    tree.write("src/gone.py", "1")
    tree.commit("Add the connection pool (#12)")
    tree.write("src/pool.py", "2")
    tree.write("tests/test_pool.py", "2")
    tree.write("CHANGES.md", "2")
    tree.commit("Close idle connections after a minute")
    tree.write("src/pool.py", "3")
    tree.commit("Fix typo")
    tree.git("switch", "-qc", "side")
    tree.write("src/side.py", "1")
    tree.commit("Write a file called side.py beside it")
    tree.git("switch", "-q", "main")
    tree.git("rm", "-q", "src/gone.py")
    tree.commit("Remove what nobody uses any more")
    tree.git("merge", "-q", "--no-ff", "-m", "Merge the branch side into main", "side")
    tree.git("revert", "--no-edit", "HEAD~1")
    for number in range(13):
        tree.write(f"src/many{number}.py", "1")
    tree.commit("Change thirteen files at once")

    found = labelled(tree)

    assert {one.query: (one.category, one.relevant, one.secondary) for one in found.questions} == {
        "Write a file called side.py beside it": (NAMED, (Span("src/side.py"),), ()),
        "Close idle connections after a minute": (
            PLAIN,
            (Span("src/pool.py"),),
            (Span("CHANGES.md"), Span("tests/test_pool.py")),
        ),
        "Add the connection pool": (NAMED, (Span("src/gone.py"), Span("src/pool.py")), ()),
    }
    assert labelled(tree) == found
    assert [one.query for one in labelled(tree, 1).questions] == [found.questions[0].query]


@pytest.mark.parametrize(
    ("subject", "named"),
    [
        ("Fix the pool", True),
        ("Fix src/pool.py", True),
        ("Pools are fixed", False),
        ("Fix the whirlpool", False),
    ],
)
def test_a_subject_names_a_file_by_whole_words(subject: str, named: bool) -> None:
    """By its name or all words of its stem."""
    assert history.names(subject, "src/pool.py") is named


def test_words_of_a_stem_come_in_a_row() -> None:
    """read_file is named by `read file`, not by `file` or `read the file`."""
    said = ["the read file call", "the file", "read the file", "READ-FILE"]

    assert [history.names(each, "src/read_file.c") for each in said] == [True, False, False, True]


@pytest.mark.parametrize("subject", ["Revert things done before", "fixup! Add the pool again", "merge the two pools"])
def test_what_undoes_or_joins_is_no_question(subject: str) -> None:
    """Its subject speaks of another commit."""
    assert history.question(Commit("1", subject, ("a.py",)), {"a.py"}) is None


def test_a_commit_of_tests_alone_is_no_question() -> None:
    """What it says is not about a source."""
    assert history.question(Commit("1", "Test the pool more", ("tests/a.py", "x.md")), {"tests/a.py", "x.md"}) is None
