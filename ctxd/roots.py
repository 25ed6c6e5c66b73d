"""Which directory a request is about. Reads the file system with a few stats; no state.

Runs where the worktrees have it run: in a thread of looks.py, unless the place is known to be a local one.
"""

from __future__ import annotations

import os
from collections.abc import Collection

import msgspec

from ctxprotocol.errors import RepoUnknown, RootGone, RootRefused, UsageFailed
from ctxprotocol.messages import InWorktree

_NAME_IT = "name it to index it all the same: ctx init DIR"


class Place(msgspec.Struct, frozen=True):
    """The root of the worktree that a request means, and where in it the caller stands (`prefix`)."""

    root: str
    prefix: str | None


def locate(request: InWorktree, attached: Collection[str], explicit: Collection[str], home: str) -> str:
    """Return the absolute real path of the worktree that `request` means.

    Order: `-C`, else CTX_ROOT, else the nearest enclosing git worktree, else the nearest enclosing attached directory,
    else the directory itself; `-C` only moves where the search begins. A home directory or a file-system root counts
    only when `explicit` (named by `ctx init`) holds it. Raises RootGone, RootRefused.
    """
    start = resolve(request.directory)
    if request.root and not request.chosen:
        root = resolve(request.root)
        return _allowed(root, explicit, _homes(request, home))
    homes = _homes(request, home)
    above = _ancestors(start)
    for directory in above:
        if _is_git(directory) and (directory in explicit or not _too_wide(directory, homes)):
            return directory
    for directory in above:
        if directory in attached:
            return directory
    return _allowed(start, explicit, homes)


def attached_at(path: bytes, attached: Collection[str]) -> str:
    """Return the attached root that `path` names: itself, also when it is gone, or the nearest one above it.

    Raises RepoUnknown.
    """
    start = os.path.realpath(os.fsdecode(path))
    for directory in _ancestors(start):
        if directory in attached:
            return directory
    raise RepoUnknown(f"{start} is not in an attached worktree", "ctx repos lists what is attached")


def resolve(path: bytes) -> str:
    """Return the real path of an existing directory. Raises RootGone."""
    name = os.fsdecode(path)
    if not os.path.isabs(name):
        raise RootGone(f"{name or 'the directory'} is not an absolute path")
    real = os.path.realpath(name)
    if not os.path.isdir(real):
        raise RootGone(f"{name} is not a directory that can be read")
    return real


def _homes(request: InWorktree, home: str) -> set[str]:
    named = {os.fsdecode(request.home), home} - {""}
    return {os.path.realpath(path) for path in named}


def _too_wide(directory: str, homes: set[str]) -> bool:
    return directory in homes or os.path.dirname(directory) == directory


def _allowed(root: str, explicit: Collection[str], homes: set[str]) -> str:
    if root in explicit or not _too_wide(root, homes):
        return root
    kind = "a home directory" if root in homes else "the root of the file system"
    raise RootRefused(f"{root} is {kind}, which is not indexed by itself", _NAME_IT)


def _ancestors(directory: str) -> list[str]:
    found = [directory]
    while (parent := os.path.dirname(directory)) != directory:
        found.append(parent)
        directory = parent
    return found


def _is_git(directory: str) -> bool:
    """A `.git` directory, or the file that a linked worktree or submodule has instead."""
    return os.path.exists(os.path.join(directory, ".git"))


def prefix(root: str, directory: bytes) -> str | None:
    """Return the caller's directory relative to `root` with a closing slash, "" at the root, None outside."""
    named = os.fsdecode(directory)
    # A root is a real path already: most callers stand there, and each look at a component costs a system call.
    real = root if named == root else os.path.realpath(named)
    if real == root:
        return ""
    head = root if root.endswith("/") else root + "/"
    return real[len(head) :] + "/" if real.startswith(head) else None


def relative(root: str, directory: bytes, file: bytes) -> str:
    """Return the path below `root` of a file that the caller named. Raises UsageFailed when it lies outside.

    Only the file's directory is resolved: a link's own name stays what the caller wrote.
    """
    name = os.path.join(os.fsdecode(directory), os.fsdecode(file))
    folder, base = os.path.split(os.path.normpath(name))
    real = os.path.join(os.path.realpath(folder), base)
    head = root if root.endswith("/") else root + "/"
    if not real.startswith(head):
        raise UsageFailed(f"{os.fsdecode(file)} lies outside of {root}")
    return real[len(head) :]
