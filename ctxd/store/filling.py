"""Which chunks of an index lack their vector, what is known of them, and putting vectors in.

`begin`, `keep` and `finish` are jobs of the writer thread, the rest reads on a reader thread. `begin` comes first: it
says whose vectors these are. What is left to do is always a question to the tables, so a crash loses nothing and
repeats nothing.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import cast

import msgspec

from ctxd.store import read
from ctxd.store.cache import Cache
from ctxd.store.driver import WriterConnection
from ctxd.store.schema import BEHIND, STUB
from ctxd.store.snapshot import Snapshot
from ctxd.store.vectors import WANTED, signs

_WITHOUT = "NOT EXISTS (SELECT 1 FROM vectors v WHERE v.chunk_id = c.id)"
# Of so few files the order does not matter.
_FEW = 32
_LAST = BEHIND & ~STUB
# Rows between two chances to end the writer's slice: about a millisecond.
_ROWS = 50


class Passage(msgspec.Struct, frozen=True):
    """One chunk without a vector. `path`, `digest` and `byte_start` know it again when its vector comes."""

    chunk: int
    path: str
    digest: bytes
    byte_start: int
    kind: str
    name: str
    parent: str
    signature: str
    doc: str
    code: str


class Filled(msgspec.Struct, frozen=True):
    """The vector of a passage, to be kept in the cache as `key`; without one it is taken from there."""

    passage: Passage
    key: bytes
    vector: bytes = b""


def lacking(snapshot: Snapshot) -> list[int]:
    """Return the files with chunks that lack a vector: code first, what is used most before the rest."""
    rows = snapshot.connection.execute(
        "SELECT f.id, (f.facts & ?) != 0, f.content != 'code', f.path FROM files f WHERE EXISTS"
        f" (SELECT 1 FROM chunks c WHERE c.file_id = f.id AND {WANTED} AND {_WITHOUT})",
        (_LAST,),
    )
    found = cast(list[tuple[int, int, int, str]], rows.fetchall())
    worth = _worth(snapshot) if len(found) > _FEW else {}
    return [file for file, *_ in sorted(found, key=lambda row: (row[1], row[2], -worth.get(row[0], 0), row[3]))]


def _worth(snapshot: Snapshot) -> dict[int, int]:
    """Return for each file how often what it defines is named. Takes a while: of every reference."""
    rows = snapshot.connection.execute(
        "WITH uses AS (SELECT name_id, count(*) AS n FROM refs GROUP BY name_id)"
        " SELECT s.file_id, sum(u.n) FROM symbols s JOIN uses u ON u.name_id = s.name_id GROUP BY 1"
    )
    return dict(rows)


def passages(snapshot: Snapshot, file: int, longest: int) -> list[Passage]:
    """Return the chunks of a file that lack a vector, each with the first `longest` bytes of its code."""
    rows = snapshot.connection.execute(
        "SELECT c.id, f.path, f.digest, c.byte_start, c.kind, coalesce(n.name, ''), coalesce(s.parent, ''),"
        " coalesce(s.signature, ''), coalesce(s.doc, ''), c.byte_end FROM chunks c JOIN files f ON f.id = c.file_id"
        " LEFT JOIN symbols s ON s.id = c.symbol_id LEFT JOIN names n ON n.id = s.name_id"
        f" WHERE c.file_id = ? AND {WANTED} AND {_WITHOUT} ORDER BY c.byte_start",
        (file,),
    )
    found = cast(list[tuple[int, str, bytes, int, str, str, str, str, str, int]], rows.fetchall())
    text = read.text(snapshot, file) if found else b""
    return [
        Passage(*row[:-1], code=text[row[3] : min(row[-1], row[3] + longest)].decode("utf-8", "replace"))
        for row in found
    ]


def begin(connection: WriterConnection, model: str) -> None:
    """Make the vectors of the index those of `model`: those of another one go, which is told until all are there."""
    before = connection.execute("SELECT value FROM meta WHERE key = 'vector_model'").get
    if before == model:
        return
    for rows in ("vectors", "vector_bits", "meta WHERE key = 'vectored'"):
        connection.execute(f"DELETE FROM {rows}")
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('vector_model', ?)", (model,))
    if before is not None:
        connection.execute("INSERT OR REPLACE INTO meta VALUES ('vector_model_before', ?)", (before,))


def keep(
    connection: WriterConnection, model: str, filled: Sequence[Filled], cache: Cache
) -> Generator[None, None, int]:
    """Put in the vectors of those passages that are still there, and return how many that were."""
    if connection.execute("SELECT value FROM meta WHERE key = 'vector_model'").get != model:
        return 0
    kept = 0
    for start in range(0, len(filled), _ROWS):
        for one in filled[start : start + _ROWS]:
            if one.vector:
                cache.put(one.key, one.vector)
            vector = one.vector or cache.get(one.key)
            if vector and _is_there(connection, one.passage):
                connection.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (one.passage.chunk, vector))
                connection.execute(
                    "INSERT OR REPLACE INTO vector_bits VALUES (?, ?)", (one.passage.chunk, signs(vector))
                )
                kept += 1
        yield
    return kept


def finish(connection: WriterConnection, generation: int) -> bool:
    """Note that every chunk of this generation has its vector; False when there is another generation by now."""
    if connection.execute("SELECT value FROM meta WHERE key = 'generation'").get != generation:
        return False
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('vectored', ?)", (generation,))
    connection.execute("DELETE FROM meta WHERE key = 'vector_model_before'")
    return True


def _is_there(connection: WriterConnection, passage: Passage) -> bool:
    """Say whether the chunk is still the one that was read: ids are given out again."""
    found = connection.execute(
        "SELECT 1 FROM chunks c JOIN files f ON f.id = c.file_id"
        " WHERE c.id = ? AND f.path = ? AND f.digest = ? AND c.byte_start = ?",
        (passage.chunk, passage.path, passage.digest, passage.byte_start),
    )
    return found.get is not None
