"""Is an index what a new index of the same tree would be? Canonical dumps, SQLite's own checks, equal answers."""

from __future__ import annotations

import contextlib
import glob
import os
import shutil
import tempfile

import apsw

from ctxd.store import dump, integrity, schema
from ctxd.store.driver import open_reader, open_writer
from ctxd.store.snapshot import Snapshot
from ctxprotocol.errors import IndexUnusable
from ctxprotocol.messages import Forget, Update
from tests.home import Home
from tests.link import Link
from tests.tree import Tree

SHOWN = 3


def index_files(home: Home) -> list[str]:
    """Return the index files of a home, oldest first; drafts and files set aside are not among them."""
    return sorted(
        glob.glob(f"{home.path}/indexes/*/index-*.db"), key=lambda path: (os.path.dirname(path), number(path))
    )


def number(path: str) -> int:
    return int(os.path.splitext(path)[0].rsplit("-", 1)[1])


def dumped(path: str) -> list[str]:
    """Return the logical content of the index file at `path`."""
    connection = open_reader(path)
    try:
        connection.execute("BEGIN")
        return list(dump.dump(Snapshot(connection, 0)))
    finally:
        connection.close()


def problems_of(path: str) -> list[str]:
    """Check a copy of an index file, its log included, as a crash left it: SQLite's checks and our own."""
    with tempfile.TemporaryDirectory(prefix="ctx-check-", dir="/tmp") as folder:
        copy = os.path.join(folder, os.path.basename(path))
        for suffix in ("", "-wal"):
            with contextlib.suppress(FileNotFoundError):
                shutil.copy(path + suffix, copy + suffix)
        try:
            connection = open_writer(copy)
        except IndexUnusable as fault:
            return [fault.message]
        try:
            if connection.pragma("user_version") != schema.SCHEMA_VERSION:
                return ["another schema version"]
            return list(integrity.check(connection))
        except apsw.Error as fault:
            return [str(fault)]
        finally:
            connection.close()


class Scratch:
    """A second CTX_HOME that indexes the same tree anew each time it is asked."""

    def __init__(self, bin: str) -> None:
        self.home = Home(bin=bin)
        started = self.home.run("daemon", "start", cwd="/")
        assert started.returncode == 0, started.stderr
        self.link = Link(self.home.path)

    def index(self, tree: Tree) -> None:
        self.link.ask(Update(directory=os.fsencode(tree.root), index_wait_ms=-1))

    def forget(self, tree: Tree) -> None:
        self.link.ask(Forget(directory=os.fsencode(tree.root)))

    def close(self) -> None:
        self.link.close()
        self.home.close()

    def difference(self, home: Home, tree: Tree) -> str:
        """Compare the index of `tree` in `home` with a new one here; return what differs, or nothing."""
        self.index(tree)
        try:
            return first_difference(dumped(index_files(home)[-1]), dumped(index_files(self.home)[-1]))
        finally:
            self.forget(tree)


def first_difference(lived: list[str], new: list[str]) -> str:
    """Return the first rows that only one of two dumps has, in words."""
    if lived == new:
        return ""
    only_lived, only_new = sorted(set(lived) - set(new)), sorted(set(new) - set(lived))
    if not only_lived and not only_new:
        return "the same rows in another number or order"
    return f"only after the history: {only_lived[:SHOWN]}; only in a new index: {only_new[:SHOWN]}"
