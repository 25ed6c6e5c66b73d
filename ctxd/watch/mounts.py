"""Which file system a path lies on, by the mount table, and whether that has changed.

Reads /proc/self/mountinfo and nothing else. Any thread, but for `Changes`.
"""

from __future__ import annotations

import os
import re
import select
import sys

import msgspec

assert sys.platform == "linux"

# Local file systems on which every change of a file passes through this kernel, so that its events miss none.
TRUSTED = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "overlay"),
)
UNKNOWN = "unknown"
_TABLE = "/proc/self/mountinfo"
_OCTAL = re.compile(rb"\\([0-7]{3})")


class Mount(msgspec.Struct, frozen=True):
    """One line of the mount table. `what` tells it from another at the same point: its number, device and root."""

    point: str
    file_system: str
    what: str = ""


def parse(table: bytes) -> tuple[Mount, ...]:
    """Return the mounts of a mountinfo text in its order; lines that are not understood are left out."""
    found: list[Mount] = []
    for line in table.split(b"\n"):
        before, separator, after = line.partition(b" - ")
        fields = before.split(b" ")
        if not separator or len(fields) < 6:
            continue
        point = os.fsdecode(_OCTAL.sub(lambda match: bytes((int(match[1], 8) & 255,)), fields[4]))
        what = os.fsdecode(b" ".join((fields[0], *fields[2:4])))
        found.append(Mount(point, os.fsdecode(after.split(b" ")[0]), what))
    return tuple(found)


def holder(mounts: tuple[Mount, ...], path: str) -> Mount:
    """Return the mount that holds an absolute real path; of mounts at one point the last counts."""
    best = Mount("", UNKNOWN)
    for mount in mounts:
        below = mount.point == "/" or path == mount.point or path.startswith(mount.point + "/")
        if below and len(mount.point) >= len(best.point):
            best = mount
    return best


def holding(mounts: tuple[Mount, ...], path: str) -> str:
    """Return the type of the file system that holds an absolute real path."""
    return holder(mounts, path).file_system


def shown(mounts: tuple[Mount, ...], root: str) -> tuple[Mount, ...]:
    """Return what decides which files are seen below an absolute real path: the mount that holds it, those inside."""
    inside = root.rstrip("/") + "/"
    return holder(mounts, root), *(mount for mount in mounts if mount.point.startswith(inside) and mount.point != root)


def table() -> tuple[Mount, ...]:
    """Return the mounts of this process, none when the system does not say."""
    try:
        with open(_TABLE, "rb") as file:
            return parse(file.read())
    except OSError:
        return ()


def file_system(path: str) -> str:
    """Return the type of the file system that holds `path`, `unknown` when the system does not say."""
    return holding(table(), os.path.realpath(path))


class Changes:
    """Says whether the mounts seen below `root` are others than before. For one thread.

    No event of a directory tells that something was mounted over it. The kernel marks the table instead, for each
    descriptor until that is asked: a third of a microsecond.
    """

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root)
        self._poll = select.poll()
        try:
            self._file = os.open(_TABLE, os.O_RDONLY | os.O_CLOEXEC)
            self._poll.register(self._file, select.POLLPRI)
        except OSError:
            self._file = -1
        self._shown = shown(table(), self._root)

    def any(self) -> bool:
        """Return whether there was a change since the last call."""
        if self._file < 0 or not self._poll.poll(0):
            return False
        before, self._shown = self._shown, shown(table(), self._root)
        return before != self._shown

    def close(self) -> None:
        """Give the descriptor back."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
