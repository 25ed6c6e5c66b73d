"""Vectors beside chunks: what lacks one, what is near to a question, whose they are, and when all are there."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pytest

from ctxd.store import filling, vectors
from ctxd.store.filling import Filled, Passage, begin, finish, keep, lacking, passages
from ctxd.store.write import Remove
from tests.store.room import Room, put

MODEL = "model"
SIZE = 384


def vector(seed: object) -> bytes:
    """Return the same vector for the same seed."""
    return random.Random(str(seed)).randbytes(SIZE)


def left(room: Room) -> list[Passage]:
    """Return all passages without a vector, in the order of their files' worth."""
    room.writer.submit(room.path, lambda connection: begin(connection, MODEL), urgent=False).result(30)
    return room.read(lambda snapshot: [one for file in lacking(snapshot) for one in passages(snapshot, file, 1000)])


def fill(room: Room, filled: Sequence[Filled], model: str = MODEL) -> int:
    """Put vectors in and return how many were taken."""
    return room.writer.submit(
        room.path, lambda connection: keep(connection, model, filled, room.cache), urgent=False
    ).result(30)


def filled(found: Sequence[Passage]) -> list[Filled]:
    """Return a vector for each passage, by its name."""
    return [Filled(one, one.name.encode(), vector(one.name)) for one in found]


def done(room: Room, generation: int) -> bool:
    """Note that all vectors of a generation are there."""
    return room.writer.submit(room.path, lambda connection: finish(connection, generation), urgent=False).result(30)


def names(room: Room, near: Sequence[vectors.Near]) -> list[str]:
    """Return the definitions that chunks are."""
    named = "SELECT c.id, n.name FROM chunks c JOIN symbols s ON s.id = c.symbol_id JOIN names n ON n.id = s.name_id"
    of = dict(room.rows(named))
    return [of[one.chunk] for one in near]


def test_every_chunk_lacks_a_vector_until_it_has_one(room: Room) -> None:
    """A passage brings what is known of its chunk; what has a vector is not asked for again."""
    room.apply(put("pool.py", "def pool\n  open\ndef close\n"))

    found = left(room)
    assert [(one.path, one.name, one.code) for one in found] == [
        ("pool.py", "pool", "def pool\n  open\n"),
        ("pool.py", "close", "def close\n"),
    ]
    assert fill(room, filled(found[:1])) == 1
    assert [one.name for one in left(room)] == ["close"]
    assert room.read(lambda s: vectors.progress(s, MODEL)).done == 1
    assert room.read(lambda s: vectors.progress(s, MODEL)).wanted == 2
    assert room.read(lambda s: vectors.progress(s, "another")).done == 0


