"""What the filters of a request leave of the index. Worked out before anything is ranked; on a reader thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from ctxd.search import globs
from ctxd.store import read
from ctxd.store.read import SymbolRow
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Filtered

# A document need not be Markdown: plain text files are what is asked for with `--content docs`, too.
CONTENT = {"code": ("code",), "docs": ("docs", "text"), "config": ("config",)}


class Scope(msgspec.Struct, frozen=True):
    """The files and chunks that may be answered with; None = all. `kind` limits definitions, "" = any."""

    files: frozenset[int] | None = None
    chunks: Sequence[int] | None = None
    kind: str = ""
    allowed: frozenset[int] = frozenset()

    @property
    def accept(self) -> Callable[[SymbolRow], bool] | None:
        """A test for definitions, None when all may be answered with."""
        return None if self.files is None and not self.kind else self.takes

    def takes(self, row: SymbolRow) -> bool:
        """Whether a definition may be answered with."""
        return self.takes_file(row.file) and (not self.kind or row.kind == self.kind)

    def takes_file(self, file: int) -> bool:
        """Whether a file may be answered with."""
        return self.files is None or file in self.files

    def takes_chunk(self, chunk: int) -> bool:
        """Whether a chunk may be answered with."""
        return self.chunks is None or chunk in self.allowed


ALL = Scope()


def scope(snapshot: Snapshot, request: Filtered) -> Scope:
    """Return the scope of a request. Raises UsageFailed for a pattern that is none."""
    accept = globs.paths(request.paths, request.excludes)
    contents = CONTENT.get(request.content)
    if accept is None and contents is None and not request.languages and not request.kind:
        return ALL
    files = None
    if accept is not None or contents is not None or request.languages:
        languages = frozenset(request.languages)
        files = frozenset(
            number
            for number, path, language, content in read.paths(snapshot)
            if (not languages or language in languages)
            and (contents is None or content in contents)
            and (accept is None or accept(path))
        )
    chunks = read.chunks_of(snapshot, files, request.kind)
    return Scope(files, chunks, request.kind, frozenset(chunks))
