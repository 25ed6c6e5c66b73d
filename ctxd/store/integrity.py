"""Is an index file what this program wrote? Inspection at attach, the full check for `ctx doctor`, setting
aside."""

from __future__ import annotations

from typing import Literal

import apsw
import msgspec


class Verdict(msgspec.Struct, frozen=True):
    """`missing` no file; `foreign` another schema or maker; `damaged` broken. All but `good` need a new
    file."""

    state: Literal["good", "missing", "foreign", "damaged"]
    reason: str = ""


def create_index(path: str, maker: str) -> None:
    """Create an empty index file; blocks some milliseconds. `maker` names what decides the rows besides
    content: extractor version and settings. Raises IndexUnusable."""
    raise NotImplementedError


def inspect(path: str, maker: str) -> Verdict:
    """Judge the file at `path` before it is used; cheap after a clean close, else reads it all. Blocks: scan
    thread."""
    raise NotImplementedError


def set_aside(path: str) -> str:
    """Rename a damaged index file to *.damaged, keeping one per directory; return where it is ("" when it was
    gone).

    Its name must not be used again: a connection that is still open on it would remove the new file's log.
    """
    raise NotImplementedError


def remove_index(path: str) -> None:
    """Remove an index file with its log, after writer.close and readers.forget."""
    raise NotImplementedError


def check(connection: apsw.Connection) -> tuple[str, ...]:
    """Return everything that is wrong, on a read-write connection in the writer thread; reads the whole
    file."""
    raise NotImplementedError
