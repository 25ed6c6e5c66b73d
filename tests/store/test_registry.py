"""registry.db: entries, pointers, migrations, what is swept and what is refused."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from ctxd.store import registry as module
from ctxd.store.integrity import create_index
from ctxd.store.registry import Registry
from ctxprotocol.errors import IndexUnusable
from tests.store.room import MAKER, Room

ODD = "/srv/caf\udce9 repo"


@pytest.fixture
def home(room: Room) -> Iterator[Room]:
    """A state directory with a writer; its one index file belongs to nobody."""
    yield room


def reopened(room: Room) -> Registry:
    """Open the registry as the next daemon would."""
    room.writer.close(room.directory + "/registry.db").result(10)
    return Registry.open(room.directory, room.writer)


def test_an_attached_worktree_is_there_after_a_restart(home: Room) -> None:
    """Root (odd bytes too), identity, explicit and the pointer come back; explicit is not lost by a later attach."""
    registry = Registry.open(home.directory, home.writer)
    asyncio.run(registry.attach(ODD, "github.com/acme/shop", explicit=True))
    name = registry.next_index_file(ODD)
    create_index(registry.absolute(name), MAKER)
    asyncio.run(registry.set_index(ODD, name))
    entry = asyncio.run(registry.attach(ODD, "github.com/acme/shop2", explicit=False))

    again = reopened(home)

    assert again.entries() == (entry,)
    assert entry.explicit and entry.identity == "github.com/acme/shop2"
    assert again.index_path(entry) == os.path.join(home.directory, name)


def test_changes_under_way_at_once_do_not_take_each_other_back(home: Room) -> None:
    """The pointer moves while someone names the worktree by init: the old file is about to be removed."""
    registry = Registry.open(home.directory, home.writer)

    async def main() -> None:
        await registry.attach("/r", "", explicit=False)
        await asyncio.gather(registry.set_index("/r", "indexes/x"), registry.attach("/r", "a", explicit=True))
        await asyncio.gather(registry.attach("/r", "b", explicit=False), registry.set_index("/r", "indexes/y"))

    asyncio.run(main())
    entry = registry.get("/r")
    assert entry is not None and (entry.index_file, entry.identity, entry.explicit) == ("indexes/y", "b", True)
    assert reopened(home).entries() == (entry,)


def test_numbers_of_index_files_are_not_used_twice(home: Room) -> None:
    """The next number is above every file that is there and above the pointer, set aside or not."""
    registry = Registry.open(home.directory, home.writer)
    asyncio.run(registry.attach("/r", "", explicit=False))
    first = registry.next_index_file("/r")
    asyncio.run(registry.set_index("/r", first))
    second = registry.next_index_file("/r")
    create_index(registry.absolute(second), MAKER)
    os.rename(registry.absolute(second), registry.absolute(second) + ".damaged")

    assert [os.path.basename(n) for n in (first, second, registry.next_index_file("/r"))] == [
        f"index-{module.SCHEMA_VERSION}-{n}.db" for n in (1, 2, 3)
    ]


def test_a_start_sweeps_index_files_that_nobody_names(home: Room) -> None:
    """Files of forgotten worktrees, drafts and former numbers go with their logs; the current one and a damaged
    stay."""
    registry = Registry.open(home.directory, home.writer)
    asyncio.run(registry.attach("/r", "", explicit=False))
    old, current = registry.next_index_file("/r"), ""
    create_index(registry.absolute(old), MAKER)
    current = registry.next_index_file("/r")
    create_index(registry.absolute(current), MAKER)
    asyncio.run(registry.set_index("/r", current))
    directory = os.path.dirname(registry.absolute(current))
    for name in ("index-1-9.db.new", "index-1-9.db-wal", "index-1-0.db.damaged", os.path.basename(current) + "-wal"):
        Path(directory, name).touch()

    reopened(home)

    assert sorted(os.listdir(directory)) == [
        "index-1-0.db.damaged",
        os.path.basename(current),
        os.path.basename(current) + "-wal",
    ]
    assert os.listdir(home.directory + "/indexes") == [os.path.basename(directory)]


def test_forgotten_worktrees_are_gone(home: Room) -> None:
    """forget is committed when it returns."""
    registry = Registry.open(home.directory, home.writer)
    asyncio.run(registry.attach("/r", "", explicit=False))
    asyncio.run(registry.forget("/r"))

    assert registry.get("/r") is None
    assert reopened(home).entries() == ()


def test_a_use_is_not_a_write(home: Room) -> None:
    """touch within ten minutes changes the entry and not the file."""
    registry = Registry.open(home.directory, home.writer)
    before = asyncio.run(registry.attach("/r", "", explicit=False))
    asyncio.run(registry.touch("/r"))
    after = registry.get("/r")

    assert after is not None and after.last_used_ns > before.last_used_ns
    assert reopened(home).entries() == (before,)


def test_a_newer_registry_is_refused_before_any_write(home: Room) -> None:
    """B084: version 999 with another column: one clear line, the bytes stay, nothing beside it is made."""
    path = home.directory + "/registry.db"
    Registry.open(home.directory, home.writer)
    other = apsw.Connection(path)
    other.execute("ALTER TABLE worktrees ADD COLUMN later; PRAGMA user_version=999")
    other.close()
    before = hashlib.sha256(Path(path).read_bytes()).digest()
    stray = home.new_index("stray")

    with pytest.raises(IndexUnusable, match="newer version of ctx"):
        Registry.open(home.directory, home.writer)

    assert hashlib.sha256(Path(path).read_bytes()).digest() == before
    assert os.path.exists(stray)  # not swept either


def test_an_older_registry_is_migrated_step_by_step(home: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    """Entries of version 1 are there under version 2; a failing step leaves version 1."""
    path = home.directory + "/registry.db"
    registry = Registry.open(home.directory, home.writer)
    asyncio.run(registry.attach("/r", "x", explicit=False))
    home.writer.close(path).result(10)

    with pytest.raises(IndexUnusable):
        module._load(path, (*module.MIGRATIONS, "ALTER TABLE worktrees ADD COLUMN a; SELECT nonsense FROM nowhere"))
    entries = module._load(path, (*module.MIGRATIONS, "ALTER TABLE worktrees ADD COLUMN a NOT NULL DEFAULT 0"))

    assert [entry.root for entry in entries] == ["/r"]
    connection = apsw.Connection(path)
    assert connection.pragma("user_version") == 2
    connection.close()


@pytest.mark.parametrize("content", [b"text " * 3000, b"SQLite format 3\0" + bytes(84)])
def test_a_damaged_registry_is_set_aside_once(home: Room, content: bytes) -> None:
    """The daemon starts with no worktrees; they attach again when asked for."""
    Path(home.directory, "registry.db").write_bytes(content)
    registry = Registry.open(home.directory, home.writer)

    assert registry.entries() == ()
    assert asyncio.run(registry.attach("/r", "", explicit=False)).root == "/r"
    assert os.path.exists(home.directory + "/registry.db.damaged")
