"""The parse cache: what it keeps, its bound, and that damage costs time and nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import apsw
import pytest

from ctxd.store import cache as module
from ctxd.store import driver
from ctxd.store.cache import Cache
from ctxd.store.readers import Readers
from tests.store.room import Room


def in_writer(room: Room, use: Callable[[Cache], object]) -> object:
    return room.writer.submit(room.path, lambda _: use(room.cache), urgent=True).result(10)


def have(room: Room, keys: Sequence[bytes]) -> frozenset[bytes]:
    in_writer(room, lambda cache: cache.flush())
    return asyncio.run(room.cache.have(keys))


def noise(seed: int, size: int) -> bytes:
    """Bytes that no compression makes smaller."""
    return random.Random(seed).randbytes(size)


def key(number: int) -> bytes:
    return number.to_bytes(32, "big")


def test_what_was_put_is_there_at_once_and_after_a_restart(room: Room) -> None:
    """get sees entries that are not written yet; close writes them."""
    in_writer(room, lambda cache: cache.put(key(1), b"blob" * 100))
    assert in_writer(room, lambda cache: cache.get(key(1))) == b"blob" * 100
    in_writer(room, lambda cache: cache.close())

    assert in_writer(room, lambda _: Cache(room.directory, room.readers).get(key(1))) == b"blob" * 100


def test_have_names_exactly_the_entries(room: Room) -> None:
    """Asked in bulk, on the loop, answered by a reader thread."""
    in_writer(room, lambda cache: [cache.put(key(n), b"x") for n in range(0, 1000, 2)])

    assert have(room, [key(n) for n in range(1000)]) == {key(n) for n in range(0, 1000, 2)}
    assert asyncio.run(room.cache.have([])) == frozenset()


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Room]:
    """A store with a cache of 1 MB."""
    made = Room(str(tmp_path / "state"), cache_bytes=1_000_000)
    yield made
    made.close()


def test_the_least_recently_used_go_first_and_the_bound_holds(small: Room) -> None:
    """1 MB of 10 KB entries: the old ones go, but for one that was used in between."""
    room = small
    for n in range(60):
        in_writer(room, lambda cache, n=n: cache.put(key(n), noise(n, 10_000)))  # type: ignore[misc]
    have(room, [])
    room.now += 7200
    assert in_writer(room, lambda cache: cache.get(key(0))) is not None
    have(room, [])
    for n in range(60, 150):
        in_writer(room, lambda cache, n=n: cache.put(key(n), noise(n, 10_000)))  # type: ignore[misc]
        have(room, [])

    kept = have(room, [key(n) for n in range(150)])
    assert key(0) in kept and key(1) not in kept and key(149) in kept
    assert 90 <= len(kept) <= 99
    assert os.path.getsize(room.cache.path) < 1_600_000


@pytest.mark.parametrize("damage", ["text", "cut", "nothing", "gone"])
def test_a_damaged_cache_starts_anew(room: Room, damage: str) -> None:
    """Nothing is found, nothing fails, new entries are kept, and one file is left."""
    in_writer(room, lambda cache: cache.put(key(1), noise(1, 100_000)))
    in_writer(room, lambda cache: cache.close())
    match damage:
        case "text":
            Path(room.cache.path).write_bytes(b"no database " * 2000)
        case "cut":
            os.truncate(room.cache.path, 100)
        case "nothing":
            os.truncate(room.cache.path, 0)
        case "gone":
            os.unlink(room.cache.path)

    assert asyncio.run(room.cache.have([key(1)])) == frozenset()
    assert in_writer(room, lambda cache: cache.get(key(1))) is None
    in_writer(room, lambda cache: cache.put(key(2), b"new"))
    assert have(room, [key(1), key(2)]) == {key(2)}
    assert len([name for name in os.listdir(room.directory) if name.endswith(".db")]) == 1


def test_a_damaged_cache_that_cannot_be_removed_does_not_end_the_writer(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is read-only by now; it is met between two jobs, where nobody waits who could be told."""

    def refused(path: str) -> None:
        raise PermissionError(13, "Permission denied", path)

    in_writer(room, lambda cache: cache.close())
    Path(room.cache.path).write_bytes(noise(1, 5000))
    monkeypatch.setattr(module, "remove", refused)
    damaged = room.cache.path
    in_writer(room, lambda cache: cache.put(key(1), b"blob"))

    assert in_writer(room, lambda cache: cache.get(key(2))) is None
    assert room.cache.path != damaged


def test_an_entry_that_does_not_unpack_is_dropped(room: Room) -> None:
    """A flipped byte is noticed by the checksum of the compression."""
    in_writer(room, lambda cache: cache.put(key(1), b"blob" * 1000))
    have(room, [])

    def spoil(cache: Cache) -> None:
        assert cache._connection is not None
        cache._connection.execute("UPDATE parsed SET blob=?", (zlib.compress(b"x")[:-1] + b"\0",))

    in_writer(room, spoil)

    assert in_writer(room, lambda cache: cache.get(key(1))) is None
    assert have(room, [key(1)]) == frozenset()


