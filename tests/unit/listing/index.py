"""A small index in memory, filled by hand with the real schema."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence

import apsw

from ctxd.model import Freshness, Symbol, View
from ctxd.packing import pack
from ctxd.store.schema import SCHEMA
from ctxd.store.snapshot import Snapshot

FRESH = Freshness(fresh=True)
ROOT = "/home/ada/shop"


def view(prefix: str | None = "", freshness: Freshness = FRESH, **rest: object) -> View:
    """A request that was received now."""
    return View(root=ROOT, freshness=freshness, started_ns=time.perf_counter_ns(), prefix=prefix, **rest)


class Index:
    """An index with a generation of 42; `file` adds a path with its definitions, one chunk for each and for gaps."""

    def __init__(self) -> None:
        self.connection = apsw.Connection(":memory:")
        self.connection.execute(SCHEMA)

    @property
    def snapshot(self) -> Snapshot:
        return Snapshot(self.connection, 42)

    def file(
        self,
        path: str,
        text: str = "",
        symbols: Sequence[Symbol] = (),
        *,
        language: str = "python",
        content: str = "code",
        facts: int = 0,
        skip: str = "",
        note: str = "",
        replaced: int = 0,
    ) -> None:
        """Add a file; its chunks are its outermost definitions and what lies between them."""
        body = text.encode()
        execute = self.connection.execute
        execute(
            "INSERT INTO files(path, language, content, facts, skip, note, digest, size_bytes, mtime_ns, ctime_ns,"
            " inode, hashed_ns, encoding, replaced, line_count) VALUES (?,?,?,?,?,?,?,?,1,2,3,4,'utf-8',?,?)",
            (path, language, content, facts, skip, note, b"d", len(body), replaced, text.count("\n")),
        )
        number = self.connection.last_insert_rowid()
        execute("INSERT INTO texts VALUES (?, ?)", (number, pack(body)))
        ids = [self._symbol(number, symbol) for symbol in symbols]
        self._chunks(number, body, symbols, ids)

    def _symbol(self, file: int, symbol: Symbol) -> int:
        execute = self.connection.execute
        execute("INSERT OR IGNORE INTO names(name, folded) VALUES (?, ?)", (symbol.name, symbol.name.casefold()))
        execute(
            "INSERT INTO symbols(file_id, name_id, kind, parent, exported, line_start, line_end, definition_line,"
            " signature, doc) SELECT ?, id, ?, ?, ?, ?, ?, ?, ?, ? FROM names WHERE name = ?",
            (
                file,
                symbol.kind,
                symbol.parent,
                symbol.exported,
                symbol.line_start,
                symbol.line_end,
                symbol.definition_line,
                symbol.signature,
                symbol.doc,
                symbol.name,
            ),
        )
        return self.connection.last_insert_rowid()

    def _chunks(self, file: int, body: bytes, symbols: Sequence[Symbol], ids: Sequence[int]) -> None:
        lines = body.splitlines(keepends=True)
        starts = {symbol.line_start: (symbol, number) for symbol, number in zip(symbols, ids, strict=True)}
        line = 1
        while line <= len(lines):
            symbol, number = starts.get(line, (None, None))
            ahead = [start for start in starts if start > line]
            end = symbol.line_end if symbol else min(ahead, default=len(lines) + 1) - 1
            begin = sum(map(len, lines[: line - 1]))
            self.connection.execute(
                "INSERT INTO chunks(file_id, symbol_id, kind, line_start, line_end, byte_start, byte_end, tokens)"
                " VALUES (?,?,?,?,?,?,?,1)",
                (
                    file,
                    number,
                    "definition" if symbol else "gap",
                    line,
                    end,
                    begin,
                    begin + sum(map(len, lines[line - 1 : end])),
                ),
            )
            line = end + 1


def symbol(name: str, lines: tuple[int, int], kind: str = "function", **rest: object) -> Symbol:
    """A definition whose own line is the first of its span unless said otherwise."""
    values = {
        "qualified_name": name,
        "parent": "",
        "exported": True,
        "definition_line": lines[0],
        "signature": "",
        "doc": "",
        **rest,
    }
    return Symbol(name=name, kind=kind, line_start=lines[0], line_end=lines[1], **values)


def shop() -> Index:
    """Four indexed files, three that are skipped: a pool in Python, its test, a queue in C with its header."""
    index = Index()
    index.file(
        "src/pool.py",
        POOL,
        [
            symbol("Pool", (3, 10), "class", signature="class Pool", doc="Keeps connections open. Never more than 20."),
            symbol("take", (6, 10), "method", qualified_name="Pool.take", parent="Pool", signature="def take(self)"),
            symbol("create_pool", (13, 16), signature="def create_pool(size=20) -> Pool", doc="Create the pool."),
        ],
    )
    index.file(
        "qa/test_pool.py",
        "def create_pool():\n    return None\n",
        [symbol("create_pool", (1, 2), signature="def create_pool()")],
        facts=1,
    )
    index.file(
        "include/queue.h",
        "#pragma once\nint queue_push(int item);\n",
        [symbol("queue_push", (2, 2), signature="int queue_push(int item)")],
        language="c",
    )
    index.file(
        "src/queue.c",
        "/* Push. */\nint queue_push(int item)\n{\n    return item;\n}\n",
        [symbol("queue_push", (1, 5), definition_line=2, signature="int queue_push(int item)", doc="Push.")],
        language="c",
        note="syntax errors",
        replaced=2,
    )
    index.file("logo.png", skip="binary", language="", content="text")
    index.file("poetry.lock", skip="lock file", language="", content="text")
    index.file("src/x.min.js", skip="minified", language="javascript")
    return index


POOL = '''import socket

class Pool:
    """Keeps connections open. Never more than 20."""

    def take(self):
        """Take one out."""
        if True:
            pass
        return socket.socket()


def create_pool(size=20):
    """Create the pool."""
    pool = Pool()
    return pool
'''


def answered(text: str) -> str:
    """Text with its times, which differ from run to run, replaced."""
    return re.sub(r"(<1|[\d,]+) ms search", "N ms search", text)


def directory() -> bytes:
    """The caller's directory as a request carries it."""
    return os.fsencode(ROOT)
