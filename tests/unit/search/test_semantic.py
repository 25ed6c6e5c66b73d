"""When vectors speak: for prose that words find little of, when all of them are there, or when they are asked for."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, cast

import pytest

from ctxd.model import Freshness, Meaning, Understood, View
from ctxd.search import run
from ctxd.search.ranking import semantic, weights
from ctxd.store import driver
from ctxd.store.cache import Cache
from ctxd.store.filling import Filled, begin, finish, keep, lacking, passages
from ctxprotocol.messages import Find
from tests.indexed import lay
from tests.unit.embed.hashing import MODEL, vector
from tests.unit.search.test_search import Room

FILES = {
    "src/store.py": "def remove(entry):\n    drop(entry)\n\n\ndef insert(entry, place):\n    keep(entry, place)\n",
    "src/pay.py": 'def wage(person):\n    """What a person gets."""\n    return person.hours * person.rate\n',
    "src/tree.py": "class Walker:\n    def descend(self, node):\n        return node.children\n",
    "tests/test_pay.py": "def test_wage():\n    assert wage(ada) == 1\n",
    **{f"src/other_{n}.py": f"def step_{n}(state):\n    return state + {n}\n" for n in range(30)},
}
# Of its words only "a" and "the" are in the files; "salary" means "wage" to the model.
BY_MEANING = "compute the salary"


class Forgetful:
    """A cache that keeps nothing."""

    def put(self, _key: bytes, _blob: bytes) -> None:
        """Forget."""


class Asked(Room):
    """A room whose chunks may have vectors. `questions` are those that were embedded."""

    def __init__(self, directory: Path, files: dict[str, str] = FILES) -> None:
        lay(str(directory / "tree"), files)
        super().__init__(str(directory / "tree"), str(directory / "index.db"))
        self.file = str(directory / "index.db")
        self.questions: list[str] = []
        self.trouble = ""

    def fill(self, *, left_out: str = "") -> None:
        """Give every chunk its vector, but for those of one file."""
        with self.index.snapshot() as snapshot:
            generation = snapshot.generation
            found = [one for file in lacking(snapshot) for one in passages(snapshot, file, 500)]
        kept = [Filled(one, b"", vector(one.name.replace("_", " "))) for one in found if one.path != left_out]
        connection = driver.open_writer(self.file)
        try:
            begin(connection, MODEL.name)
            for _ in keep(connection, MODEL.name, kept, cast(Cache, Forgetful())):
                pass
            if not left_out:
                finish(connection, generation)
        finally:
            connection.close()

    def _understand(self, text: str) -> Understood:
        self.questions.append(text)
        return Understood(trouble=self.trouble) if self.trouble else Understood(vector(text))

    def answer(self, text: str, **options: Any) -> dict[str, Any]:
        """Return what is found with a model at hand."""
        view = View(
            root=self.root,
            freshness=Freshness(fresh=True),
            started_ns=time.perf_counter_ns(),
            meaning=Meaning(MODEL.name, 1.0, self._understand),
        )
        request = Find(directory=b"/", text=text, output="json", explain=True, **options)
        with self.index.snapshot() as snapshot:
            made: dict[str, Any] = json.loads(run.find(snapshot, request, view).out)
        return made

    def names(self, text: str, **options: Any) -> list[str]:
        """Return the names of what is found."""
        return [one["name"] for one in self.answer(text, **options)["results"]]


@pytest.fixture
def room(tmp_path: Path) -> Asked:
    """All chunks have their vectors."""
    made = Asked(tmp_path)
    made.fill()
    return made


@pytest.fixture
def partial(tmp_path: Path) -> Asked:
    """All but those of one file have."""
    made = Asked(tmp_path)
    made.fill(left_out="src/tree.py")
    return made


def test_what_shares_no_word_is_found_by_meaning(room: Asked) -> None:
    """With its part of the score named, and the way it was found."""
    (first, *_) = room.answer(BY_MEANING)["results"]

    assert (first["name"], first["via"]) == ("wage", ["vector"])
    assert "semantic" in {part["feature"] for part in first["explain"]}
    assert "vector" in room.answer(BY_MEANING)["stats"]["strategies_used"]
    assert "wage" not in room.names(BY_MEANING, semantic=False)
    assert "wage" not in room.names(BY_MEANING, without=("semantic",))


@pytest.mark.parametrize("text", ["wage", "Walker.descend", "src/pay.py", "where is Walker.descend used"])
def test_who_names_something_is_not_answered_by_vectors(room: Asked, text: str) -> None:
    """A symbol question costs no embedding and never changes."""
    assert room.names(text) == room.names(text, semantic=False)
    assert room.questions == []


def test_partial_vectors_change_no_answer(partial: Asked) -> None:
    """What is answered must not depend on when it is asked."""
    assert partial.answer(BY_MEANING)["results"] == partial.answer(BY_MEANING, semantic=False)["results"]
    assert partial.answer(BY_MEANING)["warnings"] == []
    assert partial.questions == []


def test_who_asks_for_partial_vectors_gets_them_and_is_told(partial: Asked) -> None:
    """What is there is used."""
    found = partial.answer(BY_MEANING, semantic=True)

    assert found["results"][0]["name"] == "wage"
    assert found["warnings"] == [semantic.PARTIAL]


def test_who_asks_for_vectors_where_nothing_is_near_is_told(room: Asked) -> None:
    """What was found by words must not be taken for what is near; who did not ask is not told."""
    found = room.answer("how the hours of a person change", semantic=True)

    assert found["warnings"] == [semantic.FAR]
    assert found["results"]
    assert room.answer("how the hours of a person change")["warnings"] == []


def test_who_asks_for_vectors_where_there_are_none_is_told(tmp_path: Path) -> None:
    """Neither a model, nor one whose vectors are not there yet."""
    empty = Asked(tmp_path)

    assert empty.answer(BY_MEANING, semantic=True)["warnings"] == [semantic.PARTIAL]
    assert empty.questions == []
    made = json.loads(empty.ask(Find(directory=b"/", text="remove entry", output="json", semantic=True)).out)
    assert made["warnings"] == ["vectors: there are none here; ctx status says why"]


def test_a_model_that_fails_leaves_the_answer_of_words(room: Asked) -> None:
    """And one warning."""
    room.trouble = "the embedding process ended"

    found = room.answer("insert an entry at some place please")

    assert found["results"] == room.answer("insert an entry at some place please", semantic=False)["results"]
    assert found["warnings"] == ["vectors: the embedding process ended; this was found by words alone"]


def test_filters_hold_for_vectors(room: Asked) -> None:
    """The nearest chunk outside of what is asked for is not there."""
    assert set(room.names(BY_MEANING, paths=("tests/**",))) <= {"test_wage"}
    assert "wage" not in room.names(BY_MEANING, excludes=("src/pay.py",))


def test_what_is_like_nothing_finds_nothing(room: Asked) -> None:
    """The nearest of all chunks is not an answer by being nearest."""
    assert room.names("zyzzyva quuxly frobnication") == []
    assert room.names("zyzzyva quuxly frobnication", semantic=True) == []


@pytest.mark.parametrize(("text", "first"), [("wipe the state", "src/many.py"), ("please wipe quuxly", "src/lone.py")])
def test_words_that_find_something_make_the_file_count(tmp_path: Path, text: str, first: str) -> None:
    """Where they find the question, what is near lies where much is near; where they find nothing, it stands alone."""
    several = "".join(f"def erase_{name}(it):\n    return it.{name}\n\n\n" for name in "abc")
    room = Asked(tmp_path, {**FILES, "src/many.py": several, "src/lone.py": "def erase(it):\n    return it\n"})
    room.fill()

    found = [one["file"] for one in room.answer(text, limit=40)["results"] if one["name"].startswith("erase")]

    assert found[0] == first


def test_of_what_is_near_the_first_become_candidates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With those that are equal to the last."""
    twins = {f"src/{name}.py": "def erase(it):\n    return it\n" for name in ("one", "two")}
    less = {"src/less.py": "def erase_a(it):\n    return it.a\n\n\ndef erase_b(it):\n    return it.b\n"}
    room = Asked(tmp_path, {**FILES, **twins, **less})
    room.fill()
    assert len(room.names("please wipe quuxly", limit=40)) > 3

    monkeypatch.setattr(semantic, "_CANDIDATES", 1)

    assert sorted(room.names("please wipe quuxly", limit=40)) == ["erase", "erase", "remove"]


def test_what_words_find_is_what_their_best_file_holds(tmp_path: Path) -> None:
    """Its first place may be the one that is called so; vectors count for no more where another holds the words."""
    gather = "def gather(rows):\n    # at night, by age: visitor gone, old records expire\n    return rows\n"
    made = Asked(tmp_path, {**FILES, "src/clean.py": f"{gather}\n\ndef expire_records(key):\n    return key\n"})
    made.fill()

    found = made.answer("old records of a visitor expire by age at night")["results"]

    assert found[0]["name"] == "expire_records"
    parts = [part["value"] for one in found for part in one["explain"] if part["feature"] == "semantic"]
    assert 0.0 < max(parts) <= weights.SEMANTIC
