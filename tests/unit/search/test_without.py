"""Parts of a score that are left out."""

from __future__ import annotations

import pytest

from ctxd.search.filters import Scope
from ctxd.search.ranking import weights
from ctxd.search.run import search
from ctxprotocol.errors import UsageFailed
from tests.indexed import Index, lay

FILES = {
    "src/parser.py": "def read(text):\n    return text\n",
    "src/words.py": "def parse(text):\n    parser = text  # the parser of the text, a parser\n    return parser\n",
    "tests/test_parser.py": "def test_parser():\n    parser = 1\n    assert parser\n",
}


@pytest.fixture
def index(tmp_path: object) -> Index:
    lay(f"{tmp_path}/tree", FILES)
    index = Index(f"{tmp_path}/tree", f"{tmp_path}/index.db")
    index.take()
    return index


def order(index: Index, question: str, *without: str) -> list[str]:
    with index.snapshot() as snapshot:
        found = search(snapshot, question, Scope(), weights.named(without)).scored
    return list(dict.fromkeys(one.candidate.file.path for one in found))


def test_an_order_changes_with_what_is_left_out(index: Index) -> None:
    """A test file comes last only because of the factor for tests."""
    assert order(index, "parser asserted")[0] != "tests/test_parser.py"
    assert order(index, "parser asserted", "tests")[0] == "tests/test_parser.py"


def test_every_printed_part_can_be_left_out(index: Index) -> None:
    """What --explain prints has a name that is known, and is not printed when it is left out."""
    for question in ("parser", "parse text", "where is read used", "src/words.py:2"):
        with index.snapshot() as snapshot:
            printed = {name for one in search(snapshot, question, Scope()).scored for name, _ in one.parts}
            assert printed and printed <= set(weights.FEATURES)
            for name in printed:
                rest = search(snapshot, question, Scope(), weights.named([name])).scored
                assert all(part != name for one in rest for part, _ in one.parts)


@pytest.mark.parametrize("name", ["file name", "file-name", "FileName"])
def test_a_name_is_known_however_it_is_written(name: str) -> None:
    """A space on the command line needs quotes; a dash does not."""
    assert weights.named([name]) == {"file name"}


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    """A misspelt name must not measure nothing."""
    with pytest.raises(UsageFailed) as refused:
        weights.named(["path", "coherense"])

    assert refused.value.hint == "did you mean coherence?"
