"""Texts of files that were shown lately, decompressed: questions come back to the same few large files.

Shared by the reader threads, and forgotten when they are idle. An entry is named by the digest of the file's bytes, so
it is right for every snapshot and worktree; what is forgotten costs a decompression (2 ms per MB) and nothing else.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

from ctxd.packing import unpack_beginning

MAX_BYTES = 8 << 20
# What an entry costs besides its text: as much again, in a tree of small files.
ENTRY_BYTES = 300


class Texts:
    """A bounded set of texts or their beginnings, least recently used first."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._known: OrderedDict[bytes, bytes] = OrderedDict()
        self._whole: set[bytes] = set()
        self._bytes = 0

    def take(self, digest: bytes, body: bytes, until: int = 0) -> bytes:
        """Return the first `until` bytes (0 = all) of the text that `body` is compressed from."""
        with self._lock:
            known = self._known.get(digest)
            if known is not None and (digest in self._whole or 0 < until <= len(known)):
                self._known.move_to_end(digest)
                return known[:until] if until else known
        text, whole = unpack_beginning(body, until)
        self._keep(digest, text, whole=whole)
        return text

    def forget(self) -> None:
        """Let go of all texts."""
        with self._lock:
            self._known.clear()
            self._whole.clear()
            self._bytes = 0

    def _keep(self, digest: bytes, text: bytes, *, whole: bool) -> None:
        with self._lock:
            self._drop(digest)
            self._known[digest] = text
            self._bytes += len(text) + ENTRY_BYTES
            if whole:
                self._whole.add(digest)
            while self._bytes > self._max_bytes:
                self._drop(next(iter(self._known)))

    def _drop(self, digest: bytes) -> None:
        text = self._known.pop(digest, None)
        if text is not None:
            self._bytes -= len(text) + ENTRY_BYTES
            self._whole.discard(digest)


# Of all reader threads.
shown = Texts()
