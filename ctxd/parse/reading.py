"""Reading one file of a worktree, and nothing but a regular file inside it. Runs in a parse worker."""

from __future__ import annotations

import errno
import os
import stat
import time

import msgspec

from ctxd.model import FileStat, SkipReason
from ctxd.parse.pipe import NO_STAT, ParseSettings
from ctxd.parse.verdicts import too_large
from ctxprotocol.files import open_to_read, read_at

# How often a file that changes while it is read is read again; each change is an event of its own anyhow.
_TRIES = 3
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ESTALE})
_SEP = os.fsencode(os.sep)


class Content(msgspec.Struct, frozen=True):
    """What a path holds: `data`, unless it is `gone` or `skip` says why it was not read.

    `stat` and `hashed_ns` (wall clock) were taken before the bytes, so that a change since then shows.
    """

    stat: FileStat = NO_STAT
    data: bytes = b""
    hashed_ns: int = 0
    skip: SkipReason = ""
    gone: bool = False


class Place:
    """A worktree's root as this process sees it, for the reads of one batch."""

    def __init__(self, root: bytes) -> None:
        self._root = root
        self._inside = os.path.realpath(root).rstrip(_SEP) + _SEP

    def read(self, path: str, settings: ParseSettings) -> Content:
        """Return what `path` (worktree-relative) holds now; never raises for what a file may be."""
        name = os.path.join(self._root, path.encode("utf-8", "surrogateescape"))
        try:
            descriptor = open_to_read(name, follow=settings.follow_links)
        except OSError as error:
            return _unopened(name, error)
        try:
            before = os.fstat(descriptor)
            if stat.S_ISDIR(before.st_mode):
                return Content(gone=True)
            if not stat.S_ISREG(before.st_mode):
                return Content(stat=_file_stat(before), skip="not a regular file")
            if not self._holds(descriptor, name):
                return Content(stat=_file_stat(before), skip="link outside the root")
            if too_large(path, before.st_size, settings):
                return Content(stat=_file_stat(before), skip="too large")
            return _steady(descriptor, before)
        except OSError:
            return Content(stat=_lstat(name), skip="unreadable")
        finally:
            os.close(descriptor)

    def _holds(self, descriptor: int, name: bytes) -> bool:
        """Return whether the open file lies inside the root, whatever its directories were a moment ago."""
        try:
            real = os.readlink(b"/proc/self/fd/%d" % descriptor)
        except OSError:
            real = os.path.realpath(name)
        return real.startswith(self._inside)


def _steady(descriptor: int, before: os.stat_result) -> Content:
    """Read until two looks at the file agree; a file that never rests is taken with its oldest stat."""
    for _ in range(_TRIES):
        hashed_ns = time.time_ns()
        data = _whole(descriptor, before.st_size)
        after = os.fstat(descriptor)
        if len(data) == after.st_size and _file_stat(before) == _file_stat(after):
            break
        before, oldest = after, before
    else:
        before = oldest
    return Content(stat=_file_stat(before), data=data, hashed_ns=hashed_ns)


def _whole(descriptor: int, size: int) -> bytes:
    data = read_at(descriptor, size + 1, 0)
    if len(data) == size:
        return data
    # It grew, or the system gave less than asked for.
    pieces = [data]
    at = len(data)
    while piece := read_at(descriptor, 1 << 20, at):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces)


def _unopened(name: bytes, error: OSError) -> Content:
    if error.errno in _GONE:
        return Content(gone=True)
    if error.errno == errno.ELOOP:
        return Content(stat=_lstat(name), skip="link")
    if error.errno in (errno.ENXIO, errno.ENODEV, errno.EOPNOTSUPP):
        return Content(stat=_lstat(name), skip="not a regular file")
    return Content(stat=_lstat(name), skip="unreadable")


def _lstat(name: bytes) -> FileStat:
    try:
        return _file_stat(os.lstat(name))
    except OSError:
        return NO_STAT


def _file_stat(found: os.stat_result) -> FileStat:
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
