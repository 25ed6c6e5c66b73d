"""registry.db: which worktrees are attached and which index file of each is current. It alone has migrations.

Read once by `open`, before the loop runs; afterwards its entries live on the event loop, and changes go
through the writer thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import re
import time
from collections.abc import Sequence

import apsw
import msgspec

from ctxd.store.driver import (
    IndexDamaged,
    WriterConnection,
    create,
    make_private_directory,
    open_reader,
    open_writer,
    set_aside,
    translated,
)
from ctxd.store.schema import SCHEMA_VERSION
from ctxd.store.writer import Writer
from ctxprotocol.errors import IndexUnusable

# Step n takes a registry from user_version n to n + 1. Steps are only ever added.
MIGRATIONS = (
    """
    CREATE TABLE worktrees(
      root BLOB PRIMARY KEY,                  -- absolute path, as the kernel has it
      identity TEXT NOT NULL,
      index_file TEXT NOT NULL,               -- relative to the state directory; '' = none yet
      explicit INTEGER NOT NULL,              -- named by ctx init
      attached_ns INTEGER NOT NULL,
      last_used_ns INTEGER NOT NULL
    ) WITHOUT ROWID
    """,
)
# A use is written when the last one written is older than this: a query must not cost a write.
_TOUCH_NS = 600 * 10**9
_INDEX_FILE = re.compile(r"index-\d+-(\d+)\.db(?:\.damaged)?")
_SELECT = "SELECT root, identity, index_file, explicit, attached_ns, last_used_ns FROM worktrees"


class Entry(msgspec.Struct, frozen=True):
    """One attached worktree. `root` may hold surrogate escapes; `index_file` is relative to the state
    directory.

    `explicit`: named by `ctx init`. Times are wall clock in nanoseconds.
    """

    root: str
    identity: str
    index_file: str
    explicit: bool
    attached_ns: int
    last_used_ns: int


class Registry:
    """The attached worktrees of one state directory; event loop only, but for open()."""

    def __init__(self, state_dir: str, writer: Writer, entries: Sequence[Entry]) -> None:
        self._state_dir = state_dir
        self._writer = writer
        self._path = _path(state_dir)
        self._entries = {entry.root: entry for entry in entries}
        self._written_ns = {entry.root: entry.last_used_ns for entry in entries}

    @classmethod
    def open(cls, state_dir: str, writer: Writer) -> Registry:
        """Read the registry, made or migrated where needed, and remove index files that no entry names;
        blocks.

        Raises IndexUnusable for a registry of a newer version, before anything is written. A damaged one is
        set aside: its worktrees attach again when they are asked for.
        """
        path = _path(state_dir)
        try:
            entries = _load(path)
        except IndexDamaged:
            set_aside(path)
            entries = _load(path)
        registry = cls(state_dir, writer, entries)
        registry._sweep()
        return registry

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries, last used first."""
        return tuple(sorted(self._entries.values(), key=lambda entry: (-entry.last_used_ns, entry.root)))

    def get(self, root: str) -> Entry | None:
        """Return the entry of exactly this root."""
        return self._entries.get(root)

    def index_path(self, entry: Entry) -> str:
        """Return the absolute path of the entry's current index file; "" when it has none yet."""
        return self.absolute(entry.index_file) if entry.index_file else ""

    def absolute(self, index_file: str) -> str:
        """Return the absolute path of an index file's name."""
        return os.path.join(self._state_dir, index_file)

    def siblings(self, root: str) -> tuple[str, ...]:
        """Return the index files of the other worktrees of a worktree's repository, last used first."""
        own = self._entries.get(root)
        if own is None or not own.identity:
            return ()
        return tuple(
            self.absolute(entry.index_file)
            for entry in self.entries()
            if entry.identity == own.identity and entry.root != root and entry.index_file
        )

    def next_index_file(self, root: str) -> str:
        """Return a name (relative to the state directory) that no index file of this root has now or had
        last."""
        directory = os.path.join("indexes", hashlib.sha256(os.fsencode(root)).hexdigest()[:16])
        entry = self._entries.get(root)
        names = [os.path.basename(entry.index_file)] if entry is not None else []
        with contextlib.suppress(FileNotFoundError):
            names += os.listdir(self.absolute(directory))
        numbers = [int(match[1]) for name in names if (match := _INDEX_FILE.fullmatch(name))]
        return os.path.join(directory, f"index-{SCHEMA_VERSION}-{max(numbers, default=0) + 1}.db")

    async def attach(self, root: str, identity: str, *, explicit: bool) -> Entry:
        """Record a worktree, or update what is known of it (an explicit one stays so)."""
        now_ns = time.time_ns()
        known = self._entries.get(root)
        if known is None:
            entry = Entry(root, identity, "", explicit, now_ns, now_ns)
        else:
            entry = msgspec.structs.replace(
                known, identity=identity, explicit=explicit or known.explicit, last_used_ns=now_ns
            )
        return await self._save(entry, "identity", "explicit", "last_used_ns")

    async def set_index(self, root: str, index_file: str) -> Entry:
        """Move the pointer to another index file; committed when it returns. KeyError for an unknown root."""
        return await self._save(msgspec.structs.replace(self._entries[root], index_file=index_file), "index_file")

    async def touch(self, root: str) -> None:
        """Note that the worktree was used now; written at most every ten minutes. KeyError for an unknown
        root."""
        entry = msgspec.structs.replace(self._entries[root], last_used_ns=time.time_ns())
        self._entries[root] = entry
        if entry.last_used_ns - self._written_ns[root] > _TOUCH_NS:
            await self._save(entry, "last_used_ns")

    async def forget(self, root: str) -> None:
        """Remove the entry; its files go with remove_index or at the next start."""
        key = os.fsencode(root)

        def delete(connection: WriterConnection) -> None:
            connection.execute("DELETE FROM worktrees WHERE root=?", (key,))

        await asyncio.wrap_future(self._writer.submit(self._path, delete, urgent=True))
        self._entries.pop(root, None)
        self._written_ns.pop(root, None)

    async def _save(self, entry: Entry, *changed: str) -> Entry:
        """Write an entry that is new, else what is changed of it: another change may be under way."""
        row = (
            os.fsencode(entry.root), entry.identity, entry.index_file, entry.explicit, entry.attached_ns,
            entry.last_used_ns,
        )  # fmt: skip

        def replace(connection: WriterConnection) -> None:
            columns = ", ".join(f"{name}=excluded.{name}" for name in changed)
            connection.execute(f"INSERT INTO worktrees VALUES(?,?,?,?,?,?) ON CONFLICT DO UPDATE SET {columns}", row)

        await asyncio.wrap_future(self._writer.submit(self._path, replace, urgent=True))
        now = self._entries.get(entry.root, entry)
        entry = msgspec.structs.replace(now, **{name: getattr(entry, name) for name in changed})
        self._entries[entry.root] = entry
        self._written_ns[entry.root] = entry.last_used_ns
        return entry

    def _sweep(self) -> None:
        """Remove index files that no entry names, but for one that was set aside as damaged."""
        keep = {self.index_path(entry) for entry in self._entries.values()}
        top = self.absolute("indexes")
        make_private_directory(top)
        for directory in os.listdir(top):
            below = os.path.join(top, directory)
            if not os.path.isdir(below):
                continue
            for name in os.listdir(below):
                path = os.path.join(below, name)
                main = re.sub(r"\.new(?=$|-)|-(?:wal|shm|journal)$|\.seal$", "", path)
                if (main != path and main in keep) or path in keep or name.endswith(".damaged"):
                    continue
                with contextlib.suppress(OSError):
                    os.unlink(path)
            with contextlib.suppress(OSError):
                os.rmdir(below)


