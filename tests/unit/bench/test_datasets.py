"""Labelled sets as files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ctxclient.bench import datasets
from ctxclient.bench.datasets import Labelled, Question, Repository, SetInvalid, Span

REPOS = [{"name": "one", "language": "c", "url": "https://example.org/one", "commit": "ab" * 20, "root": None}]
LABELS = [
    {"query": "where", "category": "semantic", "relevant": ["a.c", {"path": "b.c", "start_line": 3, "end_line": 9}]},
    {"query": "f", "category": "symbol", "relevant": ["a.c"], "secondary": [{"path": "c.c", "start_line": 5}], "x": 1},
]


def lay(folder: Path, repos: object = REPOS, labels: object = LABELS) -> str:
    (folder / "labels").mkdir()
    (folder / "repos.json").write_text(json.dumps(repos))
    (folder / "labels" / "one.json").write_text(json.dumps(labels))
    return str(folder)


def test_a_set_is_read(tmp_path: Path) -> None:
    """Places are paths or spans; what is not known is passed over."""
    (found,) = datasets.load(lay(tmp_path))

    assert found.repository == Repository("one", "c", "ab" * 20, "https://example.org/one")
    assert found.questions == (
        Question("where", "semantic", (Span("a.c"), Span("b.c", 3, 9))),
        Question("f", "symbol", (Span("a.c"),), (Span("c.c", 5, 5),)),
    )


def test_what_is_saved_is_what_is_loaded(tmp_path: Path) -> None:
    """The format goes both ways."""
    first = datasets.load(lay(tmp_path))

    datasets.save(str(tmp_path / "again"), first)

    assert datasets.load(str(tmp_path / "again")) == first


@pytest.mark.parametrize(
    ("repos", "labels", "said"),
    [
        (REPOS, [{"query": "q"}], "has no answer"),
        (REPOS, {"query": "q"}, "no part of a labelled set"),
        ([{"name": "one"}], LABELS, "no part of a labelled set"),
        ([{**REPOS[0], "name": "../one"}], LABELS, "no name of a folder"),
        ([{**REPOS[0], "name": "two"}], LABELS, "cannot be read"),
    ],
)
def test_what_is_no_set_is_refused(tmp_path: Path, repos: object, labels: object, said: str) -> None:
    """The message says which file, and why."""
    with pytest.raises(SetInvalid, match=said):
        datasets.load(lay(tmp_path, repos, labels))


def test_a_set_is_narrowed() -> None:
    """By name, language and category; a repository without questions left is left out."""
    one = Question("q", "symbol", (Span("a"),))
    all = [
        Labelled(Repository("one", "c", ""), (one, Question("r", "semantic", (Span("b"),)))),
        Labelled(Repository("two", "go", ""), (Question("s", "semantic", (Span("c"),)),)),
    ]

    assert datasets.narrowed(all, [], [], []) == all
    assert datasets.narrowed(all, ["two"], [], []) == all[1:]
    assert datasets.narrowed(all, [], [], ["c"]) == all[:1]
    assert datasets.narrowed(all, [], ["symbol"], []) == [Labelled(all[0].repository, (one,))]
    with pytest.raises(SetInvalid) as refused:
        datasets.narrowed(all, ["tow"], [], [])
    assert refused.value.hint == "it has: one, two"
    with pytest.raises(SetInvalid, match="no question left"):
        datasets.narrowed(all, ["two"], ["symbol"], [])
