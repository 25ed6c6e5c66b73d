"""Plain BM25: windows, and the best one of a file."""

from __future__ import annotations

import contextlib
from pathlib import Path

from ctxclient.bench.datasets import Labelled, Question, Repository, Span
from tests.ranking import baseline


def test_a_file_counts_with_its_best_window(tmp_path: Path) -> None:
    """The window that has the words comes, once per file, with its lines."""
    lines = ["nothing here"] * 100
    lines[60] = "the parser reads a number"
    (tmp_path / "long.py").write_text("\n".join(lines))
    (tmp_path / "short.py").write_text("a number\n")
    (tmp_path / "image.png").write_bytes(b"parser\0number")

    with contextlib.closing(baseline.indexed(str(tmp_path))) as database:
        found = baseline.results(database, "parsers: number?")

    assert found == [Span("long.py", 41, 80), Span("short.py", 1, 40)]


def test_words_are_no_operators(tmp_path: Path) -> None:
    """Quotes, brackets and AND in a question are words or nothing; a question without words finds nothing."""
    (tmp_path / "a.py").write_text("and near\n")

    with contextlib.closing(baseline.indexed(str(tmp_path))) as database:
        assert [each.path for each in baseline.results(database, '"AND* NEAR(')] == ["a.py"]
        assert baseline.results(database, "?!") == []


def test_ranks_are_of_relevant_files(tmp_path: Path) -> None:
    """A question whose file does not come has rank 0."""
    (tmp_path / "a.py").write_text("apple\n")
    (tmp_path / "b.py").write_text("apple pear\n")
    found = Question("apple pear", "", (Span("b.py"),)), Question("plum", "", (Span("a.py"),))
    labelled = Labelled(Repository("fruit", "python", "0"), found)

    assert [(rank, gain) for _, rank, gain in baseline.ranks(labelled, str(tmp_path))] == [(1, 1.0), (0, 0.0)]
