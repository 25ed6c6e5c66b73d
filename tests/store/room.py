"""A store of its own for one test, and files whose facts follow from their text alone."""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import msgspec

from ctxd import words
from ctxd.model import Chunk, FileStat, Import, ParsedFile, Reference, Symbol
from ctxd.packing import pack
from ctxd.store import integrity
from ctxd.store.cache import MAX_BYTES, Cache
from ctxd.store.dump import dump
from ctxd.store.readers import Readers
from ctxd.store.snapshot import Snapshot
from ctxd.store.write import Applied, Change, Put, apply
from ctxd.store.writer import Writer

T = TypeVar("T")

MAKER = "test 1"
_DEFINITION = re.compile(r"def (\w+)")
_CALL = re.compile(r"(\w+)\(")


def parse(text: str) -> ParsedFile:
    """Return facts of a text of lines `def name`, `name()` and `import module`: one chunk per definition."""
    lines = text.splitlines(keepends=True)
    starts = [n for n, line in enumerate(lines) if n == 0 or _DEFINITION.match(line)]
    symbols: list[Symbol] = []
    chunks: list[Chunk] = []
    bodies: list[str] = []
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=False):
        body = "".join(lines[start:end])
        place = len("".join(lines[:start]).encode())
        symbol = -1
        if match := _DEFINITION.match(body):
            symbol = len(symbols)
            symbols.append(Symbol(match[1], match[1], "function", "", True, start + 1, end, start + 1, lines[start]))
        kind = "definition" if symbol >= 0 else "gap"
        chunks.append(Chunk(kind, symbol, start + 1, end, place, place + len(body.encode()), len(body), lines[start]))
        bodies.append(words.expand(body))
    owners = {n: i for i, s in enumerate(symbols) for n in range(s.line_start, s.line_end + 1)}
    return ParsedFile(
        language="python",
        content="code",
        encoding="utf-8",
        replaced=0,
        line_count=len(lines),
        text=pack(text.encode()),
        symbols=tuple(symbols),
        references=tuple(
            Reference(name, "call", n, owners.get(n, -1))
            for n, line in enumerate(lines, 1)
            for name in _CALL.findall(line)
        ),
        imports=tuple(
            Import(line.split()[1], n, ("x",), ("",)) for n, line in enumerate(lines, 1) if line.startswith("import ")
        ),
        chunks=tuple(chunks),
        words=tuple(bodies),
    )


def put(path: str, text: str, *, note: str = "") -> Put:
    """Return the change that puts `text` at `path`."""
    digest = hashlib.sha256(text.encode()).digest()
    blob = msgspec.msgpack.encode(parse(text))
    return Put(path, stat(text), digest, 5, digest, blob, note)


def stat(text: str, mtime_ns: int = 1) -> FileStat:
    """Return the stat of a file with this text."""
    return FileStat(len(text.encode()), mtime_ns, 1, 1)


class Room:
    """Reader threads, writer thread, cache and one index file in a directory; blocking, for tests."""

    def __init__(self, directory: str, *, cache_bytes: int = MAX_BYTES) -> None:
        self.directory = directory
        self.readers = Readers(2)
        self.cache = Cache(directory, self.readers, max_bytes=cache_bytes, clock=self.clock)
        self.writer = Writer(self.cache)
        self.now = 1_000_000_000.0
        self.path = self.new_index("one")

    def clock(self) -> float:
        return self.now

    def new_index(self, name: str) -> str:
        path = f"{self.directory}/indexes/{name}/index-1-1.db"
        integrity.create_index(path, MAKER)
        return path

    def submit(self, changes: Sequence[Change], *, path: str = "", urgent: bool = True) -> Future[Applied]:
        return self.writer.submit(
            path or self.path, lambda connection: apply(connection, changes, self.cache), urgent=urgent
        )

    def apply(self, *changes: Change, path: str = "") -> Applied:
        return self.submit(changes, path=path).result(30)

    def read(self, function: Callable[[Snapshot], T], *, path: str = "", deadline_s: float = 30) -> T:
        return asyncio.run(self.readers.run(path or self.path, function, deadline_s=deadline_s))

    def rows(self, sql: str, *, path: str = "") -> list[tuple[Any, ...]]:
        return self.read(lambda snapshot: snapshot.connection.execute(sql).fetchall(), path=path)

    def dump(self, *, path: str = "") -> list[str]:
        return self.read(lambda snapshot: list(dump(snapshot)), path=path)

    def check(self, *, path: str = "") -> tuple[str, ...]:
        return self.writer.submit(path or self.path, integrity.check, urgent=True).result(30)

    def close(self) -> None:
        self.writer.stop()
        self.readers.stop()
