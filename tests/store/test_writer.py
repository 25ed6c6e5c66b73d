"""The writer thread: order, slices, rollback, locks of others, the end."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Generator
from concurrent.futures import CancelledError
from pathlib import Path

import apsw
import pytest

from ctxd.store import driver
from ctxd.store import lane as lanes
from ctxd.store import writer as writers
from ctxd.store.driver import WriterConnection
from ctxprotocol.errors import Busy, IndexUnusable
from tests.store.room import Room, put


def add(connection: WriterConnection, key: str) -> None:
    connection.execute("INSERT INTO meta VALUES(?, 1)", (key,))


def keys(room: Room, path: str = "") -> list[str]:
    rows = room.rows("SELECT key FROM meta WHERE key NOT IN ('generation', 'maker') ORDER BY key", path=path)
    return [key for (key,) in rows]


class Gate:
    """A job that holds the writer thread until it is let go."""

    def __init__(self, room: Room, path: str = "") -> None:
        self._go = threading.Event()
        self._held = threading.Event()
        self.future = room.writer.submit(path or room.path, self._wait, urgent=True)
        assert self._held.wait(10)

    def _wait(self, _connection: WriterConnection) -> None:
        self._held.set()
        assert self._go.wait(10)

    def open(self) -> None:
        self._go.set()


def test_slices_of_another_file_run_between(room: Room) -> None:
    """While a bulk job on one file is open, a save on another begins and ends."""
    other = room.new_index("other")
    seen: list[str] = []

    def bulk(_connection: WriterConnection) -> Generator[None, None, str]:
        for step in range(4):
            seen.append(f"bulk {step}")
            yield
        return "done"

    gate = Gate(room)
    slow = room.writer.submit(room.path, bulk, urgent=False)
    saves = [room.writer.submit(other, lambda _: seen.append("save"), urgent=True) for _ in range(2)]
    gate.open()

    assert slow.result(10) == "done"
    assert [save.result(10) for save in saves] == [None, None]
    assert seen == ["save", "save", "bulk 0", "bulk 1", "bulk 2", "bulk 3"]


def test_a_save_that_comes_later_does_not_wait_for_bulk_of_another_file(room: Room) -> None:
    """A save submitted in the middle of a bulk job is the very next slice."""
    other = room.new_index("other")
    seen: list[str] = []

    def bulk(_connection: WriterConnection) -> Generator[None]:
        for step in range(3):
            seen.append(f"bulk {step}")
            if step == 1:
                room.writer.submit(other, lambda _: seen.append("save"), urgent=True)
            yield

    room.writer.submit(room.path, bulk, urgent=False).result(10)

    assert seen == ["bulk 0", "bulk 1", "save", "bulk 2"]


def test_a_save_behind_bulk_of_its_own_file_pulls_it_along(room: Room) -> None:
    """It cannot overtake the open transaction, but other bulk work waits for both."""
    other = room.new_index("other")
    seen: list[str] = []

    def bulk(name: str, path: str) -> None:
        def job(_connection: WriterConnection) -> Generator[None]:
            for step in range(3):
                seen.append(f"{name}{step}")
                if name == "a" and step == 0:
                    room.writer.submit(path, lambda _: seen.append("save"), urgent=True)
                yield

        room.writer.submit(path, job, urgent=False)

    gate = Gate(room, other)
    bulk("a", room.path)
    bulk("b", other)
    gate.open()
    room.writer.close(room.path).result(10)
    room.writer.close(other).result(10)

    assert seen[seen.index("a0") :][:4] == ["a0", "a1", "a2", "save"]


def test_a_failing_job_takes_only_itself_back(room: Room) -> None:
    """The error is its future's; jobs before and after are committed."""

    def failing(connection: WriterConnection) -> Generator[None]:
        add(connection, "b")
        yield
        raise KeyError("reason")

    first = room.writer.submit(room.path, lambda c: add(c, "a"), urgent=True)
    second = room.writer.submit(room.path, failing, urgent=True)
    third = room.writer.submit(room.path, lambda c: add(c, "c"), urgent=True)

    first.result(10)
    with pytest.raises(KeyError, match="reason"):
        second.result(10)
    third.result(10)
    assert keys(room) == ["a", "c"]


