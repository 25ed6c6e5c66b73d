"""Names with slips, among many: what is near is found, whatever else is there, and in bounded time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from ctxd.search.filters import ALL
from ctxd.search.question.plan import plan
from ctxd.search.ranking import naming
from ctxd.store import driver, spelling
from ctxd.store.lexicon import Lexicon
from ctxd.store.snapshot import Snapshot
from tests.indexed import Index, lay

# More that share a beginning, and letters, than are looked at one by one.
MANY = 3_000


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    place = tmp_path_factory.mktemp("names")
    names = [f"test_case_{n}" for n in range(MANY)] + ["test_zone_transfers", "handle_zebra", "größe_prüfen", "ab"]
    lay(str(place / "tree"), {"names.py": "".join(f"def {name}(): pass\n" for name in names)})
    Index(str(place / "tree"), str(place / "index.db")).take()
    connection = driver.open_reader(str(place / "index.db"))
    yield Snapshot(connection, 1)
    connection.close()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("test_zone_tranfers", "test_zone_transfers"),
        ("est_zone_transfers", "test_zone_transfers"),
        ("testZoneTransfersx", "test_zone_transfers"),
        ("handel_zebra", "handle_zebra"),
        ("andle_zebra", "handle_zebra"),
        ("größe_prüfn", "größe_prüfen"),
        ("rösse_zebra", ""),
        ("abc", ""),
        ("", ""),
        ("🎉🎉🎉🎉🎉", ""),
        ("x" * 8_000, ""),
    ],
)
def test_a_slip_is_found_among_many(snapshot: Snapshot, typed: str, meant: str) -> None:
    """Neither a beginning that thousands share nor letters that they share hide the one that is meant."""
    assert next(spelling.close_names(snapshot, typed), ()) == ((meant,) if meant else ())


def test_few_unknown_names_and_words_are_looked_up(snapshot: Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace of another program has a hundred names that nothing is called; each look-up may read all names."""
    asked: list[str] = []
    monkeypatch.setattr(spelling, "close_names", lambda _, name: asked.append(name) or iter(()))
    monkeypatch.setattr(spelling, "close_word", lambda _, word: asked.append(word) or "")
    text = " ".join([*(f"fooBarBaz{n}Quux" for n in "abcdefghij"), *(f"wort{n}lein" for n in "abcdefghij")])
    book = Lexicon(snapshot)

    naming.definitions(snapshot, book, naming.mended(snapshot, book, plan(text)), ALL)

    assert len([name for name in asked if name.startswith("foo")]) == 3
    assert len([word for word in asked if word.startswith("wort")]) <= 6
