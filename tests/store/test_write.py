"""Changes -> rows: what is replaced, what is left alone, and that no history shows."""

from __future__ import annotations

import random

import msgspec
import pytest

from ctxd.store import write
from ctxd.store.driver import WriterConnection
from ctxd.store.write import Put, Remove, Skip, Touch, apply
from tests.store.room import Room, put, stat

A = "import os\ndef alpha\n  beta()\ndef gamma\n  alpha()\n"
B = "def beta\n  gamma()\n  delta()\n"


def without_blob(change: Put) -> Put:
    return msgspec.structs.replace(change, blob=b"")


def test_a_file_becomes_rows_that_refer_to_each_other(room: Room) -> None:
    """Symbols, references, chunks, imports, text and words of a file are there after one change."""
    applied = room.apply(put("src/a.py", A))

    assert (applied.generation, applied.files, applied.missing) == (1, 1, ())
    assert room.rows(
        "SELECT n.name, r.line, o.name FROM refs r JOIN names n ON n.id=r.name_id"
        " LEFT JOIN symbols s ON s.id=r.symbol_id LEFT JOIN names o ON o.id=s.name_id ORDER BY r.line"
    ) == [("beta", 3, "alpha"), ("alpha", 5, "gamma")]
    assert room.rows("SELECT module, names FROM imports") == [("os", '[["x",""]]')]
    assert room.rows("SELECT c.line_start FROM fts JOIN chunks c ON c.id=fts.rowid WHERE fts MATCH 'name: gamma'") == [
        (4,)
    ]


def test_words_of_the_path_are_found_in_its_column(room: Room) -> None:
    """The stem and the last two directories are words of a file, its parts too."""
    room.apply(put("top/deep/httpServer/userStore.test.py", B))

    def found(word: str) -> bool:
        return bool(room.rows(f"SELECT rowid FROM fts WHERE fts MATCH 'path: {word}'"))

    assert [found(word) for word in ("user", "userStore", "server", "deep", "top", "py")] == [True] * 4 + [False] * 2


def test_the_same_content_again_changes_no_row_and_no_generation(room: Room) -> None:
    """A Put or Touch with a digest that the row has updates the stat alone."""
    room.apply(put("a.py", A))
    before = room.dump()

    again = room.apply(msgspec.structs.replace(put("a.py", A), stat=stat(A, mtime_ns=7)))
    touched = room.apply(Touch("a.py", stat(A, mtime_ns=9), put("a.py", A).digest, 11))

    assert (again.generation, again.files, touched.generation, touched.files) == (1, 0, 1, 0)
    assert room.rows("SELECT mtime_ns, hashed_ns FROM files") == [(9, 11)]
    assert room.dump() == before


def test_a_touch_that_does_not_fit_asks_for_a_parse(room: Room) -> None:
    """A Touch of an unknown path, or with another digest, is reported and changes nothing."""
    room.apply(put("a.py", A))

    applied = room.apply(Touch("a.py", stat(A), b"other", 1), Touch("b.py", stat(A), b"any", 1))

    assert applied.missing == ("a.py", "b.py")
    assert applied.generation == 1


def test_what_was_parsed_once_serves_another_path(room: Room) -> None:
    """A Put without a blob takes the entry that an earlier one left in the cache."""
    room.apply(put("a.py", A))

    applied = room.apply(without_blob(put("copy/a.py", A)))

    assert applied.files == 1
    first, second = (
        [line.replace(path, "") for line in room.dump() if f'"{path}"' in line] for path in ("a.py", "copy/a.py")
    )
    assert [line for line in first if "chunk" not in line] == [line for line in second if "chunk" not in line]


def test_what_comes_from_the_cache_makes_the_same_rows(room: Room) -> None:
    """Words that the entry leaves out are made again from the text, to the same index."""
    room.apply(put("é.py", "def grüße\n  getUserById()\n# 検索する\ndef b\n"))
    before = room.dump()
    room.apply(Remove("é.py"))

    room.apply(without_blob(put("é.py", "def grüße\n  getUserById()\n# 検索する\ndef b\n")))

    assert room.dump() == before


def test_an_entry_that_the_cache_lost_leaves_the_file_as_it_was(room: Room) -> None:
    """The rest of the batch is committed; the path is named, and its old rows stay."""
    room.apply(put("a.py", A))
    before = room.dump()

    applied = room.apply(without_blob(put("a.py", B)), put("z.py", "def zeta\n"))

    assert applied.missing == ("a.py",)
    assert [line for line in room.dump() if '"z.py"' not in line] == before


def test_a_failed_parse_is_tried_again_and_not_kept(room: Room) -> None:
    """A note of the pool is no fact of the content: not cached, replaced by the next result."""
    room.apply(put("a.py", A, note="parse timed out"))
    lost = room.apply(without_blob(put("b.py", A)))

    better = room.apply(put("a.py", A))

    assert lost.missing == ("b.py",)
    assert better.files == 1
    assert room.rows("SELECT note FROM files") == [("",)]


