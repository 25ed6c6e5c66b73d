"""List the files of a worktree that are to be indexed. Runs in the scan thread; nothing is read but ignore files."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

import msgspec

from ctxd.model import Listed, Listing
from ctxd.scan.rules import Rules


def unwatched(directory: str) -> object:
    """Stand in for a watcher's `add` where nobody watches."""
    return directory


class Looked(msgspec.Struct, frozen=True):
    """What single paths are now: files to index or record, and paths that are none."""

    found: tuple[Listed, ...]
    gone: tuple[str, ...]


def discover(
    root: str, rules: Rules, directory: str = "", watch: Callable[[str], object] = unwatched
) -> Listing:
    """List the worktree, or what is below one directory of it; call `watch` for a directory before listing it."""
    raise NotImplementedError


def look(root: str, rules: Rules, paths: Sequence[str], known: Collection[str]) -> Looked:
    """Say what single paths are now; only those not in `known` are held against the ignore rules."""
    raise NotImplementedError
