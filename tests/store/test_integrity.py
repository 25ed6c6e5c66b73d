"""What is good, foreign or damaged; private files; what a kill leaves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from ctxd.store import integrity, seals
from ctxd.store.driver import create
from ctxd.store.schema import SCHEMA
from tests.store.room import MAKER, Room, put

BIG = "".join(f"def function{n}\n  other{n}()\n" for n in range(3000))


def closed(tmp_path: Path, text: str = BIG) -> str:
    """Return the path of a good index file that nobody has open, with its seal."""
    room = Room(str(tmp_path / "state"))
    room.apply(put("a.py", text))
    room.close()
    return room.path


def test_a_new_and_a_filled_index_are_good(room: Room) -> None:
    """Nothing is found by the quick look, nor by the full check."""
    room.apply(put("a.py", BIG))

    assert integrity.inspect(room.path, MAKER).state == "good"
    assert room.check() == ()


def test_another_maker_or_schema_is_foreign(tmp_path: Path) -> None:
    """R27: other settings, another number, an added column, no stamp: a new file is needed, nothing is broken."""
    path = closed(tmp_path)
    assert integrity.inspect(path, "test 2").state == "foreign"
    for change in ("PRAGMA user_version=999", "PRAGMA user_version=0", "ALTER TABLE files ADD COLUMN later"):
        connection = apsw.Connection(path)
        version = connection.pragma("user_version")
        connection.execute(change)
        connection.close()
        assert integrity.inspect(path, MAKER).state == "foreign", change
        connection = apsw.Connection(path)
        connection.execute(f"PRAGMA user_version={version}")
        connection.close()


@pytest.mark.parametrize("damage", ["middle", "cut", "text"])
def test_a_damaged_file_is_found_before_it_is_used(tmp_path: Path, damage: str) -> None:
    """B082: at the latest when the last end was not clean; the rest is met by the reader that trips over it."""
    path = closed(tmp_path)
    seals.unseal(path)
    size = os.path.getsize(path)
    with open(path, "r+b") as file:
        match damage:
            case "middle":
                file.seek(size // 2 // 4096 * 4096)
                file.write(b"\xaa" * 4096)
            case "cut":
                file.truncate(100)
            case "text":
                file.truncate(0)
                file.write(b"these are words " * 5000)
    Path(path + "-wal").write_bytes(b"a log that was not emptied")

    assert integrity.inspect(path, MAKER).state == "damaged"


def test_a_missing_file_is_missing(tmp_path: Path) -> None:
    """No file, and no name."""
    assert integrity.inspect(str(tmp_path / "none.db"), MAKER).state == "missing"
    assert integrity.inspect("", MAKER).state == "missing"


def test_without_a_seal_every_page_is_checked(tmp_path: Path) -> None:
    """A daemon that was killed leaves none; what it left is used when it is sound."""
    path = closed(tmp_path)
    seals.unseal(path)
    assert integrity.inspect(path, MAKER).state == "good"
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2 // 4096 * 4096)
        file.write(b"\xaa" * 4096)

    assert integrity.inspect(path, MAKER).state == "damaged"


def flip_one_bit(path: str) -> None:
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) - 9)
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 4]))


def foreign_log(path: str) -> None:
    Path(path + "-wal").write_bytes(b"x")


def no_text(path: str) -> None:
    content = Path(path).read_bytes()
    Path(path).write_bytes(content.replace(b"CREATE TABLE texts", b"CREATE TABLE t\xd4xts", 1))


@pytest.mark.parametrize("harm", [flip_one_bit, foreign_log, no_text])
def test_what_was_sealed_is_believed_only_as_it_was(tmp_path: Path, harm: Callable[[str], None]) -> None:
    """One bit anywhere, or a log beside it, which SQLite would take for its own."""
    path = closed(tmp_path)
    assert integrity.inspect(path, MAKER).state == "good"
    harm(path)

    assert integrity.inspect(path, MAKER).state == "damaged"


def test_the_seal_is_broken_before_the_first_write(room: Room) -> None:
    """Whenever the daemon dies, no seal is left on what it wrote."""
    room.apply(put("a.py", BIG))
    room.writer.close(room.path).result(10)
    assert seals.is_sealed(room.path) and seals.fits(room.path)
    room.apply(put("b.py", BIG))

    assert not seals.is_sealed(room.path)


def test_a_file_that_takes_too_long_gets_no_seal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of the daemon does not wait for a slow disk."""
    monkeypatch.setattr(seals, "SEAL_S", -1.0)

    assert not seals.is_sealed(closed(tmp_path))


