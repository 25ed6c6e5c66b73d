"""Which directory or file is at a path: what stands there later may be another of the same name. Any thread."""

from __future__ import annotations

import os

Inode = tuple[int, int]


def inode(path: str, *, follow: bool = True) -> Inode | None:
    """Return device and number of what is at `path`, None for nothing; a link counts itself unless we `follow`."""
    try:
        found = os.stat(path, follow_symlinks=follow)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def inode_of(descriptor: int) -> Inode:
    """Return device and number of what is open."""
    found = os.fstat(descriptor)
    return found.st_dev, found.st_ino
