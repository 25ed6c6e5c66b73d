"""A directory as a snapshot, through the real parser, chunker and writer, in this process: for tests of search."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import cast

import msgspec

from ctxd.parse.assembly import parse
from ctxd.parse.languages import detect
from ctxd.parse.pipe import ParseSettings
from ctxd.parse.reading import Place
from ctxd.parse.verdicts import verdict
from ctxd.store import driver, integrity
from ctxd.store.cache import Cache
from ctxd.store.snapshot import Snapshot
from ctxd.store.write import Change, Put, Remove, Skip, apply

# No key is given, so no cache is asked.
_NO_CACHE = cast(Cache, None)
_SETTINGS = ParseSettings()


def lay(root: str, files: Mapping[str, str]) -> None:
    """Write files below `root`."""
    for path, text in files.items():
        os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
        with open(os.path.join(root, path), "w", encoding="utf-8", newline="") as file:
            file.write(text)


def change(root: str, path: str) -> Change:
    """Return what the content of a file asks of the store."""
    content = Place(os.fsencode(root)).read(path, _SETTINGS)
    if content.gone:
        return Remove(path)
    language = detect(path, content.data[:1024])
    digest = hashlib.sha256(content.data).digest()
    skip = content.skip or verdict(path, content.data, language)
    if skip:
        return Skip(path, content.stat, skip, digest, content.hashed_ns)
    blob = msgspec.msgpack.encode(parse(content.data, language, _SETTINGS, ""))
    return Put(path, content.stat, digest, content.hashed_ns, b"", blob)


class Index:
    """One index file of the directory `root`; holds nothing open."""

    def __init__(self, root: str, file: str) -> None:
        self.root, self._file, self._generation = root, file, 0
        integrity.create_index(file, "test")

    def take(self, *paths: str) -> None:
        """Bring these paths (none: all there are) up to date."""
        wanted = paths or tuple(_walk(self.root))
        changes = [change(self.root, path) for path in wanted]
        writer = driver.open_writer(self._file)
        try:
            writer.execute("BEGIN IMMEDIATE")
            for _ in apply(writer, changes, _NO_CACHE):
                pass
            writer.execute("COMMIT")
            self._generation += 1
        finally:
            writer.close()

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        """Open what a reader sees."""
        connection = driver.open_reader(self._file)
        try:
            yield Snapshot(connection, self._generation)
        finally:
            connection.close()


def _walk(root: str) -> Iterator[str]:
    for directory, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            yield os.path.relpath(os.path.join(directory, name), root)
