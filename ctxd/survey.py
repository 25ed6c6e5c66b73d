"""Batch -> survey: what the batch's paths are now, compared with what the store believes of them.

Runs on the loop; listing and comparing run in the scan thread, the store's side in a reader thread.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Executor
from typing import TypeVar

import msgspec

from ctxd.model import Batch, Known, Listing
from ctxd.scan.discover import discover
from ctxd.scan.git import rule_files
from ctxd.scan.look import Looked, look
from ctxd.scan.reconcile import absorb, reconcile, unlike
from ctxd.scan.rules import Rules
from ctxd.store import catalog
from ctxd.store.readers import Readers
from ctxd.store.write import Change, Remove, Skip

T = TypeVar("T")

# The store's own reads for a survey; the largest worktree needs about a second.
READ_S = 120.0


class Watch(msgspec.Struct, frozen=True, eq=False):
    """How a survey has directories and rule files watched before it lists them."""

    add: Callable[[str], object]
    add_rules: Callable[[str], None]


class Survey(msgspec.Struct, frozen=True):
    """What a batch comes to: paths to read, changes that need no read, and what the store believed."""

    suspects: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    known: Mapping[str, Known] = {}


class Surveyor:
    """Takes surveys of one worktree. `listing` is what they say of the whole tree; its files are in the index."""

    def __init__(self, root: str, scan: Executor, readers: Readers, rules: Callable[[], Rules]) -> None:
        self.root = root
        self.listing: Listing | None = None
        self._scan = scan
        self._readers = readers
        self._rules = rules

    async def survey(self, batch: Batch, index_path: str, known_paths: Collection[str], watch: Watch) -> Survey:
        """Compare what `batch` is about with the index at `index_path`. Raises RootGone, IndexUnusable."""
        rules = self._rules()
        if batch.reconcile:
            return await self._whole(index_path, watch, checksums=batch.checksums)
        listings = await self._in_scan(
            lambda: [_list_below(self.root, rules, where, watch) for where in sorted(batch.listings)]
        )
        covered = {listed.path for listing in listings for listed in listing.files}
        paths = sorted(batch.paths - covered)
        looked = await self._in_scan(lambda: look(self.root, rules, paths, known_paths)) if paths else Looked((), ())
        new = covered.union(found.path for found in looked.found).difference(known_paths)
        # From here on which files are too many depends on all others.
        if len(known_paths) + len(new) > rules.max_files and (
            listings or not await self._in_place(looked, index_path, known_paths)
        ):
            return await self._whole(index_path, watch, checksums=False)
        for part in listings:
            self.listing = absorb(self.listing, part)
        survey = await self._compare(listings, index_path, checksums=False) if listings else Survey()
        return Survey(
            suspects=(*survey.suspects, *(f.path for f in looked.found if not f.skip)),
            changes=(
                *survey.changes,
                *(Skip(path=f.path, stat=f.stat, reason=f.skip) for f in looked.found if f.skip),
                *(Remove(path=gone) for gone in looked.gone if gone in known_paths),
            ),
            known=survey.known,
        )

    async def unlike(self, index_path: str, watch: Watch) -> tuple[str, ...]:
        """Return the paths that came or went against the index; no stat is compared. Raises RootGone, IndexUnusable."""
        rules = self._rules()
        listing = await self._in_scan(lambda: _list_tree(self.root, rules, watch))
        known = await self._readers.run(index_path, catalog.known_files, deadline_s=READ_S)
        return await self._in_scan(lambda: unlike(known, listing))

    async def _whole(self, index_path: str, watch: Watch, *, checksums: bool) -> Survey:
        rules = self._rules()
        listing = await self._in_scan(lambda: _list_tree(self.root, rules, watch))
        self.listing = absorb(None, listing)
        return await self._compare([listing], index_path, checksums=checksums)

    async def _in_place(self, looked: Looked, index_path: str, known_paths: Collection[str]) -> bool:
        """Say whether no file came, went, or was left out: whether the same files as before are too many."""
        if any(gone in known_paths for gone in looked.gone):
            return False
        known = await self._readers.run(index_path, catalog.known_files, deadline_s=READ_S)
        return all(found.path in known and not known[found.path].skip and not found.skip for found in looked.found)

    async def _compare(self, listings: Sequence[Listing], index_path: str, *, checksums: bool) -> Survey:
        known = await self._readers.run(index_path, catalog.known_files, deadline_s=READ_S)
        now_ns = time.time_ns()
        found = await self._in_scan(
            lambda: [reconcile(known, one, checksums=checksums, now_ns=now_ns) for one in listings]
        )
        return Survey(
            suspects=tuple(suspect for part in found for suspect in part.suspects),
            changes=(
                *(Skip(path=s.path, stat=s.stat, reason=s.skip) for part in found for s in part.skips),
                *(Remove(path=gone) for part in found for gone in part.gone),
            ),
            known=known,
        )

    async def _in_scan(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._scan, function)


def _list_tree(root: str, rules: Rules, watch: Watch) -> Listing:
    """List the whole worktree, with git's own rule files watched before it is looked at; scan thread."""
    for path in rule_files(root):
        watch.add_rules(path)
    return _list_below(root, rules, "", watch)


def _list_below(root: str, rules: Rules, directory: str, watch: Watch) -> Listing:
    """List what is below one directory, with the rule files of nested repositories watched; scan thread."""
    listing = discover(root, rules, directory, watch.add)
    if listing.nested:
        for path in rule_files(root, listing.nested):
            watch.add_rules(path)
    return listing
