"""List the files of a worktree that are to be indexed. Scan thread; no file is read but ignore files."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable

import msgspec

from ctxd.model import Listed, Listing
from ctxd.scan.descent import Descent
from ctxd.scan.git import GitFailed
from ctxd.scan.ownership import GitOwner, loaded
from ctxd.scan.place import Judge, Place, Standing
from ctxd.scan.rules import Rules
from ctxd.scan.walk import Walk

# Where the clock that file systems take their times from cannot be asked: it lags behind ours by a tick.
TICK_NS = 20_000_000
_COARSE_CLOCK = 5  # CLOCK_REALTIME_COARSE, which Python does not name
# The second pass sees what changed during the first; the third, rules in directories that the second found.
PASSES = 3
# Files counted in ignored directories when nothing else is there to index.
COUNTED = 10_000


def unwatched(directory: str) -> object:
    """Stand in for a watcher's `add` where nobody watches."""
    return directory


def discover(root: str, rules: Rules, directory: str = "", watch: Callable[[str], object] = unwatched) -> Listing:
    """List the worktree, or what is below one directory of it, sorted by path.

    `watch` is called for each directory before that is read: what happens there later is an event, so nothing falls
    between. A directory that is missing, ignored or no directory of this worktree comes back empty. Raises RootGone
    when the root, or any directory for a passing reason, cannot be read.
    """
    judge = Judge(root, rules)
    for _ in range(PASSES):
        began_ns = _file_clock_ns()
        walk = Walk(judge, watch)
        start = _start(judge, walk, directory)
        if start is not None:
            walk.run(start)
        if walk.newest_ns < began_ns:
            break
    ignored, rule = _ignored(root, walk) if not walk.files and not directory else (0, "")
    return Listing(
        directory=directory,
        files=_limited(sorted(walk.files, key=lambda listed: listed.path), rules.max_files),
        nested=tuple(sorted(walk.nested)),
        not_utf8=walk.not_utf8,
        ignored=ignored,
        ignored_by=rule,
        note=walk.note,
        linked=tuple(sorted(walk.linked)),
        odd_names=tuple(sorted(walk.odd_names)),
        sparse=walk.sparse,
    )


def _file_clock_ns() -> int:
    """Return the time that a file would get which is written now, or a little less."""
    if sys.platform == "linux":
        return time.clock_gettime_ns(_COARSE_CLOCK)
    return time.time_ns() - TICK_NS


def _start(judge: Judge, walk: Walk, directory: str) -> Place | None:
    """Return the place to walk from, its owner loaded with git's listing; `walk` gets a note when git failed."""
    try:
        descent = Descent(judge)
        place = descent.place(directory)
        walk.linked += descent.linked
        if place is None or not isinstance(place.owner, GitOwner):
            return place
        owner, walk.note = loaded(place.owner, directory)
        if owner is place.owner:
            walk.sparse = place.owner.sparse
            return None if _is_ignored(place) else place
    except GitFailed as failed:
        walk.note = failed.message
    return Descent(judge, use_git=False).place(directory)


def _is_ignored(place: Place) -> bool:
    """Say whether git ignores a directory that the descent left to it. Raises GitFailed."""
    owner, directory = place.owner, place.path
    if not directory or place.standing is not Standing.OPEN or not isinstance(owner, GitOwner):
        return False
    if directory in owner.listed or directory in owner.directories or owner.base == f"{directory}/":
        return False
    return bool(owner.ignored_now([directory]))


def _ignored(root: str, walk: Walk) -> tuple[int, str]:
    """Count what the rules left out of a tree of which nothing is left, and name the rule that hid most."""
    count = walk.ignored.copy()
    room = COUNTED
    for directory, rule in walk.hidden.items():
        for _, folders, names in os.walk(os.path.join(root, directory)):
            folders[:] = [folder for folder in folders if folder != ".git"]
            count[rule] += min(len(names), room)
            room -= min(len(names), room)
            if not room:
                break
    if not count:
        return 0, ""
    most = max(sorted(count), key=lambda rule: count[rule])
    return count.total(), most


def _limited(files: list[Listed], max_files: int) -> tuple[Listed, ...]:
    """Turn away the files past the limit, by the order of paths."""
    if len(files) <= max_files:
        return tuple(files)
    kept = 0
    for at, listed in enumerate(files):
        kept += not listed.skip
        if kept > max_files and not listed.skip:
            files[at] = msgspec.structs.replace(listed, skip="too many files")
    return tuple(files)