def test_a_cancelled_job_never_begins(room: Room) -> None:
    """Cancelling a waiting job's future drops it."""
    gate = Gate(room)
    dropped = room.writer.submit(room.path, lambda c: add(c, "dropped"), urgent=True)
    assert dropped.cancel()
    gate.open()
    room.writer.submit(room.path, lambda c: add(c, "kept"), urgent=True).result(10)

    assert keys(room) == ["kept"]
    with pytest.raises(CancelledError):
        dropped.result(0)


def test_a_lock_of_another_program_delays_its_file_alone(room: Room) -> None:
    """B080: with an outside BEGIN IMMEDIATE writes wait, without an error; other files are served meanwhile."""
    other = room.new_index("other")
    outside = apsw.Connection(room.path)
    outside.execute("BEGIN IMMEDIATE")

    delayed = room.submit([put("a.py", "def a\n")])
    room.apply(put("b.py", "def b\n"), path=other)
    assert not delayed.done()
    assert room.rows("SELECT count(*) FROM files") == [(0,)]  # reads are not held up
    outside.execute("COMMIT")
    outside.close()

    assert delayed.result(10).generation == 1


def test_a_lock_that_never_ends_is_told(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a minute (here at once) whoever waits learns why; the next job is tried again."""
    monkeypatch.setattr(lanes, "LOCKED_S", 0.0)
    outside = apsw.Connection(room.path)
    outside.execute("BEGIN IMMEDIATE")
    with pytest.raises(IndexUnusable, match="locked by another program"):
        room.apply(put("a.py", "def a\n"))
    outside.close()

    assert room.apply(put("a.py", "def a\n")).files == 1


def test_a_full_disk_fails_the_job_and_nothing_else(room: Room) -> None:
    """B085: the reason is given, the old rows answer, and with room again the same change goes in."""
    text = "".join(f"def word{n}\n" for n in range(3000))
    room.apply(put("old.py", "def old\n"))

    def limit(pages: int) -> None:
        # A statement, not a job: the limit belongs to the connection.
        room.writer.submit(room.path, lambda c: c.execute(f"PRAGMA max_page_count={pages}").get, urgent=True).result(10)

    limit(1)
    with pytest.raises(IndexUnusable, match="disk full, writes paused"):
        room.apply(put("big.py", text))
    assert room.rows("SELECT path FROM files") == [("old.py",)]
    limit(1 << 30)

    assert room.apply(put("big.py", text)).files == 1
    assert room.check() == ()


def test_the_log_is_emptied_when_there_is_nothing_to_do(room: Room) -> None:
    """R26: the truncating checkpoint comes by itself, and is repeated while a snapshot pins the log."""
    reader = apsw.Connection(room.path)
    reader.execute("BEGIN; SELECT count(*) FROM files")
    room.apply(put("a.py", "def a\n" * 3000))
    assert os.path.getsize(room.path + "-wal") > 0
    reader.close()

    deadline = time.monotonic() + 20
    while os.path.getsize(room.path + "-wal") and time.monotonic() < deadline:
        threading.Event().wait(0.05)

    assert os.path.getsize(room.path + "-wal") == 0


def test_the_log_stays_short_through_a_large_index(room: Room) -> None:
    """B081: long logs are copied between jobs."""
    for n in range(30):
        room.apply(put(f"f{n}.py", "".join(f"def word{n}x{k}\n" for k in range(2000))))

    assert os.path.getsize(room.path) > 12 << 20
    assert os.path.getsize(room.path + "-wal") < 8 << 20


def test_stop_does_what_is_queued_and_leaves_no_log(tmp_path: Path) -> None:
    """Jobs submitted before stop are committed; later ones are refused; the files are closed clean."""
    room = Room(str(tmp_path / "state"))
    futures = [room.submit([put(f"f{n}.py", f"def f{n}\n")]) for n in range(20)]
    room.close()

    assert [future.result(0).generation for future in futures] == list(range(1, 21))
    assert not os.path.exists(room.path + "-wal")
    with pytest.raises(Busy):
        room.submit([])


def test_stop_fails_what_does_not_end_in_time(tmp_path: Path) -> None:
    """A bulk job that is open when the time is over is rolled back, and its future says so."""
    room = Room(str(tmp_path / "state"))
    begun = threading.Event()

    def endless(connection: WriterConnection) -> Generator[None]:
        add(connection, "half")
        while True:
            begun.set()
            yield

    running = room.writer.submit(room.path, endless, urgent=False)
    waiting = room.writer.submit(room.path, lambda c: add(c, "never"), urgent=False)
    assert begun.wait(10)
    room.writer.stop(drain_s=0.05)

    for future in (running, waiting):
        with pytest.raises(IndexUnusable, match="stopping"):
            future.result(0)
    assert keys(room) == []
    room.readers.stop()


def test_a_closed_file_can_be_opened_again(room: Room) -> None:
    """close() comes after what is queued; a later job opens a new connection."""
    queued = room.submit([put("a.py", "def a\n")])
    room.writer.close(room.path).result(10)

    assert queued.done()
    assert not os.path.exists(room.path + "-wal") or os.path.getsize(room.path + "-wal") == 0
    assert room.apply(put("b.py", "def b\n")).generation == 2


def test_the_queue_is_bounded(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever does not wait for its writes is told."""
    monkeypatch.setattr(writers, "MAX_JOBS", 2)
    gate = Gate(room)
    room.submit([])
    with pytest.raises(Busy):
        room.submit([])
    gate.open()


def test_a_vanished_file_is_an_error_not_a_new_empty_file(room: Room) -> None:
    """The writer opens what is there; it makes nothing."""
    with pytest.raises(IndexUnusable, match="cannot open"):
        room.apply(put("a.py", "def a\n"), path=room.directory + "/indexes/none.db")

    assert not os.path.exists(room.directory + "/indexes/none.db")


def test_a_fault_of_the_thread_fails_what_waits_and_the_next_job_works(
    room: Room, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Nobody waits for ever; the log has the fault under the id that was told."""
    monkeypatch.setattr(writers, "FAULT_PAUSE_S", 0.0)
    gate = Gate(room)
    waiting = room.writer.submit(room.path, lambda connection: add(connection, "waiting"), urgent=False)
    with monkeypatch.context() as broken:
        broken.setattr(lanes.Lane, "checkpoint_if_long", lambda _lane: 1 / 0)
        gate.open()
        with pytest.raises(IndexUnusable, match="unexpected failure") as told:
            waiting.result(10)
    room.writer.submit(room.path, lambda connection: add(connection, "later"), urgent=True).result(10)

    assert keys(room) == ["later"]
    assert str(told.value).split()[2].rstrip(":") in caplog.text and "ZeroDivisionError" in caplog.text


def test_a_fault_when_idle_does_not_end_the_thread(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody is told, since nobody waits; the next job is done."""
    monkeypatch.setattr(writers, "FAULT_PAUSE_S", 0.0)
    failed = threading.Event()

    def fail(_now: float) -> None:
        monkeypatch.undo()
        failed.set()
        raise RuntimeError("injected")

    monkeypatch.setattr(room.cache, "settle", fail)
    room.writer.submit(room.path, lambda connection: add(connection, "one"), urgent=True).result(10)
    assert failed.wait(10)
    with contextlib.suppress(IndexUnusable):  # it may come in time to be told of the fault
        room.writer.submit(room.path, lambda connection: add(connection, "two"), urgent=True).result(10)
    room.writer.submit(room.path, lambda connection: add(connection, "three"), urgent=True).result(10)

    assert {"one", "three"} <= set(keys(room))


def test_a_connection_has_every_setting(room: Room) -> None:
    """A commit waits for no disk, and a log that was emptied does not keep its size."""
    names = ("journal_mode", "synchronous", "temp_store", "cache_size", "journal_size_limit")
    found = room.writer.submit(room.path, lambda c: [c.pragma(name) for name in names], urgent=True).result(10)

    assert found == ["wal", 1, 2, -8192, driver.LOG_BYTES]