def test_what_is_used_most_comes_first_and_tests_last(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks while vectors are still being made finds those of the code that others use."""
    monkeypatch.setattr(filling, "_FEW", 0)
    room.apply(
        put("a.py", "def rare\n"),
        put("b.py", "def often\n"),
        put("tests/test_b.py", "def check\n  often()\n  often()\n  check()\n  check()\n  check()\n"),
    )

    assert [one.path for one in left(room)] == ["b.py", "a.py", "tests/test_b.py"]


def test_a_vector_that_comes_late_does_not_meet_another_chunk(room: Room) -> None:
    """The number of a chunk that went is given to the next one; its vector is not."""
    room.apply(put("a.py", "def old\n"))
    late = filled(left(room))

    room.apply(Remove("a.py"))
    room.apply(put("a.py", "def new\n"))

    assert room.rows("SELECT id FROM chunks") == [(late[0].passage.chunk,)]
    assert fill(room, late) == 0
    assert [one.name for one in left(room)] == ["new"]


def test_the_vectors_of_a_file_go_with_it(room: Room) -> None:
    """Nothing is left of a file that went, in neither table."""
    room.apply(put("a.py", "def one\n"), put("b.py", "def two\n"))
    fill(room, filled(left(room)))

    room.apply(Remove("a.py"))

    assert room.rows("SELECT count(*) FROM vectors UNION ALL SELECT count(*) FROM vector_bits") == [(1,), (1,)]


def test_all_are_there_only_in_the_generation_that_was_looked_at(room: Room) -> None:
    """A commit in between, or another model, and the vectors are partial again."""
    generation = room.apply(put("a.py", "def one\n")).generation
    fill(room, filled(left(room)))
    assert not room.read(lambda s: vectors.ready(s, MODEL))
    assert done(room, generation)
    assert room.read(lambda s: vectors.ready(s, MODEL))
    assert not room.read(lambda s: vectors.ready(s, "another"))

    room.apply(put("b.py", "def two\n"))

    assert not room.read(lambda s: vectors.ready(s, MODEL))
    assert not done(room, generation)


def test_another_model_begins_anew(room: Room) -> None:
    """Vectors of two models are never in one index, and a late one of the old model finds no place."""
    generation = room.apply(put("a.py", "def one\n")).generation
    late = filled(left(room))
    fill(room, late)
    done(room, generation)

    room.writer.submit(room.path, lambda connection: begin(connection, "another"), urgent=False).result(30)

    assert room.rows("SELECT count(*) FROM vectors") == [(0,)]
    assert fill(room, late) == 0
    assert not room.read(lambda s: vectors.ready(s, MODEL))


def test_the_cache_has_the_vector_of_a_text_that_was_seen(room: Room) -> None:
    """What was embedded for one index is there for the next; what the cache lost is left for later."""
    room.apply(put("a.py", "def one\ndef two\n"))
    first, second = left(room)
    fill(room, filled([first]))
    room.writer.submit(room.path, lambda connection: begin(connection, "again"), urgent=False).result(30)
    room.writer.submit(room.path, lambda connection: begin(connection, MODEL), urgent=False).result(30)

    assert fill(room, [Filled(first, b"one"), Filled(second, b"two")]) == 1
    assert room.rows("SELECT body FROM vectors") == [(vector("one"),)]


@pytest.mark.parametrize("extended", [True, False])
def test_the_nearest_chunk_is_the_one_with_the_vector(
    room: Room, monkeypatch: pytest.MonkeyPatch, extended: bool
) -> None:
    """Coarse and exact pass find the best of many, by sqlite-vec or by ourselves, and both agree."""
    room.apply(put("a.py", "".join(f"def f{n}\n" for n in range(900))))
    fill(room, filled(left(room)))
    expected = room.read(lambda s: vectors.nearest(s, vector("f7"), 20))
    if not extended:
        monkeypatch.setattr(vectors, "_extended", lambda _connection: False)

    found = room.read(lambda s: vectors.nearest(s, vector("f7"), 20))

    assert names(room, found)[0] == "f7"
    assert found[0].cosine == pytest.approx(1.0, abs=1e-5)
    assert [one.chunk for one in found] == [one.chunk for one in expected]
    assert [one.cosine for one in found] == pytest.approx([one.cosine for one in expected], abs=2e-6)
    within = [one.chunk for one in found[3:5]]
    assert [one.chunk for one in room.read(lambda s: vectors.nearest(s, vector("f7"), 20, within=within))] == within


def test_equal_vectors_come_together_or_not_at_all(room: Room) -> None:
    """A cut through equals would let row ids decide."""
    room.apply(put("a.py", "".join(f"def f{n}\n" for n in range(600))))
    same = [Filled(one, b"same", vector("same")) for one in left(room)[:500]]
    other = [Filled(one, one.name.encode(), vector(one.name)) for one in left(room)[500:]]
    fill(room, [*same, *other])

    assert len(room.read(lambda s: vectors.nearest(s, vector("same"), 20))) == 500


def test_a_vector_without_a_direction_is_near_to_nothing(room: Room) -> None:
    """A model that failed for one text does not have it answer every question."""
    room.apply(put("a.py", "def one\n"))
    fill(room, [Filled(one, b"zero", bytes(SIZE)) for one in left(room)])

    assert room.read(lambda s: vectors.nearest(s, vector("one"), 20)) == []
