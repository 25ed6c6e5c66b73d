"""`ctx bench` from the command line to its files, on small repositories."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.home import Home
from tests.tree import Tree

PARSER = 'def parse(text):\n    """Split a text into words."""\n    return text.split()\n'
CACHE = 'def remember(key, value):\n    """Keep a value until it expires."""\n    KEPT[key] = value\n\n\nKEPT = {}\n'


@pytest.fixture
def small(tmp_path: Path) -> Tree:
    """A repository of two sources and two commits."""
    tree = Tree(tmp_path / "clones" / "small")
    tree.write("src/parser.py", PARSER)
    tree.commit("Split texts into single words")
    tree.write("src/cache.py", CACHE)
    tree.commit("Keep values until they expire")
    return tree


@pytest.fixture
def folder(small: Tree, tmp_path: Path) -> Path:
    """A labelled set on it, with a second repository that nobody cloned."""
    labels = [
        {"query": "how is a text split", "category": "semantic", "relevant": ["src/parser.py"], "secondary": []},
        {
            "query": "remember",
            "category": "symbol",
            "relevant": [{"path": "src/cache.py", "start_line": 1, "end_line": 3}],
        },
    ]
    repos = [
        {
            "name": "small",
            "language": "python",
            "url": "u",
            "commit": small.git("rev-parse", "HEAD").strip(),
            "root": "src",
        },
        {"name": "absent", "language": "c", "url": "https://example.org/a", "commit": "ab" * 20, "root": None},
    ]
    place = tmp_path / "set"
    (place / "labels").mkdir(parents=True)
    (place / "repos.json").write_text(json.dumps(repos))
    for name in ("small", "absent"):
        (place / "labels" / f"{name}.json").write_text(json.dumps(labels))
    return place


def test_a_set_is_measured_compared_and_drawn(ctx: Home, folder: Path, small: Tree, tmp_path: Path) -> None:
    """Every answer is right, on the source folder and on the whole; what cannot be measured is said, exit code 4."""
    args = ("--set", str(folder), "--clones", str(small.root.parent))
    files = ("--out", "run.json", "--chart", "chart.svg")

    first = ctx.json("bench", *args, *files, "--only", "small", cwd=tmp_path)
    second = ctx.run("bench", *args, "--whole", "--compare", "run.json", "--without", "file-name,path", cwd=tmp_path)

    assert first["summary"]["all"]["ndcg_10"] == 1.0 and first["summary"]["all"]["questions"] == 2
    assert [each["recall"] for each in first["summary"]["all"]["budgets"]] == [1.0] * 5
    assert all(0 < each["named"] < each["read"] <= each["tokens"] for each in first["summary"]["all"]["budgets"])
    assert [each["coded"] for each in first["summary"]["all"]["budgets"]] == [1.0] * 5
    assert (tmp_path / "chart.svg").read_text().startswith("<svg")
    assert second.returncode == 4, second.stderr
    assert "1 repository, 2 questions, whole repositories" in second.stdout
    assert "2 questions in both: 0 better, 0 worse" in second.stdout
    assert "path, file name" in second.stdout
    assert "not measured: absent: no git repository of that name (clone https://example.org/a there)" in second.stdout
    assert "/bench/small/" in ctx.run("repos", cwd="/").stdout


def test_a_history_is_measured_and_saved(ctx: Home, small: Tree, tmp_path: Path) -> None:
    """What it saves is a set of the same format, with the same figures; an export can be forgotten again."""
    own = ctx.json("bench", "--history", "--save", "../../mine", cwd=small.root)
    set = ("--set", "mine", "--clones", str(small.root.parent))
    again = ctx.json("bench", *set, "--forget", cwd=tmp_path)

    assert own["summary"]["all"]["questions"] == 2 and own["summary"]["all"]["hit_1"] == 1.0
    assert again["summary"]["all"]["ndcg_10"] == own["summary"]["all"]["ndcg_10"]
    assert "/bench/small/" not in ctx.run("repos", cwd="/").stdout


def test_a_plain_folder_is_timed(ctx: Home, tmp_path: Path) -> None:
    """Without history there is only speed."""
    Tree(tmp_path / "plain", git=False).write("parser.py", PARSER)

    done = ctx.run("bench", "plain", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert "find in the daemon, words" in done.stdout and "NDCG" not in done.stdout


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("--set", "set"), "name the folder that holds them: --clones DIR"),
        (("--set", "set", "--clones", ".", "x"), "--set brings its own repositories"),
        (("--set", "none", "--clones", "."), "none/repos.json cannot be read"),
        (("--history", "/"), "has no history"),
        (("plain", "--without", "coherense"), "did you mean coherence?"),
        (("plain", "--budget", "5x"), "--budget takes numbers of tokens"),
        (("plain", "--compare", "plain/parser.py"), "is no run of ctx bench"),
        (("plain", "--chart", "chart.svg"), "there is no question"),
        (("plain", "--out", "none/run.json"), "none/run.json cannot be written"),
        (("plain", "--chart", "plain/parser.py/chart.svg"), "cannot be written"),
        (("plain", "--save", "plain/parser.py"), "plain/parser.py cannot be written"),
        (("--set", "empty", "--clones", "."), "the set has no repository"),
    ],
)
def test_mistakes_are_answered_before_anything_is_measured(
    ctx: Home, tmp_path: Path, args: tuple[str, ...], said: str
) -> None:
    """Usage, exit code 2."""
    Tree(tmp_path / "plain", git=False).write("parser.py", PARSER)
    Tree(tmp_path / "empty", git=False).write("repos.json", "[]")

    done = ctx.run("bench", *args, cwd=tmp_path)

    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr
