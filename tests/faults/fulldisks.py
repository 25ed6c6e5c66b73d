"""R12: the disk is full while a tree is being indexed. What is indexed is served; with room again, nobody need ask."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import threading
import time
from pathlib import Path

import psutil

from ctxprotocol.messages import DaemonStatus, Update
from tests.faults.compare import index_files, problems_of
from tests.faults.disks import set_aside
from tests.faults.lab import Lab, Row, Size
from tests.link import Link, Refused
from tests.tree import Tree

# Files to index, bytes of room, seconds without room.
SIZES = {"ci": (150, 1_500_000, 1.0), "release": (3_000, 20 << 20, 30.0), "nightly": (3_000, 20 << 20, 120.0)}
CAUGHT_UP_S = 30.0
ROOM = 512 << 20
WORDS = ("alpha", "beta", "gamma", "delta", "omega", "sigma", "kappa")


def full(size: Size, seed: int, bin: str) -> Row:
    """A small file system where one may be mounted, and a limit on the size of any file."""
    files, room, span_s = SIZES[size.name]
    row = Row("R12", f"disk full while {files} files are indexed", seed, unfresh_share=1.0)
    # Each takes some seconds of waiting for the next try.
    for disk in (FileSystem, Limit) if size.name != "ci" else (Limit,):
        with Lab(seed, bin) as lab:
            place = disk(lab, room)
            if not place.limited():
                row.what += ", no mounting here"
                continue
            try:
                row.count(one_disk(lab, row, place, files, span_s))
            finally:
                lab.hang_up()
                lab.home.kill()
                place.end()
    return row


class FileSystem:
    """A file system of its own for the state directory."""

    def __init__(self, lab: Lab, room: int) -> None:
        self.path, self.room = lab.home.path, room

    def limited(self) -> bool:
        os.makedirs(self.path, 0o700)
        return mount("-t", "tmpfs", "-o", f"size={self.room},mode=0700", "tmpfs", self.path)

    def fill(self, _lab: Lab) -> None:
        """It is as full as it will be when the first index has come so far."""

    def widen(self, _lab: Lab) -> None:
        assert mount("-o", f"remount,size={ROOM}", self.path)

    def end(self) -> None:
        subprocess.run(["umount", self.path], check=True)


class Limit:
    """No file of the daemon may be longer than a part of the room."""

    def __init__(self, lab: Lab, room: int) -> None:
        self.room = room

    def limited(self) -> bool:
        return True

    def fill(self, lab: Lab) -> None:
        psutil.Process(lab.home.pid).rlimit(resource.RLIMIT_FSIZE, (self.room // 8, resource.RLIM_INFINITY))

    def widen(self, lab: Lab) -> None:
        psutil.Process(lab.home.pid).rlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))

    def end(self) -> None:
        pass


def mount(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], check=False, capture_output=True).returncode == 0


def one_disk(lab: Lab, row: Row, disk: FileSystem | Limit, files: int, span_s: float) -> str:
    """Index a large tree beside a small one on a disk that has no room for it."""
    lab.tree.write("small.py", "def small_0(): pass\n")
    large = Tree(Path(lab.home.place) / "large")
    for number in range(files):
        body = "".join(
            f"    {lab.random.choice(WORDS)}_{lab.random.randrange(10**6)} = {line}\n" for line in range(220)
        )
        large.write(f"d{number % 40}/f{number}.py", f"def large_{number}(a):\n{body}")
    lab.places(Row("", "", 0), "small_0")
    disk.fill(lab)
    told: list[str] = []
    asking = threading.Thread(target=index, args=(lab.home.path, large, told))
    asking.start()
    wrong = served_throughout(lab, row, span_s)
    asking.join()
    if "disk full" not in told[0] and "IOError" not in told[0]:
        return f"{type(disk).__name__}: who indexes is told {told[0]!r}"
    disk.widen(lab)
    wrong = wrong or caught_up(lab, row, large) or right(lab, row, large, files)
    return f"{type(disk).__name__}: {wrong}" if wrong else ""


def index(state: str, large: Tree, told: list[str]) -> None:
    try:
        with Link(state) as link:
            told.append(str(link.ask(Update(directory=os.fsencode(large.root), index_wait_ms=-1)).out))
    except (Refused, EOFError, OSError) as error:
        told.append(str(error))


def served_throughout(lab: Lab, row: Row, span_s: float) -> str:
    """Ask the small tree and edit it, again and again: right, or not fresh with the reason."""
    end, number = time.monotonic() + span_s, 0
    while time.monotonic() < end:
        began = time.perf_counter()
        try:
            answer = lab.link.symbols(lab.tree.root, "small_*", fresh_within_ms=200)
        except Refused as refused:
            return f"refused: {refused}"
        row.waits_s.append(time.perf_counter() - began)
        row.unfresh += not answer["fresh"]
        found = [each["name"] for each in answer["results"]]
        if answer["fresh"] and found != [f"small_{number}"]:
            return f"{found} where small_{number} is"
        if not found:
            return f"nothing found: {answer}"
        number += 1
        lab.tree.write("small.py", f"def small_{number}(): pass\n")
        time.sleep(0.2)
    return ""


def caught_up(lab: Lab, row: Row, large: Tree) -> str:
    """Wait until the daemon has indexed all by itself: status asks no worktree for anything."""
    began = time.monotonic()
    while True:
        status = json.loads(lab.link.ask(DaemonStatus(output="json")).out)
        state = next(one for one in status["worktrees"] if one["root"] == str(large.root))
        if state["phase"] == "ready" and state["fresh"]:
            break
        if time.monotonic() - began > CAUGHT_UP_S:
            return f"not caught up within {CAUGHT_UP_S:g} s: {state}"
        time.sleep(0.1)
    row.what += f", caught up in {time.monotonic() - began:.1f} s"
    return ""


def right(lab: Lab, row: Row, large: Tree, files: int) -> str:
    """Ask both trees, and look at the files."""
    for number in lab.random.sample(range(files), 5):
        answer = lab.link.symbols(large.root, f"large_{number}")
        if not answer["fresh"] or [each["file"] for each in answer["results"]] != [f"d{number % 40}/f{number}.py"]:
            return f"large_{number}: {answer}"
    lab.tree.write("small.py", "def small_now(): pass\n")
    if lab.places(row, "small_now") != ["small.py"]:
        return "the small tree is not as it is"
    for path in index_files(lab.home):
        if problems := problems_of(path):
            return f"{os.path.basename(path)}: {problems[:3]}"
    return f"set aside: {aside}" if (aside := set_aside(lab.home)) else ""
