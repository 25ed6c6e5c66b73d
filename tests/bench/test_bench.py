"""The bench itself: its tree is the same for a seed, its questions have the words asked for, its ratios are ratios."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from tests.bench import measure, sources


def test_the_generated_tree_depends_on_the_seed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two runs measure the same bytes; another seed gives others."""
    monkeypatch.setattr(sources, "FILES", 5)

    one, same, other = (sources.generated(tmp_path / name, seed) for name, seed in (("a", 1), ("b", 1), ("c", 2)))

    texts = [[path.read_text() for path in source.paths] for source in (one, same, other)]
    assert texts[0] == texts[1] != texts[2]
    assert len(one.paths) == 5 and one.size_bytes > 10_000


def test_questions_have_the_words_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each question of n words has n words of the source."""
    monkeypatch.setattr(sources, "FILES", 3)
    source = sources.generated(tmp_path / "a", 1)

    asked = sources.questions(source, 5, 10, Random(1))

    assert [len(text.split()) for text in asked] == [5] * 10


def test_a_ratio_needs_a_baseline() -> None:
    """Value over baseline, or none."""
    assert measure.Figure("s", "w", 6.0, "ms", "b", 3.0).ratio == 2.0
    assert measure.Figure("s", "w", 6.0, "ms").ratio is None
