"""The whole logical content of an index, the same for every history that led to it. For tests and `ctx
doctor`.

Left out: row ids, stat times, inodes, the generation, names that nothing uses. Ordered by path, then span.
Runs on a reader thread; costs several times what the index was to fill, since it takes the full-text index
apart.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator

import apsw
import msgspec

from ctxd.packing import unpack
from ctxd.store.schema import FTS_COLUMNS, QUALIFIED_NAME, REFERENCE_KINDS
from ctxd.store.snapshot import Snapshot

_FILES = (
    "SELECT path, id, language, content, facts, skip, note, hex(digest), size_bytes, encoding, replaced, line_count"
    " FROM files ORDER BY path"
)
_SYMBOLS = (
    f"SELECT {QUALIFIED_NAME}, n.name, s.kind, s.parent, s.exported, s.line_start, s.line_end, s.definition_line,"
    " s.signature, s.doc FROM symbols s JOIN names n ON n.id=s.name_id WHERE s.file_id=?"
)
_REFERENCES = (
    f"SELECT used.name, r.kind, r.line, r.receiver, {QUALIFIED_NAME}, s.definition_line FROM refs r"
    " JOIN names used ON used.id=r.name_id LEFT JOIN symbols s ON s.id=r.symbol_id"
    " LEFT JOIN names n ON n.id=s.name_id WHERE r.file_id=?"
)
_IMPORTS = "SELECT line, module, names FROM imports WHERE file_id=?"
_CHUNKS = (
    f"SELECT c.line_start, c.line_end, c.byte_start, c.byte_end, c.tokens, c.kind, {QUALIFIED_NAME}, s.definition_line,"
    " c.id FROM chunks c LEFT JOIN symbols s ON s.id=c.symbol_id LEFT JOIN names n ON n.id=s.name_id WHERE c.file_id=?"
)
_json = msgspec.json.Encoder()


def dump(snapshot: Snapshot) -> Iterator[str]:
    """Yield the index as lines of JSON arrays, the first word of which is the kind of the row."""
    connection = snapshot.connection
    terms = _terms(connection)
    for path, file_id, *facts in connection.execute(_FILES).fetchall():
        yield _line("file", path, *facts)
        text = connection.execute("SELECT body FROM texts WHERE file_id=?", (file_id,)).get
        if isinstance(text, bytes):
            yield _line("text", path, hashlib.sha256(unpack(text)).hexdigest())
        ids = (file_id,)
        yield from _sorted("symbol", path, connection.execute(_SYMBOLS, ids))
        yield from _sorted(
            "reference",
            path,
            ((name, REFERENCE_KINDS[kind], *rest) for name, kind, *rest in connection.execute(_REFERENCES, ids)),
        )
        yield from _sorted("import", path, connection.execute(_IMPORTS, ids))
        yield from _sorted(
            "chunk", path, ((*row, terms.pop(chunk, "")) for *row, chunk in connection.execute(_CHUNKS, ids))
        )
    for left in sorted(terms.values()):
        yield _line("words of no chunk", left)


def _terms(connection: apsw.Connection) -> dict[int, str]:
    """Return chunk -> digest of its words with their places."""
    found: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for term, chunk, column, place in connection.execute("SELECT term, doc, col, offset FROM fts_places"):
        found[chunk].append((FTS_COLUMNS.index(column), place, term))
    return {chunk: hashlib.sha256(_json.encode(sorted(places))).hexdigest() for chunk, places in found.items()}


def _sorted(kind: str, path: object, rows: Iterator[tuple[object, ...]]) -> Iterator[str]:
    yield from sorted(_line(kind, path, *row) for row in rows)


def _line(*values: object) -> str:
    return _json.encode(values).decode()
