"""Is an index file what this program wrote? Inspection at attach, the full check for `ctx doctor`.

Nothing repairs a damaged file: it is set aside and a new one is filled, mostly from the
cache.
"""

from __future__ import annotations

import functools
import os
from typing import Literal

import apsw
import msgspec

from ctxd.store import driver
from ctxd.store.driver import IndexDamaged, create, open_reader, translated
from ctxd.store.schema import SCHEMA, SCHEMA_VERSION
from ctxd.store.seals import fits, is_sealed
from ctxprotocol.errors import IndexUnusable

_OBJECTS = "SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type, name"


class Verdict(msgspec.Struct, frozen=True):
    """`missing` no file; `foreign` another schema or maker; `damaged` broken. All but `good` need a new
    file."""

    state: Literal["good", "missing", "foreign", "damaged"]
    reason: str = ""


def create_index(path: str, maker: str) -> None:
    """Create an empty index file; blocks some milliseconds.

    `maker` names what decides the rows besides the files' content: version of the extractor, settings. Raises
    IndexUnusable, and FileExistsError: names of index files are never used twice.
    """
    stamp = "".join(f"{byte:02x}" for byte in maker.encode())
    create(path, f"{SCHEMA}; INSERT INTO meta VALUES ('maker', CAST(x'{stamp}' AS TEXT))", SCHEMA_VERSION)


def inspect(path: str, maker: str) -> Verdict:
    """Judge the file at `path` before it is used. Blocks: scan thread.

    Sealed: compared with its seal, 100 MB in 50 ms. Else every page and index is checked: a second for 100 MB.
    """
    if not os.path.lexists(path):
        return Verdict("missing", "no index file")
    try:
        with translated(path):
            connection = open_reader(path)
            try:
                verdict = _judge(connection, maker)
                if verdict.state != "good":
                    return verdict
                problem = _unlike_its_seal(path) if is_sealed(path) else _unsound(connection)
            finally:
                connection.close()
        return Verdict("damaged", f"index file damaged: {path}: {problem}") if problem else verdict
    except (apsw.BusyError, apsw.LockedError):
        return Verdict("good")  # in use by another program, and it could begin to read it
    except IndexDamaged as error:
        return Verdict("damaged", error.message)
    except UnicodeDecodeError as error:
        return Verdict("damaged", f"index file damaged: {path}: {error}")
    except OSError as error:
        raise IndexUnusable(f"cannot read {path}: {error.strerror}") from error


def set_aside(path: str) -> str:
    """Rename a damaged index file to *.damaged, after writer.close; return that name. One is kept per
    worktree."""
    return driver.set_aside(path)


def remove_index(path: str) -> None:
    """Remove an index file with its log, after writer.close and readers.forget."""
    driver.remove(path)


def check(connection: apsw.Connection) -> tuple[str, ...]:
    """Return everything that is wrong, on a read-write connection in the writer thread; reads the whole file.

    The full-text table keeps no copy of its text, so its own check sees only whether its parts fit each
    other; that it has exactly the chunks' rows is compared here.
    """
    try:
        problems = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)") if row[0] != "ok"]
        problems += [f"foreign key: {row[0]} row {row[1]}" for row in connection.execute("PRAGMA foreign_key_check")]
        connection.execute("INSERT INTO fts(fts, rank) VALUES('integrity-check', 1)")
        for one, other in (("fts_docsize", "chunks"), ("chunks", "fts_docsize")):
            count = connection.execute(f"SELECT count(*) FROM (SELECT id FROM {one} EXCEPT SELECT id FROM {other})").get
            if count:
                problems.append(f"{count} rows of {one} are not in {other}")
        bare = connection.execute(
            "SELECT count(*) FROM files WHERE skip='' AND id NOT IN (SELECT file_id FROM texts)"
        ).get
        if bare:
            problems.append(f"{bare} files have no text")
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
        problems = [str(error)]
    return tuple(problems)


def _judge(connection: apsw.Connection, maker: str) -> Verdict:
    version = connection.pragma("user_version")
    if version != SCHEMA_VERSION or _objects(connection) != _expected():
        return Verdict("foreign", f"index of another schema (version {version}, not {SCHEMA_VERSION})")
    found = connection.execute("SELECT value FROM meta WHERE key='maker'").get
    if found != maker:
        return Verdict("foreign", f"index made by {found!r}, not {maker!r}")
    return Verdict("good")


def _unlike_its_seal(path: str) -> str:
    """Say what is not as it was when the file was closed."""
    if _size_of(path + "-wal"):
        return "it was closed without a log, and has one"
    return "" if fits(path) else "it is not as it was closed"


def _unsound(connection: apsw.Connection) -> str:
    """Check every page and index, those of the full-text table, too; return the first problem."""
    problem = connection.execute("PRAGMA integrity_check(1)").get
    return "" if problem == "ok" else str(problem)


def _objects(connection: apsw.Connection) -> tuple[tuple[apsw.SQLiteValue, ...], ...]:
    return tuple(connection.execute(_OBJECTS))


@functools.cache
def _expected() -> tuple[tuple[apsw.SQLiteValue, ...], ...]:
    connection = apsw.Connection(":memory:")
    try:
        connection.execute(SCHEMA)
        return _objects(connection)
    finally:
        connection.close()


def _size_of(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return 0
    except OSError as error:
        raise IndexUnusable(f"cannot open {path}: {error.strerror}") from error
