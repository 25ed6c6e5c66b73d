"""One file's facts <-> its rows. Runs in the writer thread, inside the transaction of write.apply.

Yields wherever a slice may end: the caller looks at the clock. Row ids are given out here (largest so far
plus one), so that rows that refer to each other go in by executemany.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable

import msgspec

from ctxd import words
from ctxd.model import Chunk, FileStat, ParsedFile
from ctxd.packing import unpack
from ctxd.store.driver import WriterConnection
from ctxd.store.pathfacts import facts
from ctxd.store.schema import GENERATED, REFERENCE_KINDS

# Rows between two chances to end the slice: about 10 ms of the costly kinds.
_FTS_ROWS = 100
_PLAIN_ROWS = 4000
# Names of a connection are forgotten beyond this many: 20 MB.
_MAX_NAMES = 150_000

_KINDS = {kind: place for place, kind in enumerate(REFERENCE_KINDS)}
_json = msgspec.json.Encoder()

_FILE = (
    "INSERT INTO files(id, path, language, content, facts, skip, note, digest, size_bytes, mtime_ns, ctime_ns, inode,"
    " hashed_ns, encoding, replaced, line_count) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
_CHUNK = (
    "INSERT INTO chunks(id, file_id, symbol_id, kind, line_start, line_end, byte_start, byte_end, tokens)"
    " VALUES(?,?,?,?,?,?,?,?,?)"
)
_SYMBOL = (
    "INSERT INTO symbols(id, file_id, name_id, kind, parent, exported, line_start, line_end, definition_line,"
    " signature, doc) VALUES(?,?,?,?,?,?,?,?,?,?,?)"
)
_REFERENCE = "INSERT INTO refs(file_id, place, name_id, kind, line, symbol_id, receiver) VALUES(?,?,?,?,?,?,?)"
_IMPORT = "INSERT OR IGNORE INTO imports(file_id, module, line, names) VALUES(?,?,?,?)"
_FTS = "INSERT INTO fts(rowid, path, name, context, body) VALUES(?,?,?,?,?)"


class Rows:
    """The tables of one index file within one transaction."""

    def __init__(self, connection: WriterConnection) -> None:
        self._connection = connection
        self._next = {table: self._largest(table) + 1 for table in ("files", "chunks", "symbols", "names")}

    def put(
        self, path: str, stat: FileStat, digest: bytes, hashed_ns: int, parsed: ParsedFile, note: str
    ) -> Generator[None]:
        """Insert a file with its content; it has no rows yet."""
        connection = self._connection
        file_id = self._take("files", 1)
        bits = facts(path) | (GENERATED if parsed.generated else 0)
        connection.execute(
            _FILE,
            (
                file_id, path, parsed.language, parsed.content, bits, parsed.skip, note or parsed.note, digest,
                stat.size_bytes, stat.mtime_ns, stat.ctime_ns, stat.inode, hashed_ns, parsed.encoding,
                parsed.replaced, parsed.line_count,
            ),
        )  # fmt: skip
        if parsed.skip:
            return
        connection.execute("INSERT INTO texts(file_id, body) VALUES(?,?)", (file_id, parsed.text))
        first_symbol = self._put_symbols(file_id, parsed)
        yield
        yield from self._put_references(file_id, parsed, first_symbol)
        yield from self._put_chunks(file_id, path, parsed, first_symbol)

    def skip(self, path: str, stat: FileStat, reason: str, digest: bytes, hashed_ns: int) -> None:
        """Insert a file that is known and not indexed; it has no row yet."""
        self._connection.execute(
            _FILE,
            (
                self._take("files", 1), path, "", "text", facts(path), reason, "", digest, stat.size_bytes,
                stat.mtime_ns, stat.ctime_ns, stat.inode, hashed_ns, "", 0, 0,
            ),
        )  # fmt: skip

    def remove(self, file_id: int) -> None:
        """Delete all rows of a file; before any row of the batch goes in.

        Full-text deletes between inserts make a segment of each run, and with a subquery one of them scans
        all rows.
        """
        connection = self._connection
        ids = (file_id,)
        chunks = connection.execute("SELECT id FROM chunks WHERE file_id=?", ids).fetchall()
        connection.executemany("DELETE FROM fts WHERE rowid=?", chunks)
        connection.executemany("DELETE FROM vectors WHERE chunk_id=?", chunks)
        connection.executemany("DELETE FROM vector_bits WHERE chunk_id=?", chunks)
        for table in ("chunks", "refs", "imports", "symbols", "texts"):
            connection.execute(f"DELETE FROM {table} WHERE file_id=?", ids)
        connection.execute("DELETE FROM files WHERE id=?", ids)

    def _put_symbols(self, file_id: int, parsed: ParsedFile) -> int:
        symbols = parsed.symbols
        ids = self._names(symbol.name for symbol in symbols)
        first = self._take("symbols", len(symbols))
        self._connection.executemany(
            _SYMBOL,
            [
                (
                    number, file_id, ids[s.name], s.kind, s.parent, s.exported, s.line_start, s.line_end,
                    s.definition_line, s.signature, s.doc,
                )
                for number, s in enumerate(symbols, first)
            ],
        )  # fmt: skip
        self._connection.executemany(
            _IMPORT,
            [
                (file_id, i.module, i.line, _json.encode([*zip(i.names, i.aliases, strict=True)]).decode())
                for i in parsed.imports
            ],
        )
        return first

    def _put_references(self, file_id: int, parsed: ParsedFile, first_symbol: int) -> Generator[None]:
        for start in range(0, len(parsed.references), _PLAIN_ROWS):
            references = parsed.references[start : start + _PLAIN_ROWS]
            ids = self._names(reference.name for reference in references)
            self._connection.executemany(
                _REFERENCE,
                [
                    (
                        file_id, place, ids[r.name], _KINDS[r.kind], r.line,
                        first_symbol + r.enclosing if r.enclosing >= 0 else None, r.receiver,
                    )
                    for place, r in enumerate(references, start)
                ],
            )  # fmt: skip
            yield

    def _put_chunks(self, file_id: int, path: str, parsed: ParsedFile, first_symbol: int) -> Generator[None]:
        of_path = path_words(path)
        text = b"" if parsed.words else unpack(parsed.text)
        of_symbol = [words.expand(f"{s.name} {s.qualified_name}") for s in parsed.symbols]
        for start in range(0, len(parsed.chunks), _FTS_ROWS):
            chunks = parsed.chunks[start : start + _FTS_ROWS]
            bodies = parsed.words[start : start + _FTS_ROWS] or [_body(text, chunk) for chunk in chunks]
            first = self._take("chunks", len(chunks))
            self._connection.executemany(
                _CHUNK,
                [
                    (
                        number, file_id, first_symbol + c.symbol if c.symbol >= 0 else None, c.kind, c.line_start,
                        c.line_end, c.byte_start, c.byte_end, c.tokens,
                    )
                    for number, c in enumerate(chunks, first)
                ],
            )  # fmt: skip
            self._connection.executemany(
                _FTS,
                [
                    (
                        number, of_path, of_symbol[c.symbol] if c.symbol >= 0 else "", words.expand(c.context),
                        body,
                    )
                    for number, (c, body) in enumerate(zip(chunks, bodies, strict=True), first)
                ],
            )  # fmt: skip
            yield

    def _names(self, names: Iterable[str]) -> dict[str, int]:
        """Return the ids of `names`, making those that are new; the dict is the connection's, and holds
        more."""
        known = self._connection.names
        if len(known) > _MAX_NAMES:
            known.clear()
        missing = [(name,) for name in dict.fromkeys(names) if name not in known]
        if missing:
            found = self._connection.executemany("SELECT name, id FROM names WHERE name=?", missing)
            known.update(found)
            fresh = [name for (name,) in missing if name not in known]
            first = self._take("names", len(fresh))
            self._connection.executemany(
                "INSERT INTO names(id, name, folded) VALUES(?,?,?)",
                [(number, name, name.casefold()) for number, name in enumerate(fresh, first)],
            )
            known.update(zip(fresh, range(first, first + len(fresh)), strict=True))
        return known

    def _largest(self, table: str) -> int:
        value: int = self._connection.execute(f"SELECT coalesce(max(id), 0) FROM {table}").get
        return value

    def _take(self, table: str, count: int) -> int:
        first = self._next[table]
        self._next[table] = first + count
        return first


def _body(text: bytes, chunk: Chunk) -> str:
    return words.expand(text[chunk.byte_start : chunk.byte_end].decode())


def path_words(path: str) -> str:
    """Return what the full-text index takes for a path: the stem twice, the last two directories once."""
    *directories, name = path.split("/")
    stem = name[: name.index(".", 1)] if "." in name[1:] else name
    return words.expand(" ".join([stem, stem, *directories[-2:]]))
