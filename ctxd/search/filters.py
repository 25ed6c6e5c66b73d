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
_CONTENT = {"code": ("code",), "docs": ("docs", "text"), "config": ("config",)}


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


def takes(request: Filtered) -> Callable[[str, str, str], bool] | None:
    """Return a test for files by path, language and content, None when the filters leave all of them.

    Raises UsageFailed for a bad pattern.
    """
    accept = globs.paths(request.paths, request.excludes)
    contents = _CONTENT.get(request.content)
    languages = frozenset(request.languages)
    if accept is None and contents is None and not languages:
        return None
    return lambda path, language, content: (
        (not languages or language in languages)
        and (contents is None or content in contents)
        and (accept is None or accept(path))
    )


def scope(snapshot: Snapshot, request: Filtered) -> Scope:
    """Return the scope of a request. Raises UsageFailed for a bad pattern."""
    accept = takes(request)
    if accept is None and not request.kind:
        return ALL
    files = None
    if accept is not None:
        files = frozenset(number for number, *row in read.paths(snapshot) if accept(*row))
    chunks = read.chunks_of(snapshot, files, request.kind)
    return Scope(files, chunks, request.kind, frozenset(chunks))
