"""R01 and R02: read your writes, by one hand after the other, and by another process while a first index runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

from ctxprotocol.messages import Update
from tests.faults.lab import Lab, Row, Size
from tests.faults.world import World
from tests.link import Link
from tests.tree import Tree

NAMES_ASKED = 4
BESIDE_SHARE = 0.7


def read_your_writes(size: Size, seed: int, bin: str) -> Row:
    """Random operations, each followed at once by questions about the names it touched."""
    row = Row("R01", "read your writes: random operations", seed)
    with Lab(seed, bin) as lab:
        world = World(lab.tree, f"{lab.home.place}/outside", lab.random)
        lab.places(Row("", "", 0), world.new_name())
        for _ in range(size.operations):
            operation, touched = world.step()
            row.count(stale(lab, world, row, operation, touched))
    return row


def stale(lab: Lab, world: World, row: Row, operation: str, touched: list[str]) -> str:
    """Ask for the touched names; return what was wrong with the answers, or nothing."""
    for name in lab.random.sample(touched, min(NAMES_ASKED, len(touched))):
        found, expected = lab.places(row, name), world.where(name)
        if found != expected:
            return f"{operation}: {name} in {found}, is in {expected}"
    return ""


WRITER = """
import os, sys
root, count = sys.argv[1], int(sys.argv[2])
for number in range(count):
    path = f"{root}/w{number % 17}/p{number}.py"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(f"def written_{number:05d}(): pass\\n")
    print(number, path, flush=True)
    sys.stdin.readline()
"""


def writes_of_another_process(size: Size, seed: int, bin: str) -> Row:
    """Another process writes files, each asked for at once by `ctx symbols`, while other repositories are indexed."""
    row = Row("R02", "another process writes; a first index runs", seed)
    with Lab(seed, bin) as lab:
        lab.tree.write("first.py", "def first(): pass\n")
        lab.places(Row("", "", 0), "first")
        others = [other_tree(lab, number) for number in range(max(2, size.written // 25))]
        busy = threading.Event()
        done = threading.Event()
        indexing = threading.Thread(target=index_others, args=(lab, others, busy, done), name="indexing")
        indexing.start()
        busy.wait(30)
        try:
            beside = ask_for_each(size, lab, row, busy)
        finally:
            done.set()
            indexing.join()
        if beside < size.written * BESIDE_SHARE:
            row.count(f"only {beside} of {size.written} writes fell into a first index: make the other trees larger")
    return row


def ask_for_each(size: Size, lab: Lab, row: Row, busy: threading.Event) -> int:
    """Let the other process write one file after the other; return during how many of them an index was filled."""
    beside = 0
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(lab.tree.root), str(size.written)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with writer:
        assert writer.stdin and writer.stdout
        for line in writer.stdout:
            number, path = line.split()
            beside += busy.is_set()
            row.count(unseen(lab, row, f"written_{int(number):05d}", path))
            writer.stdin.write("\n")
            writer.stdin.flush()
    return beside


def unseen(lab: Lab, row: Row, name: str, path: str) -> str:
    """Ask `ctx symbols` for `name`; return what was wrong, or nothing."""
    began = time.perf_counter()
    answer = lab.home.json("symbols", name, cwd=lab.tree.root)
    row.waits_s.append(time.perf_counter() - began)
    row.unfresh += not answer["fresh"]
    found = [each["file"] for each in answer["results"]]
    expected = [os.path.relpath(path, lab.tree.root)]
    return "" if found == expected else f"{name} in {found}, is in {expected}"


def other_tree(lab: Lab, number: int) -> Tree:
    """Return a repository of 600 files that nothing has indexed yet."""
    other = Tree(f"{lab.home.place}/other{number}")
    for each in range(600):
        body = "".join(f"def o{number}_{each}_{n}(a):\n    return a + {n}\n\n\n" for n in range(40))
        other.write(f"p{each % 30}/m{each}.py", body)
    return other


def index_others(lab: Lab, others: list[Tree], busy: threading.Event, done: threading.Event) -> None:
    """Index one new repository after the other until `done`; `busy` is set while a first index runs."""
    with Link(lab.home.path, timeout_s=120) as link:
        while not done.is_set():
            other = others.pop() if others else other_tree(lab, time.monotonic_ns())
            busy.set()
            link.ask(Update(directory=os.fsencode(other.root), index_wait_ms=-1, timeout_ms=100_000))
            busy.clear()
