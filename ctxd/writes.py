"""What a batch's results come to in the store, and how many transactions they take. Runs on the loop."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from ctxd.model import Known
from ctxd.parse.pool import Parsed
from ctxd.scan.reconcile import RACY_NS
from ctxd.store.write import Change, Put, Remove, Skip, Touch

# Results of a first index wait for the writer in this many transactions, so memory stays bounded.
WRITES_AHEAD = 4
# Source in one transaction of a first index. Each commit makes a segment of the full-text index, and small segments
# cost merges.
PART_BYTES = 4_000_000

# Commits changes as one transaction; returns the paths that must be parsed anew.
Commit = Callable[[Sequence[Change]], Awaitable[tuple[str, ...]]]
# Counts files of the batch as committed.
Advance = Callable[[int], None]


class Writes:
    """The transactions of one batch. In parts: each list at once, a few ahead; else all in one at the end."""

    def __init__(self, commit: Commit, advance: Advance, *, in_parts: bool) -> None:
        self._commit_changes = commit
        self._advance = advance
        self._in_parts = in_parts
        self._changes: list[Change] = []
        self._files = 0
        self._bytes = 0
        self._ahead: set[asyncio.Task[None]] = set()
        self._missing: list[str] = []

    async def add(self, changes: Collection[Change], files: int = 0) -> None:
        """Take in changes that stand for `files` of the batch's suspects."""
        self._changes.extend(changes)
        self._files += files
        self._bytes += sum(change.stat.size_bytes for change in changes if isinstance(change, Put))
        if not self._in_parts or self._bytes < PART_BYTES:
            return
        self._commit()
        while len(self._ahead) >= WRITES_AHEAD:
            await self._reap(asyncio.FIRST_COMPLETED)

    async def finish(self) -> tuple[str, ...]:
        """Commit what is left and return the paths that the cache had promised and lost."""
        self._commit()
        while self._ahead:
            await self._reap(asyncio.ALL_COMPLETED)
        missing, self._missing = tuple(self._missing), []
        return missing

    def cancel(self) -> None:
        """Drop the transactions that the writer has not begun."""
        for task in self._ahead:
            task.cancel()

    async def settle(self) -> None:
        """Wait for what is ahead, whatever comes of it: after a failure nothing of this batch may come late."""
        await asyncio.gather(*self._ahead, return_exceptions=True)

    def _commit(self) -> None:
        changes, files = self._changes, self._files
        self._changes, self._files, self._bytes = [], 0, 0
        if changes:
            self._ahead.add(asyncio.create_task(self._apply(changes, files)))
        else:
            self._advance(files)

    async def _apply(self, changes: Sequence[Change], files: int) -> None:
        self._missing.extend(await self._commit_changes(changes))
        self._advance(files)

    async def _reap(self, until: str) -> None:
        done, self._ahead = await asyncio.wait(self._ahead, return_when=until)
        for task in done:
            task.result()


def changes_for(parsed: Parsed, known: Mapping[str, Known]) -> tuple[Change, ...]:
    """Return what the store has to do about one read file; nothing when it is as the store believes."""
    before = known.get(parsed.path)
    if parsed.gone:
        return (Remove(path=parsed.path),)
    if before is not None and before.digest == parsed.digest != b"" and before.skip == parsed.skip:
        if before.stat == parsed.stat and not _racy(before):
            return ()
        return (Touch(parsed.path, parsed.stat, parsed.digest, parsed.hashed_ns),)
    if parsed.skip:
        return (Skip(parsed.path, parsed.stat, parsed.skip, parsed.digest, parsed.hashed_ns),)
    return (Put(parsed.path, parsed.stat, parsed.digest, parsed.hashed_ns, parsed.key, parsed.blob, parsed.note),)


def _racy(known: Known) -> bool:
    """Say whether the file changed so shortly before it was hashed that its stat proves nothing."""
    return known.hashed_ns - max(known.stat.mtime_ns, known.stat.ctime_ns) <= RACY_NS
