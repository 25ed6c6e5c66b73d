"""Events of one worktree, collected until they are worth a batch. Pure: the caller brings the clock.

Owned by the worktree that feeds it; runs on the loop.
"""

from __future__ import annotations

from typing import assert_never

from ctxd.model import Batch, FileEvent, Overflow

# An editor's save is three to six events within a few milliseconds; a build or checkout goes on for seconds.
QUIET_MS = 60
DEBOUNCE_MS = 1_000
# More paths than an editor writes at once, or a whole comparison: a checkout of 5,000 files takes seconds, and begun in
# the middle of it the comparison is to be done twice. Who asks meanwhile does not wait for this.
CROWD = 200
CROWD_QUIET_MS = 250
CROWD_DEBOUNCE_MS = 5_000
# Past this many paths one listing of the tree is cheaper than a look at each.
STORM = 2_000


class Debouncer:
    """Collects events; says when a batch is due; gives it out whole."""

    def __init__(self) -> None:
        self._paths: set[str] = set()
        self._listings: set[str] = set()
        self._reconcile = False
        self._checksums = False
        self._first_ms = 0.0
        self._last_ms = 0.0

    def ask_reconcile(self, now_ms: float, *, checksums: bool = False) -> None:
        """Ask for the whole tree to be compared; with `checksums` for one that trusts no stat."""
        if not len(self):
            self._first_ms = now_ms
        self._last_ms = now_ms
        self._reconcile = True
        self._checksums = self._checksums or checksums
        self._paths.clear()
        self._listings.clear()

    def __len__(self) -> int:
        return len(self._paths) + len(self._listings) + self._reconcile

    def add(self, event: FileEvent | Overflow, now_ms: float) -> None:
        """Take in one event that was seen at `now_ms` of a monotonic clock."""
        if self._reconcile and not isinstance(event, Overflow):
            self._last_ms = now_ms
            return
        if not len(self):
            self._first_ms = now_ms
        self._last_ms = now_ms
        match event:
            case Overflow(checksums=checksums):
                self.ask_reconcile(now_ms, checksums=checksums)
            case FileEvent(path=path, kind=kind):
                if kind in ("directory", "directory_gone"):
                    self._listings.add(path)
                    # The name may have been a file a moment ago.
                    self._paths.add(path)
                elif kind in ("rules", "head"):
                    self.ask_reconcile(now_ms)
                else:
                    self._paths.add(path)
                if len(self._paths) + len(self._listings) > STORM:
                    self.ask_reconcile(now_ms)
            case _:
                assert_never(event)

    def due_ms(self) -> float | None:
        """Return the time at which the batch is to be taken, or None when there is none."""
        if not len(self):
            return None
        if self._reconcile or len(self) > CROWD:
            return min(self._last_ms + CROWD_QUIET_MS, self._first_ms + CROWD_DEBOUNCE_MS)
        return min(self._last_ms + QUIET_MS, self._first_ms + DEBOUNCE_MS)

    def take(self) -> Batch:
        """Give out what has been collected and begin anew."""
        batch = Batch(
            paths=frozenset(self._paths),
            listings=frozenset(_outermost(self._listings)),
            reconcile=self._reconcile,
            checksums=self._checksums,
        )
        self._paths, self._listings = set(), set()
        self._reconcile = self._checksums = False
        return batch


def _outermost(directories: set[str]) -> set[str]:
    """Return the directories that lie below no other one of the set: a listing covers all below it."""
    kept: set[str] = set()
    for directory in sorted(directories):
        parents = directory.split("/")[:-1]
        if not any("/".join(parents[: i + 1]) in kept for i in range(len(parents))):
            kept.add(directory)
    return kept
