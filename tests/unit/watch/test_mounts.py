"""The mount table decides where events are trusted."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the mount table is Linux's")

if sys.platform == "linux":
    from ctxd.watch import mounts

TABLE = rb"""22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:25 / /proc rw - proc proc rw
31 22 0:40 / /home/ada/my\040code rw master:2 - nfs4 srv:/x rw
32 31 0:41 / /home/ada/my\040code/build rw shared:3 master:4 - tmpfs tmpfs rw
33 22 0:42 / /mnt rw - 9p C:\134 rw
34 22 0:43 / /mnt rw - xfs /dev/vdb rw
35 22 0:44 / /home/b\303\251 rw - fuse.sshfs x rw
broken line
"""


@pytest.mark.parametrize(
    ("path", "file_system"),
    [
        ("/", "ext4"),
        ("/srv/x", "ext4"),
        ("/home/ada/my code", "nfs4"),
        ("/home/ada/my code/src", "nfs4"),
        ("/home/ada/my code2", "ext4"),
        ("/home/ada/my code/build/x", "tmpfs"),
        ("/mnt/x", "xfs"),
        ("/home/bé/x", "fuse.sshfs"),
    ],
)
def test_the_longest_mount_point_holds_a_path(path: str, file_system: str) -> None:
    """Spaces are written in octal; of two mounts at one point the later one is seen."""
    assert mounts.holding(mounts.parse(TABLE), path) == file_system


@pytest.mark.parametrize(
    ("root", "points"),
    [
        ("/srv/x", ["/"]),
        ("/", ["/", "/proc", "/home/ada/my code", "/home/ada/my code/build", "/mnt", "/mnt", "/home/bé"]),
        ("/home/ada/my code", ["/home/ada/my code", "/home/ada/my code/build"]),
        ("/home/ada/my code/bui", ["/home/ada/my code"]),
        ("/mnt/x", ["/mnt"]),
    ],
)
def test_what_is_seen_below_a_root(root: str, points: list[str]) -> None:
    """The mount that holds the root, and each that hides a part of it."""
    found = mounts.shown(mounts.parse(TABLE), root)
    assert sorted(mount.point for mount in found) == sorted(points)


def test_a_mount_in_the_place_of_another_is_another() -> None:
    """The same point and type, another device."""
    one, other = (mounts.parse(TABLE.replace(b"0:41", device)) for device in (b"0:41", b"0:77"))
    assert mounts.shown(one, "/home/ada") != mounts.shown(other, "/home/ada")


def test_without_a_table_nothing_is_known() -> None:
    """What is not known is not trusted."""
    assert mounts.holding((), "/srv") == mounts.UNKNOWN not in mounts.TRUSTED


def test_the_real_table_agrees_with_the_system(tmp_path: object) -> None:
    """`stat -f` names most types as the table does."""
    said = subprocess.run(["stat", "-f", "-c", "%T", str(tmp_path)], capture_output=True, text=True, check=True)
    names = {"ext2/ext3": "ext4", "overlayfs": "overlay"}
    assert mounts.file_system(str(tmp_path)) == names.get(said.stdout.strip(), said.stdout.strip())


@pytest.mark.parametrize("kind", ["nfs", "nfs4", "9p", "fuse", "fuse.sshfs", "cifs", "smb3", "vboxsf", "unknown"])
def test_file_systems_that_others_can_write_to_are_not_trusted(kind: str) -> None:
    """Their events tell of this machine's changes only."""
    assert kind not in mounts.TRUSTED
