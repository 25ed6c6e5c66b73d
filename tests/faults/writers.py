"""R02: many processes write beside each other, each asks for what it wrote, while other repositories are indexed.

Run as a program it is one of the writers: HOME BIN ROOT NUMBER SECONDS SEED; it prints what came of it as JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from ctxprotocol.messages import Update
from tests.faults.copies import ROOT
from tests.faults.lab import PATIENCE_S, WRONG_KEPT, Lab, Row, Size
from tests.faults.world import World
from tests.home import Home
from tests.link import Link
from tests.tree import Tree

WRITERS = {"ci": 3, "release": 16, "nightly": 64}
SECONDS = {"ci": 3.0, "release": 60.0, "nightly": 60.0}
FILES = 12
NAMES_ASKED = 2
# Each writer's names are its own; most are asked for over a connection, some by the command.
NAMES_EACH = 100_000
COMMAND_SHARE = 0.03
BESIDE_SHARE = 0.7


@dataclass
class Outcome:
    """What one writer saw: see `Row`."""

    tried: int = 0
    survived: int = 0
    unfresh: int = 0
    waits_s: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


class Writer:
    """One process with a folder of its own in a tree that it shares with the others."""

    def __init__(self, home: Home, root: str, number: int, seed: int) -> None:
        self.home, self.root, self.folder = home, root, f"w{number}"
        self.random = Random(seed * 1_000 + number)
        self.outcome = Outcome()
        self.link = Link(home.path)
        tree = Tree(f"{root}/{self.folder}", git=False)
        self.world = World(tree, f"{home.place}/outside{number}", self.random, files=0)
        self.world.count = number * NAMES_EACH
        for _ in range(FILES):
            self.world.create()

    def work(self, seconds: float) -> Outcome:
        """Change one's own files and ask for what was touched, one after the other, for so long."""
        ends = time.monotonic() + seconds
        with self.link:
            while time.monotonic() < ends:
                operation, touched = self.world.step()
                chosen = self.random.sample(touched, min(NAMES_ASKED, len(touched)))
                self.count(next(filter(None, map(self.stale, chosen)), ""), operation)
        return self.outcome

    def count(self, fault: str, operation: str) -> None:
        self.outcome.tried += 1
        self.outcome.survived += not fault
        if fault and len(self.outcome.wrong) < WRONG_KEPT:
            self.outcome.wrong.append(f"{self.folder}, {operation}: {fault}")

    def stale(self, name: str) -> str:
        """Ask where `name` is defined; return what is wrong with the answer, or nothing."""
        began = time.perf_counter()
        answer = self.answer(name)
        while not answer["fresh"] and time.perf_counter() - began < PATIENCE_S:
            self.outcome.unfresh += 1
            answer = self.answer(name)
        self.outcome.waits_s.append(time.perf_counter() - began)
        found = sorted(each["file"] for each in answer["results"])
        expected = [f"{self.folder}/{path}" for path in self.world.where(name)]
        return "" if found == expected else f"{name} in {found}, is in {expected}"

    def answer(self, name: str) -> dict:
        if self.random.random() < COMMAND_SHARE:
            return self.home.json("symbols", name, cwd=self.root)
        return self.link.symbols(self.root, name)


def parallel_writers(size: Size, seed: int, bin: str) -> Row:
    """Each of many processes edits and asks for its own files, while a first index runs."""
    writers, seconds = WRITERS[size.name], SECONDS[size.name]
    row = Row("R02", f"{writers} processes write, a first index runs", seed)
    with Lab(seed, bin) as lab:
        lab.tree.write("first.py", "def first(): pass\n")
        lab.places(Row("", "", 0), "first")
        others = [other_tree(lab, number) for number in range(max(2, int(seconds / 10)))]
        with Indexing(lab, others) as indexing:
            outcomes = [ended(process) for process in [start(lab, number, seconds, seed) for number in range(writers)]]
        for outcome in outcomes:
            row.tried += outcome.tried
            row.survived += outcome.survived
            row.unfresh += outcome.unfresh
            row.waits_s += outcome.waits_s
            row.wrong += outcome.wrong[: WRONG_KEPT - len(row.wrong)]
        if indexing.share < BESIDE_SHARE:
            row.count(f"a first index ran for {indexing.share:.0%} of the time: make the other trees larger")
    return row


def start(lab: Lab, number: int, seconds: float, seed: int) -> subprocess.Popen[str]:
    arguments = (lab.home.place, lab.home.bin, lab.tree.root, number, seconds, seed)
    return subprocess.Popen(
        [sys.executable, "-m", "tests.faults.writers", *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> Outcome:
    """Wait for a writer. One that ended by itself has failed once."""
    out, err = process.communicate()
    return Outcome(**json.loads(out)) if not process.returncode else Outcome(1, wrong=[err[-300:]])


def other_tree(lab: Lab, number: int) -> Tree:
    """Return a repository of 600 files that nothing has indexed yet."""
    other = Tree(f"{lab.home.place}/other{number}")
    for each in range(600):
        body = "".join(f"def o{number}_{each}_{n}(a):\n    return a + {n}\n\n\n" for n in range(40))
        other.write(f"p{each % 30}/m{each}.py", body)
    return other


class Indexing:
    """Indexes one new repository after the other while it is entered. `share` is how much of that time one ran."""

    def __init__(self, lab: Lab, others: list[Tree]) -> None:
        self.share = 0.0
        self._lab, self._others = lab, others
        self._began = threading.Event()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="indexing")

    def _run(self) -> None:
        began, busy_s = time.monotonic(), 0.0
        with Link(self._lab.home.path, timeout_s=120) as link:
            while not self._done.is_set():
                other = self._others.pop() if self._others else other_tree(self._lab, time.monotonic_ns())
                since = time.monotonic()
                self._began.set()
                link.ask(Update(directory=os.fsencode(other.root), index_wait_ms=-1, timeout_ms=100_000))
                busy_s += time.monotonic() - since
        self.share = busy_s / (time.monotonic() - began)

    def __enter__(self) -> Indexing:
        self._thread.start()
        self._began.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()


def main() -> int:
    place, bin, root, number, seconds, seed = sys.argv[1:]
    outcome = Writer(Home(place, Path(bin)), root, int(number), int(seed)).work(float(seconds))
    print(json.dumps(outcome.__dict__))
    return 0


if __name__ == "__main__":
    sys.exit(main())