def test_one_damaged_file_is_kept(tmp_path: Path) -> None:
    """The second one that is set aside replaces the first."""
    for name in ("index-1-1.db", "index-1-2.db"):
        integrity.create_index(str(tmp_path / name), MAKER)
        integrity.set_aside(str(tmp_path / name))

    assert os.listdir(tmp_path) == ["index-1-2.db.damaged"]


def test_lost_full_text_rows_are_seen_by_the_check(room: Room) -> None:
    """B082: rows that went from the full-text tables behind its back."""
    room.apply(put("a.py", BIG))
    connection = apsw.Connection(room.path)
    connection.execute("DELETE FROM fts_docsize WHERE id=7")
    connection.close()

    assert any("rows of chunks are not in fts_docsize" in problem for problem in room.check())


def test_a_torn_full_text_index_is_seen_by_the_check(room: Room) -> None:
    """A segment that went is found by FTS5's own check, with rank 1."""
    room.apply(put("a.py", BIG))
    connection = apsw.Connection(room.path)
    connection.execute("DELETE FROM fts_data WHERE id=(SELECT max(id) FROM fts_data WHERE id>100)")
    connection.close()

    assert room.check() != ()


def test_nothing_is_readable_by_others(tmp_path: Path) -> None:
    """B086: under umask 000 every directory is 0700 and every file 0600, logs and shared memory too."""
    before = os.umask(0)
    try:
        room = Room(str(tmp_path / "state"))
        room.apply(put("a.py", "def a\n"))
        modes = {
            os.path.join(directory, name): os.stat(os.path.join(directory, name)).st_mode & 0o777
            for directory, _, names in os.walk(tmp_path / "state")
            for name in [".", *names]
        }
        room.close()
    finally:
        os.umask(before)

    assert {mode for path, mode in modes.items() if path.endswith("/.")} == {0o700}
    assert {mode for path, mode in modes.items() if not path.endswith("/.")} == {0o600}
    assert sum(path.endswith("-wal") for path in modes) >= 1


def test_a_file_is_whole_or_absent(tmp_path: Path) -> None:
    """create makes no file when the schema fails, and replaces none."""
    path = str(tmp_path / "x.db")
    with pytest.raises(Exception, match="syntax error"):
        create(path, SCHEMA + "; nonsense", 1)
    assert os.listdir(tmp_path) == []
    create(path, SCHEMA, 1)
    with pytest.raises(FileExistsError):
        create(path, SCHEMA, 1)


_KILLED = """
import sys
from tests.store.room import Room, put
room = Room(sys.argv[1])
room.apply(*(put(f"f{n}.py", f"def old{n}\\n  call()\\n") for n in range(300)))
print(room.path, flush=True)
while True:
    for word in ("new", "old"):
        room.apply(*(put(f"f{n}.py", f"def {word}{n}\\n  call()\\n") for n in range(300)))
"""


@pytest.mark.parametrize("moment_ms", [0, 7, 40, 130, 260])
def test_a_kill_leaves_the_old_rows_or_the_new(tmp_path: Path, moment_ms: int) -> None:
    """R08: kill -9 while one transaction replaces 300 files: all old or all new, and nothing is broken."""
    child = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(tmp_path / "state")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.stdout is not None
    path = child.stdout.readline().strip()
    try:
        child.wait(moment_ms / 1000)
    except subprocess.TimeoutExpired:
        pass
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()

    assert integrity.inspect(path, MAKER).state == "good"
    connection = apsw.Connection(path)
    words = {
        str(name)[:3] for (name,) in connection.execute("SELECT n.name FROM symbols s JOIN names n ON n.id=s.name_id")
    }
    count = connection.execute("SELECT count(*) FROM symbols").get
    problems = integrity.check(connection)
    connection.close()
    assert len(words) == 1 and count == 300
    assert problems == ()