def test_a_skipped_file_has_its_reason_and_no_rows(room: Room) -> None:
    """A file that becomes binary loses its rows; one that becomes text gets them; the same skip again is
    nothing."""
    room.apply(put("a.py", A))
    skip = Skip("a.py", stat(A), "binary", b"d", 3)

    first, again = room.apply(skip), room.apply(skip)

    assert (first.files, again.files, again.generation) == (1, 0, 2)
    assert room.rows("SELECT skip FROM files") == [("binary",)]
    assert room.rows("SELECT count(*) FROM chunks") == [(0,)]
    assert room.apply(put("a.py", A)).files == 1


def test_later_changes_of_a_path_win(room: Room) -> None:
    """One batch may name a path more than once."""
    batch = [put("a.py", A), put("a.py", B), Remove("c.py"), put("b.py", A), Remove("b.py"), put("x/c.py", A)]
    room.apply(*batch, Remove("x/c.py"))

    assert room.rows("SELECT path FROM files") == [("a.py",)]
    assert room.rows("SELECT n.name FROM symbols s JOIN names n ON n.id=s.name_id") == [("beta",)]


def test_a_job_that_fails_leaves_no_row_and_no_name_behind(room: Room) -> None:
    """Names interned by a batch that rolled back get other ids later, and still fit."""
    broken = msgspec.structs.replace(put("b.py", B), blob=b"\xc1")
    with pytest.raises(msgspec.DecodeError):
        room.apply(put("a.py", A), broken)
    assert room.rows("SELECT count(*) FROM names") == [(0,)]

    room.apply(put("b.py", B), put("a.py", A))

    assert room.check() == ()
    assert room.rows(
        "SELECT n.name FROM refs r JOIN names n ON n.id=r.name_id JOIN files f ON f.id=r.file_id"
        " WHERE f.path='a.py' ORDER BY r.line"
    ) == [("beta",), ("alpha",)]


def history(rng: random.Random, room: Room) -> dict[str, str]:
    """Do 40 random operations; return what the tree is then."""
    tree: dict[str, str] = {}
    names = [f"name{n}" for n in range(12)]
    for _ in range(40):
        match rng.randrange(6):
            case 0 if tree:
                path = rng.choice(sorted(tree))
                del tree[path]
                room.apply(Remove(path))
            case 1:
                directory = rng.choice(["p", "p/q", "r"])
                gone = [path for path in tree if path.startswith(directory + "/")]
                tree = {path: text for path, text in tree.items() if path not in gone}
                room.apply(*map(Remove, gone))
            case 2 if tree:
                path = rng.choice(sorted(tree))
                room.apply(Skip(path, stat(""), "binary", b"x", 1))
                del tree[path]
                room.apply(Remove(path))
            case _:
                changes = {}
                for _ in range(rng.randrange(1, 6)):
                    body = "".join(
                        f"def {rng.choice(names)}\n  {rng.choice(names)}()\n" for _ in range(rng.randrange(6))
                    )
                    changes[rng.choice(["p/a.py", "p/b.py", "p/q/c.py", "r/d.py", "e.py", "test_f.py"])] = body
                tree |= changes
                room.apply(*(put(path, text) for path, text in changes.items()))
    return tree


@pytest.mark.parametrize("seed", range(8))
def test_every_history_ends_in_the_same_index_as_no_history(room: Room, seed: int) -> None:
    """R07: after random puts, removals and skips the canonical dump is that of a new index of the same
    tree."""
    tree = history(random.Random(seed), room)
    fresh = room.new_index("fresh")
    room.apply(*(put(path, text) for path, text in sorted(tree.items())), path=fresh)

    assert room.dump() == room.dump(path=fresh)
    assert room.check() == ()


def test_the_dump_sees_words_that_are_not_the_chunks(room: Room) -> None:
    """The comparison above goes red for a full-text row that is stale, missing or left over."""
    room.apply(put("a.py", A))
    before = room.dump()

    def spoil(connection: WriterConnection) -> None:
        connection.execute("INSERT INTO fts(rowid, path, name, context, body) VALUES(99, '', '', '', 'stray')")

    room.writer.submit(room.path, spoil, urgent=True).result(30)

    assert room.dump() != before
    assert room.check() == ("1 rows of fts_docsize are not in chunks",)


def test_a_large_file_is_written_in_many_slices(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 5,000 definitions yields within itself, so that the writer can serve others."""
    monkeypatch.setattr(write, "_SLICE_S", 0.0)
    change = put("big.py", "".join(f"def function{n}\n  other{n}(); more{n}()\n" for n in range(5000)))

    def job(connection: WriterConnection) -> int:
        return sum(1 for _ in apply(connection, [change], room.cache))

    assert room.writer.submit(room.path, job, urgent=True).result(60) >= 50
