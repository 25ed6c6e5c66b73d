"""Which file system a path lies on, by the mount table. Any thread; reads /proc/self/mountinfo and nothing else."""

from __future__ import annotations

import os
import re

import msgspec

# Local file systems on which every change of a file passes through this kernel, so that its events miss none.
TRUSTED = frozenset(
    ("ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "tmpfs", "overlay"),
)
UNKNOWN = "unknown"
_TABLE = "/proc/self/mountinfo"
_OCTAL = re.compile(rb"\\([0-7]{3})")


class Mount(msgspec.Struct, frozen=True):
    """One line of the mount table."""

    point: str
    file_system: str


def parse(table: bytes) -> tuple[Mount, ...]:
    """Return the mounts of a mountinfo text in its order; lines that are not understood are left out."""
    found: list[Mount] = []
    for line in table.split(b"\n"):
        before, separator, after = line.partition(b" - ")
        fields = before.split(b" ")
        if not separator or len(fields) < 6:
            continue
        point = os.fsdecode(_OCTAL.sub(lambda match: bytes((int(match[1], 8) & 255,)), fields[4]))
        found.append(Mount(point, os.fsdecode(after.split(b" ")[0])))
    return tuple(found)


def holding(mounts: tuple[Mount, ...], path: str) -> str:
    """Return the type of the file system that holds an absolute real path; of mounts at one point the last counts."""
    best = Mount("", UNKNOWN)
    for mount in mounts:
        below = mount.point == "/" or path == mount.point or path.startswith(mount.point + "/")
        if below and len(mount.point) >= len(best.point):
            best = mount
    return best.file_system


def file_system(path: str) -> str:
    """Return the type of the file system that holds `path`, `unknown` when the system does not say."""
    try:
        with open(_TABLE, "rb") as file:
            table = file.read()
    except OSError:
        return UNKNOWN
    return holding(parse(table), os.path.realpath(path))
