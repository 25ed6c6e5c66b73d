"""P1: what is mounted over an indexed directory is what is seen there, and no event tells of it.

Run as a program, inside a mount namespace of its own, it is what the test looks at: HOME BIN ROOT.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.home import Home
from tests.tree import Tree

NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount", "--propagation", "private")
ROOT = Path(__file__).parents[2]


def can_mount() -> bool:
    """Say whether this user may have mounts of their own."""
    try:
        return not subprocess.run([*NAMESPACE, "true"], check=False, capture_output=True).returncode
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux" or not can_mount(), reason="this user may have no mounts of their own")
def test_a_mount_over_a_directory_is_noticed(ctx: Home, repo: Tree) -> None:
    """A local one, one of a type that is not trusted, and both gone again; each told by the next answer."""
    repo.write("lib/below.py", "def below(): pass\n")
    repo.write("../other/above.py", "def above(): pass\n")
    arguments = (ctx.place, str(ctx.bin), str(repo.root))
    done = subprocess.run(
        [*NAMESPACE, sys.executable, "-m", "tests.e2e.test_mounts", *arguments],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    assert not done.returncode, done.stderr
    said = json.loads(done.stdout)
    assert said["first"] == ["lib/below.py", None, "trusted"]
    assert said["bound"] == [None, "lib/above.py", "trusted"]
    assert said["unbound"] == ["lib/below.py", None, "trusted"]
    assert said["ramfs"] == [None, "lib/above.py", "scanning"]
    assert said["gone"][:2] == ["lib/below.py", None]


def main(place: str, bin: str, root: str) -> None:
    """Mount and ask; print what was found where after each step."""
    home, lib = Home(place, bin), f"{root}/lib"

    def place_of(name: str) -> str | None:
        answer = home.json("symbols", name, cwd=root)
        assert answer["fresh"], answer
        return next((row["file"] for row in answer["results"]), None)

    def look() -> list[str | None]:
        watching = home.json("status", cwd=root)["watching"]["state"]
        return [place_of("below"), place_of("above"), watching]

    def mount(*arguments: str) -> None:
        subprocess.run(arguments, check=True)

    said = {"first": look()}
    mount("mount", "--bind", os.path.abspath(f"{root}/../other"), lib)
    said["bound"] = look()
    mount("umount", lib)
    said["unbound"] = look()
    mount("mount", "-t", "ramfs", "none", lib)
    Path(lib, "above.py").write_text("def above(): pass\n")
    said["ramfs"] = look()
    mount("umount", lib)
    said["gone"] = look()
    home.run("daemon", "stop", cwd=root)
    print(json.dumps(said))


if __name__ == "__main__":
    main(*sys.argv[1:])
