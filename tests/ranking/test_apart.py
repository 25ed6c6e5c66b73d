"""What counts as a word that a question and a place share."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxclient.bench.datasets import Span
from tests.ranking.apart import shared

CODE = "import os\n\n\nclass BrokenLinkEmails:\n    def sends(self):\n        return 1\n"


@pytest.mark.parametrize(
    ("question", "both"),
    [
        ("letters about dead hyperlinks", set()),
        ("how do we email them", {"email"}),
        ("the linking breaks", {"link"}),
        ("sending a post", {"send", "post"}),
        ("what imports", set()),
    ],
)
def test_words_are_shared_by_stem_in_lines_and_path(question: str, both: set[str], tmp_path: Path) -> None:
    """Parts of identifiers count, function words and other lines of the file do not."""
    (tmp_path / "posting.py").write_text(CODE)

    assert shared(question, str(tmp_path), Span("posting.py", 4, 6)) == both
