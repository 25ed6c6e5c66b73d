"""The reader threads: snapshots, deadlines, cancellation, files that change under them."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections.abc import Generator
from pathlib import Path

import apsw
import pytest

from ctxd.store import driver, integrity, read
from ctxd.store import readers as reader_module
from ctxd.store.driver import IndexDamaged, WriterConnection
from ctxd.store.snapshot import Snapshot
from ctxd.store.texts import shown
from ctxprotocol.errors import DeadlinePassed, IndexUnusable
from tests.store.room import MAKER, Room, put

ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT max(i) FROM n"


def endless(snapshot: Snapshot) -> object:
    return snapshot.connection.execute(ENDLESS).get


def test_a_snapshot_stays_what_it_was_while_the_writer_commits(room: Room) -> None:
    """Generation and rows belong together, whatever is committed between two statements."""
    room.apply(put("a.py", "def a\n"))

    def read(snapshot: Snapshot) -> tuple[int, object]:
        room.apply(put("b.py", "def b\n"))
        return snapshot.generation, snapshot.connection.execute("SELECT count(*) FROM files").get

    assert room.read(read) == (1, 1)
    assert room.read(lambda snapshot: snapshot.generation) == 2


def test_an_open_transaction_of_the_writer_is_not_seen(room: Room) -> None:
    """Between two slices of a batch readers see the old rows."""
    room.apply(put("a.py", "def a\n"))
    counts: list[object] = []

    def job(connection: WriterConnection) -> Generator[None]:
        connection.execute("DELETE FROM texts")
        yield
        counts.append(room.rows("SELECT count(*) FROM texts"))

    room.writer.submit(room.path, job, urgent=True).result(10)

    assert counts == [[(1,)]]
    assert room.rows("SELECT count(*) FROM texts") == [(0,)]


def test_a_statement_is_ended_at_the_deadline(room: Room) -> None:
    """A query that would run for ever ends in time, and the thread serves the next one."""
    began = time.monotonic()
    with pytest.raises(DeadlinePassed):
        room.read(endless, deadline_s=0.1)

    assert time.monotonic() - began < 2
    assert [room.read(lambda s: s.generation, deadline_s=5) for _ in range(4)] == [0] * 4


def test_hanging_up_ends_the_statement(room: Room) -> None:
    """A cancelled request does not keep a thread busy: with both threads cancelled others are served."""

    async def cancel_two() -> int:
        begun: list[int] = []

        def begin(snapshot: Snapshot) -> object:
            begun.append(1)
            return endless(snapshot)

        running = [asyncio.create_task(room.readers.run(room.path, begin, deadline_s=60)) for _ in range(2)]
        while len(begun) < 2:
            await asyncio.sleep(0)
        for task in running:
            task.cancel()
        results = await asyncio.gather(*running, return_exceptions=True)
        assert all(isinstance(result, asyncio.CancelledError) for result in results)
        return await room.readers.run(room.path, lambda s: s.generation, deadline_s=5)

    assert asyncio.run(cancel_two()) == 0


def test_waiting_for_a_thread_counts_against_the_deadline(room: Room) -> None:
    """With every thread busy a request fails at its own deadline, not at theirs."""
    go = threading.Event()
    begun: list[int] = []

    def hold(_snapshot: Snapshot) -> None:
        begun.append(1)
        go.wait(10)

    async def crowd() -> None:
        busy = [asyncio.create_task(room.readers.run(room.path, hold, deadline_s=10)) for _ in "ab"]
        while len(begun) < 2 and not any(task.done() for task in busy):
            await asyncio.sleep(0.001)
        with pytest.raises(DeadlinePassed):
            await room.readers.run(room.path, lambda s: s.generation, deadline_s=0.05)
        go.set()
        await asyncio.gather(*busy)

    asyncio.run(crowd())


def test_threads_that_open_a_new_file_at_one_instant_all_can(tmp_path: Path) -> None:
    """The first one has the log locked for a moment; without patience one time in twenty another one fails."""
    for number in range(100):
        path = str(tmp_path / str(number) / "index-1-1.db")
        integrity.create_index(path, MAKER)
        start, failed = threading.Barrier(3), list[BaseException]()

        def opens(path: str = path, start: threading.Barrier = start, failed: list[BaseException] = failed) -> None:
            start.wait()
            try:
                driver.open_reader(path).close()
            except Exception as error:
                failed.append(error)

        threads = [threading.Thread(target=opens) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failed, number


def test_what_the_function_raises_reaches_the_caller(room: Room) -> None:
    """An error of ours is no error of the store, and leaves no transaction."""
    with pytest.raises(KeyError):
        room.read(lambda _: {}["no"])

    assert room.read(lambda s: s.generation) == 0


@pytest.mark.parametrize(
    "sql",
    ["DELETE FROM files", "ATTACH '/tmp/x' AS other", "CREATE TABLE t(x)", "VACUUM INTO '/tmp/ctx-never'"],
)
def test_nothing_can_be_written_through_a_reader(room: Room, sql: str) -> None:
    """Read-only connection, query_only, no ATTACH."""
    with pytest.raises(IndexUnusable):
        room.read(lambda snapshot: snapshot.connection.execute(sql).get)


def test_a_file_that_another_took_the_place_of_is_opened_anew(room: Room) -> None:
    """A cached connection is not used once its file has gone from that name."""
    other = room.new_index("other")
    room.apply(put("a.py", "def a\n"), path=other)
    room.writer.close(other).result(10)
    assert room.read(lambda s: s.generation) == 0
    room.writer.close(room.path).result(10)
    os.rename(other, room.path)

    assert room.read(lambda s: s.generation) == 1


def test_a_file_that_is_gone_is_said_to_be(room: Room) -> None:
    """Not a new empty database: the caller learns that a new file is needed."""
    os.unlink(room.path)
    with pytest.raises(IndexDamaged, match="is gone"):
        room.read(lambda s: s.generation)

    assert not os.path.exists(room.path)


@pytest.mark.parametrize("content", [b"this is text, not a database\n" * 400, b"SQLite format 3\0" + bytes(84)])
def test_a_damaged_file_is_told_apart(room: Room, content: bytes) -> None:
    """B082: the caller learns that a new file is needed."""
    with open(room.path, "wb") as file:
        file.write(content)
    with pytest.raises(IndexDamaged):
        room.read(lambda s: s.generation)


def test_a_file_without_tables_is_damaged(room: Room) -> None:
    """Cut to nothing it is a valid empty database, and no index."""
    os.truncate(room.path, 0)
    with pytest.raises(IndexDamaged):
        room.read(lambda s: s.generation)


def test_a_thread_keeps_a_bounded_number_of_files_open(room: Room) -> None:
    """Thirty indexes are read by two threads, four connections of each stay.

    SQLite may hold the descriptor of a closed connection while another one has a lock on the same file.
    """
    paths = [room.new_index(f"n{n}") for n in range(30)]
    for path in paths * 2:
        room.read(lambda s: s.generation, path=path)

    held = [os.readlink(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd") if _is_link(fd)]
    assert sum(path.endswith(".db") and "/n" in path for path in held) <= 4 * reader_module.OPEN_PER_THREAD


def _is_link(fd: str) -> bool:
    return os.path.islink(f"/proc/self/fd/{fd}")


def both_threads(room: Room) -> list[tuple[int, apsw.Connection]]:
    """Have each of the two threads serve one request; return what they used."""
    together = threading.Barrier(2)

    def meet(snapshot: Snapshot) -> tuple[int, apsw.Connection]:
        together.wait(10)
        return threading.get_ident(), snapshot.connection

    async def two() -> list[tuple[int, apsw.Connection]]:
        return await asyncio.gather(*(room.readers.run(room.path, meet, deadline_s=10) for _ in "ab"))

    return asyncio.run(two())


def test_forget_closes_the_connection_before_the_next_read(tmp_path: Path) -> None:
    """After forget the next request there opens the file again."""
    room = Room(str(tmp_path / "state"))
    kept = [connection for _, connection in both_threads(room)]
    room.readers.forget(room.path)
    both_threads(room)

    for connection in kept:
        with pytest.raises(apsw.ConnectionClosedError):
            connection.execute("SELECT 1")
    room.close()


def test_a_forgotten_connection_does_not_wait_for_a_read_of_its_own_file(tmp_path: Path) -> None:
    """A removed index is not held, nor its room on disk, by threads that go on with another one."""
    room = Room(str(tmp_path / "state"))
    kept = [connection for _, connection in both_threads(room)]
    room.readers.forget(room.path)
    room.path = room.new_index("next")
    both_threads(room)

    for connection in kept:
        with pytest.raises(apsw.ConnectionClosedError):
            connection.execute("SELECT 1")
    room.close()


def test_an_idle_thread_closes_and_says_so(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """The descriptors go, and the texts; whoever gives memory back learns that there is some."""
    monkeypatch.setattr(reader_module, "IDLE_S", 0.05)
    room.apply(put("a.py", "def a\n"))
    assert room.read(lambda snapshot: read.text(snapshot, 1)) == b"def a\n"
    assert shown._known

    ends = time.monotonic() + 5
    while not room.readers.released() and time.monotonic() < ends:
        time.sleep(0.01)

    assert room.readers.released() >= 1
    assert not any(thread.opened for thread in room.readers._threads)
    assert (dict(shown._known), shown._bytes) == ({}, 0)
    assert room.read(lambda snapshot: snapshot.generation) == 1