@pytest.mark.parametrize("fault", [apsw.CantOpenError, apsw.IOError, apsw.BusyError, apsw.FullError])
def test_a_failed_call_is_no_damage(room: Room, monkeypatch: pytest.MonkeyPatch, fault: type[apsw.Error]) -> None:
    """The file stays, and what is in it is there again with the next use."""
    in_writer(room, lambda cache: cache.put(key(1), b"blob"))
    have(room, [])
    path = room.cache.path
    in_writer(room, lambda cache: cache.close())

    def fail(_path: str) -> None:
        with driver.translated(_path):
            raise fault("injected")

    with monkeypatch.context() as broken:
        broken.setattr(module, "open_writer", fail)
        assert in_writer(room, lambda cache: cache.get(key(1))) is None

    assert room.cache.path == path
    assert in_writer(room, lambda cache: cache.get(key(1))) == b"blob"


def test_another_bound_counts_from_the_next_flush(room: Room) -> None:
    """The configuration says less than there is: the oldest go, without a restart."""
    for number in range(20):
        in_writer(room, lambda cache, number=number: cache.put(key(number), noise(number, 10_000)))
    assert len(have(room, [key(number) for number in range(20)])) == 20

    room.cache.bound(100_000)
    in_writer(room, lambda cache: cache.put(key(99), noise(99, 1_000)))

    assert 0 < len(have(room, [key(number) for number in range(20)])) < 10


def test_a_log_that_only_readers_left_goes_with_the_end(room: Room) -> None:
    """They cannot write, so the last one that closes must be one who can."""
    in_writer(room, lambda cache: cache.put(key(1), noise(1, 100)))
    in_writer(room, lambda cache: cache.close())
    left = driver.open_reader(room.cache.path)
    left.execute("SELECT count(*) FROM parsed").fetchall()
    left.close()

    in_writer(room, lambda cache: cache.close())

    assert not os.path.exists(f"{room.cache.path}-wal")


def test_a_log_that_somebody_pins_does_not_grow(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another program reads and reads: what was kept stays, what is put meanwhile is forgotten, until it ends."""
    monkeypatch.setattr(module, "_PINNED_BYTES", 100_000)
    path = room.cache.path
    in_writer(room, lambda cache: cache.put(key(1), b"blob"))
    have(room, [])
    foreign = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    foreign.execute("BEGIN; SELECT * FROM parsed").fetchall()
    for number in range(2, 60):
        in_writer(room, lambda cache, n=number: cache.put(key(n), noise(n, 10_000)))  # type: ignore[misc]
        have(room, [])
    assert os.path.getsize(f"{path}-wal") < 200_000
    assert 2 < len(have(room, [key(number) for number in range(1, 60)])) < 30
    foreign.close()
    in_writer(room, lambda cache: cache.put(key(60), b"blob"))

    assert room.cache.path == path
    assert have(room, [key(1), key(2), key(60)]) == {key(1), key(2), key(60)}


def test_using_much_of_it_at_once_loses_nothing(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """A rebuild marks all that it takes as used: its log is long for a moment, and pinned by nobody."""
    monkeypatch.setattr(module, "_PINNED_BYTES", 100_000)
    monkeypatch.setattr(module, "_USES", 10)
    keys, path = [key(number) for number in range(100)], room.cache.path
    for number, one in enumerate(keys):
        in_writer(room, lambda cache, one=one, n=number: cache.put(one, noise(n, 3_000)))  # type: ignore[misc]
    room.now += 7200

    in_writer(room, lambda cache: [cache.get(one) for one in keys])
    in_writer(room, lambda cache: cache.put(key(100), b"blob"))
    in_writer(room, lambda cache: cache.close())

    assert room.cache.path == path
    assert have(room, [*keys, key(100)]) == {*keys, key(100)}
    with contextlib.closing(apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        assert connection.execute("SELECT count(DISTINCT used) FROM parsed").get == 1


def test_who_waits_for_the_writer_comes_before_the_marks(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some are made at a time, and the writer looks for work in between."""
    monkeypatch.setattr(module, "_USES", 10)
    in_writer(room, lambda cache: [cache.put(key(number), b"blob") for number in range(25)])
    have(room, [])

    def use(cache: Cache) -> list[float | None]:
        for number in range(25):
            cache.get(key(number))
        return [cache.settle(0.0) for _ in range(3)]

    first, second, last = in_writer(room, use)  # type: ignore[misc]
    assert first == second == 0.0 and last != 0.0


@pytest.fixture
def readers() -> Iterator[Readers]:
    """Reader threads that end with the test."""
    made = Readers(1)
    yield made
    made.stop()


def test_nothing_is_opened_in_a_directory_that_took_the_place_of_ours(tmp_path: Path, readers: Readers) -> None:
    """What was not written yet is lost with the state directory; the one that stands there now is another daemon's."""
    state = tmp_path / "state"
    cache = Cache(str(state), readers)
    cache.put(key(1), b"one")
    state.rename(tmp_path / "away")
    other = Cache(str(state), readers)

    cache.flush()

    with contextlib.closing(apsw.Connection(other.path, flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        assert connection.execute("SELECT count(*) FROM parsed").get == 0
