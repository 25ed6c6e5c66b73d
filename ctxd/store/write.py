"""Changes of a worktree -> rows. Runs in the writer thread only; decodes the workers' results, which are
bytes until here.

A file is replaced as a whole: its old rows go, its new ones come, in the transaction of the batch it belongs
to.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TypeAlias

import apsw
import msgspec

from ctxd.model import FileStat, SkipReason
from ctxd.store.cache import Cache


class Put(msgspec.Struct, frozen=True):
    """A file with its content. `blob` is an encoded ParsedFile; empty: take it from the cache under `key`."""

    path: str
    stat: FileStat
    digest: bytes
    hashed_ns: int
    key: bytes
    blob: bytes = b""
    note: str = ""


class Touch(msgspec.Struct, frozen=True):
    """A file whose stat changed and whose content did not."""

    path: str
    stat: FileStat
    digest: bytes
    hashed_ns: int


class Skip(msgspec.Struct, frozen=True):
    """A file that is known and not indexed. `digest` is empty when it was never opened."""

    path: str
    stat: FileStat
    reason: SkipReason
    digest: bytes = b""
    hashed_ns: int = 0


class Remove(msgspec.Struct, frozen=True):
    """A file that is gone."""

    path: str


class RemoveBelow(msgspec.Struct, frozen=True):
    """A directory that is gone with all below it; "" is the root."""

    directory: str


Change: TypeAlias = Put | Touch | Skip | Remove | RemoveBelow


class Applied(msgspec.Struct, frozen=True):
    """What a batch did. `files` counts files whose rows changed.

    `missing` are paths that were left as they were, because the cache had lost their entry or a Touch did not
    fit the row: parse them anew.
    """

    generation: int
    files: int
    missing: tuple[str, ...] = ()


def apply(
    connection: apsw.Connection, changes: Sequence[Change], cache: Cache
) -> Generator[None, None, Applied]:
    """Replace the rows of the changed files and add 1 to the generation if any row of content changed."""
    raise NotImplementedError
    yield
