"""Which place of a file comes first, and that the file keeps its worth among the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxd.search.filters import Scope
from ctxd.search.ranking import weights
from ctxd.search.ranking.scored import Scored, placed
from ctxd.search.run import search
from tests.indexed import Index, lay

# The words stand in `gather`, the name says what `purge_session` does.
FILE = """import session_store


def gather(items):
    # purge: old sessions of a visitor, and what the visitor of an old session left; purge it
    return [one.session for one in items]


def purge_session(key):
    # of the old ones
    return key


class Session:
    pass
"""
OTHER = "def other(sessions):\n    # old visitors, their session\n    return sessions\n"
QUESTION = "purge the old session of a visitor"


@pytest.fixture
def index(tmp_path: Path) -> Index:
    lay(f"{tmp_path}/tree", {"a.py": FILE, "b.py": OTHER})
    made = Index(f"{tmp_path}/tree", f"{tmp_path}/index.db")
    made.take()
    return made


def found(index: Index, question: str, *without: str) -> list[Scored]:
    with index.snapshot() as snapshot:
        return list(search(snapshot, question, Scope(), weights.named(without)).scored)


def name_of(one: Scored) -> str:
    return one.candidate.symbol.name if one.candidate.symbol else ""


def test_the_place_that_is_called_so_is_the_first_of_its_file(index: Index) -> None:
    """Where words are densest says which file it is; a name that says what is asked, where in it."""
    assert name_of(found(index, QUESTION, "place")[0]) == "gather"
    assert name_of(found(index, QUESTION)[0]) == "purge_session"


def test_files_keep_their_worth(index: Index) -> None:
    """The scores of a file's places are the same ones, given to others; so are the files in their order."""
    before, after = found(index, QUESTION, "place", "saturation"), found(index, QUESTION, "saturation")
    for path in ("a.py", "b.py"):
        old, new = (sorted(x.score for x in y if x.candidate.file.path == path) for y in (before, after))
        assert old == pytest.approx(new)
    assert len({one.candidate.place for one in after}) == len(before)


def test_every_score_is_the_sum_of_its_parts(index: Index) -> None:
    """What was given and taken stands among them, and cancels out within a file."""
    every = found(index, QUESTION)
    for one in every:
        assert one.score == pytest.approx(sum(value for _, value in one.parts), abs=1e-5)
    moved = [value for one in every for name, value in one.parts if name == "place"]
    assert len(moved) >= 2 and sum(moved) == pytest.approx(0.0)


def test_imports_come_last_in_their_file(index: Index) -> None:
    """They only say what the file has from elsewhere, and never lead it."""
    kinds = [one.candidate.chunks[0].kind for one in found(index, "session store") if one.candidate.file.path == "a.py"]
    assert "imports" in kinds and kinds[-1] == "imports"


IMPORTER = """from session_store import purge_all


def gather(items):
    # what the visitor imports: purge the session of a visitor
    return items
"""


@pytest.mark.parametrize("question", ['"session_store" session visitor', "who imports purge_all for the visitor"])
def test_imports_that_were_asked_for_come_first(tmp_path: Path, question: str) -> None:
    """A text that stands there alone, or the use of a name, is what was sought."""
    lay(f"{tmp_path}/tree", {"a.py": IMPORTER})
    made = Index(f"{tmp_path}/tree", f"{tmp_path}/index.db")
    made.take()
    assert found(made, question)[0].candidate.line_start == 1


def test_no_score_is_negative(index: Index) -> None:
    """However little one holds."""
    assert all(one.score >= 0.0 for question in (QUESTION, "store", "key") for one in found(index, question))


def test_a_definition_that_was_asked_for_stays_where_it_is(index: Index) -> None:
    """With a tier in the file nothing is given away."""
    every = found(index, "Session")
    assert name_of(every[0]) == "Session" and every[0].tier
    assert not any(name == "place" for one in every for name, _ in one.parts)


def scored(one: Scored, *parts: tuple[str, float]) -> Scored:
    return Scored(one.candidate, sum(value for _, value in parts), parts)


def places(every: list[Scored]) -> list[tuple[str, float]]:
    return [(name_of(one), round(one.score, 6)) for one in placed(every)]


@pytest.fixture
def two(index: Index) -> tuple[Scored, Scored]:
    """Two places of one file, `gather` before `purge_session`."""
    one, other = sorted(
        (one for one in found(index, QUESTION, "place", "saturation") if name_of(one) in ("gather", "purge_session")),
        key=lambda one: one.candidate.line_start,
    )
    return one, other


def test_what_lowers_a_place_lowers_its_own_worth(two: tuple[Scored, Scored]) -> None:
    """Of two places that say the same, the fragment is not the first of the file."""
    tiny = scored(two[0], ("lexical", 1.0), ("file name", 0.6), ("tiny", -0.5))
    full = scored(two[1], ("lexical", 1.0))

    assert places([tiny, full]) == [("purge_session", 1.1), ("gather", 1.0)]


def test_places_that_say_the_same_stand_in_the_order_of_lines(two: tuple[Scored, Scored]) -> None:
    """Whatever order they come in, and whatever their file says."""
    early, late = scored(two[0], ("lexical", 1.0)), scored(two[1], ("lexical", 1.0), ("coherence", 0.8))

    assert places([late, early]) == places([early, late]) == [("gather", 1.8), ("purge_session", 1.0)]


@pytest.mark.parametrize(
    ("own", "worth"),
    [
        ("lexical", 1.0), ("coverage", 1.0), ("literal", 1.0), ("phrase", 1.0), ("uses", 1.0), ("kind", 1.0),
        ("owner", 1.0), ("name", 2.0), ("definition", 2.0), ("semantic", 0.5), ("file name", 0.0), ("exports", 0.0),
    ],
)  # fmt: skip
def test_what_each_part_says_of_the_place(two: tuple[Scored, Scored], own: str, worth: float) -> None:
    """Names count twice, nearness half, what is the file's nothing."""
    held, other = scored(two[1], (own, 1.0)), scored(two[0], ("lexical", max(worth - 0.01, 0.0)), ("path", 0.3))
    more = scored(two[0], ("lexical", worth + 0.01), ("path", 0.3))

    assert places([other, held])[0][0] == ("purge_session" if worth else "gather")
    assert places([more, held])[0][0] == "gather"