def _path(state_dir: str) -> str:
    return os.path.join(state_dir, "registry.db")


def _load(path: str, migrations: Sequence[str] = MIGRATIONS) -> list[Entry]:
    """Return the entries of a registry that is made, or brought to the newest version, where needed."""
    if not os.path.lexists(path):
        create(path, ";".join(migrations), len(migrations))
    with translated(path, waiting=False):
        reader = open_reader(path)
        try:
            version = reader.pragma("user_version")
        finally:
            reader.close()
        if version > len(migrations):
            raise IndexUnusable(
                f"{path} was written by a newer version of ctx",
                hint="upgrade ctx, or set CTX_HOME to another directory",
            )
        connection = open_writer(path)
        try:
            for number in range(version, len(migrations)):
                connection.execute(f"BEGIN IMMEDIATE; {migrations[number]}; PRAGMA user_version={number + 1}; COMMIT")
            return [_entry(row) for row in connection.execute(_SELECT)]
        except apsw.SQLError as error:
            raise IndexDamaged(f"{path}: {error}") from error
        finally:
            connection.close()


def _entry(row: tuple[apsw.SQLiteValue, ...]) -> Entry:
    root, identity, index_file, explicit, attached_ns, last_used_ns = row
    match root, identity, index_file, attached_ns, last_used_ns:
        case bytes(), str(), str(), int(), int():
            return Entry(os.fsdecode(root), identity, index_file, bool(explicit), attached_ns, last_used_ns)
    raise IndexDamaged("registry row of a wrong type")
