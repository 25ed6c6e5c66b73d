"""R09: the n-th call of SQLite on the file system fails: no wrong answer, no dead daemon, no healthy file given up."""

from __future__ import annotations

import os
import time
from pathlib import Path

from ctxprotocol.messages import Forget, Update
from tests.faults.compare import Scratch, index_files, problems_of
from tests.faults.disks import Disk, set_aside
from tests.faults.lab import Lab, Row, Size
from tests.faults.world import World
from tests.link import Link, Refused

# Each kind of call with the faults that it can have.
FAULTS = {
    "open": ("eio",),
    "read": ("eio",),
    "write": ("eio", "enospc", "short"),
    "sync": ("eio",),
    "truncate": ("eio",),
    "delete": ("eio",),
    "lock": ("busy", "eio"),
    "shm": ("busy", "eio", "enospc"),
}
# A fault of a disk may go on for some calls; one of a lock, for as long as another program holds it.
TIMES = (1, 1, 1, 2, 10)
# Work that is done in the hope that it makes the n-th call.
STEPS = 40
RIGHT_WITHIN_S = 10.0
COMPARED_EVERY = 40
FILES = 25
# How many numbers are tried of each kind, up to which: while it works, and while it starts.
NUMBERS = {"ci": (3, 30), "release": (300, 300), "nightly": (1_000, 1_000)}
# What is seldom called is not called so often in any work of some seconds.
MOST = {"sync": 25, "truncate": 25, "delete": 25, "lock": 60}
STARTS = {"ci": (1, 30), "release": (40, 40), "nightly": (60, 60)}


class Faulty:
    """The daemon on a faulty disk, the tree it indexes, and what has been refused so far."""

    def __init__(self, lab: Lab, row: Row) -> None:
        self.lab, self.row = lab, row
        self.disk = Disk(lab.home)
        self.world = World(lab.tree, f"{lab.home.place}/outside", lab.random, files=FILES)
        self.refused = 0
        self.touched: list[str] = []
        self.caches = ["cache-1-1.db"]

    def start(self, *fault: object) -> str:
        """Start the daemon; say what is wrong with how it ended where it did."""
        code = self.disk.start(*fault)
        if code is None:
            self.lab._link = Link(self.lab.home.path)
            return ""
        assert self.disk.daemon is not None
        told = self.disk.daemon.communicate()[1]
        return "" if code == 4 and told.count("\n") == 1 else f"exit {code}: {told[-300:]}"

    def asked(self, name: str) -> str:
        """Ask for one name; say what is wrong with the answer. A refusal with its reason, or staleness, is not."""
        began = time.perf_counter()
        try:
            answer = self.lab.link.symbols(self.lab.tree.root, name, index_wait_ms=-1)
        except Refused as refused:
            self.refused += 1
            return f"refused: {refused}" if refused.failure.error in ("internal", "frame_refused") else ""
        self.row.waits_s.append(time.perf_counter() - began)
        found, expected = sorted(each["file"] for each in answer["results"]), self.world.where(name)
        self.row.unfresh += not answer["fresh"]
        return f"{name} in {found}, is in {expected}" if answer["fresh"] and found != expected else ""

    def step(self) -> str:
        """Change the tree and ask; now and then build the index anew beside the old one, or from nothing."""
        for _ in range(self.lab.random.randrange(1, 4)):
            self.touched = self.world.step()[1]
        chosen = self.lab.random.random()
        directory = os.fsencode(self.lab.tree.root)
        try:
            if chosen < 0.25:
                self.lab.link.ask(Update(directory=directory, full=True, index_wait_ms=-1))
            elif chosen < 0.4:
                self.lab.link.ask(Forget(directory=directory))
        except Refused as refused:
            self.refused += 1
            if refused.failure.error == "internal":
                return str(refused)
        return self.asked(self.touched[0])

    def right(self) -> str:
        """Say what is not right again soon after the faults have ended."""
        end = time.monotonic() + RIGHT_WITHIN_S
        name = self.touched[0]
        while time.monotonic() < end:
            before = (self.refused, self.row.unfresh)
            if wrong := self.asked(name):
                return wrong
            if before == (self.refused, self.row.unfresh):
                return self.given_up()
        return f"not right within {RIGHT_WITHIN_S:g} s"

    def given_up(self) -> str:
        """Say which healthy database is no longer in use, or that the daemon is another one."""
        if aside := set_aside(self.lab.home):
            for path in aside:
                os.unlink(path)
            damage = [line for line in self.log() if "damaged" in line]
            return f"set aside: {list(map(os.path.basename, aside))}: {damage[-1:]}"
        caches = sorted(path.name for path in Path(self.lab.home.path).glob("cache-*.db"))
        if caches != self.caches:
            before, self.caches = self.caches, caches
            return f"the cache was {before} and is {caches}"
        assert self.disk.daemon is not None
        return "" if not self.disk.daemon_ended() else f"the daemon ended: {self.disk.daemon.communicate()[1][-300:]}"

    def log(self) -> list[str]:
        return (Path(self.lab.home.path) / "ctxd.log").read_text().splitlines()


def failing(size: Size, seed: int, bin: str) -> Row:
    """For each kind of call and each n: work until the n-th fails, then see that all is right."""
    row = Row("R09", "n-th call of SQLite fails", seed, unfresh_share=0.2)
    scratch = Scratch(bin)
    try:
        with Lab(seed, bin) as lab:
            here = Faulty(lab, row)
            for number in numbers(lab, size, *STARTS[size.name]):
                for kind in FAULTS:
                    row.count(one_start(here, kind, number))
            here.start()
            if not (drawn := numbers(lab, size, *NUMBERS[size.name])):
                raise ValueError(f"with this seed size {size.name} tries none of the numbers")
            for tried, number in enumerate(drawn, 1):
                for kind in FAULTS:
                    row.count(one_fault(here, kind, number))
                if not tried % COMPARED_EVERY:
                    row.count(scratch.difference(lab.home, lab.tree))
            row.count(scratch.difference(lab.home, lab.tree))
            here.disk.stop()
            row.what += f"; refused {here.refused}, not fresh {row.unfresh} with their reason"
    finally:
        scratch.close()
    return row


def numbers(lab: Lab, size: Size, count: int, last: int) -> list[int]:
    """Draw `count` numbers up to `last`, and leave those that this part of the run is to try."""
    drawn = sorted(lab.random.sample(range(1, last + 1), count))
    return [number for number in drawn if size.numbers[0] <= number <= size.numbers[1]]


def one_fault(here: Faulty, kind: str, number: int) -> str:
    """Work until call `number` of this kind has failed."""
    error = here.lab.random.choice(FAULTS[kind])
    number = 1 + (number - 1) % MOST.get(kind, number)
    fault = f"{kind} {number} {error}"
    try:
        here.disk.arm(kind, error, number, here.lab.random.choice(TIMES))
        hits: list[str] = []
        for _ in range(STEPS):
            if wrong := here.step():
                return f"{fault}: {wrong} after {here.disk.disarm()}"
            if hits := here.disk.hits():
                break
        here.disk.disarm()
        wrong = here.right()
        return f"{fault}: {wrong} after {hits}" if wrong else ""
    except (EOFError, OSError) as error_:
        told = here.disk.daemon.communicate()[1] if here.disk.daemon is not None else ""
        here.lab.hang_up()
        here.start()
        return f"{fault}: {error_!r}: the daemon said {told[-300:]!r}"


def one_start(here: Faulty, kind: str, number: int) -> str:
    """Start with a fault in wait: it comes up, or says why not and the next start is as if nothing had been."""
    error = here.lab.random.choice(FAULTS[kind])
    fault = f"start, {kind} {number} {error}"
    here.touched = here.world.step()[1]
    if wrong := here.start(kind, error, number):
        return f"{fault}: {wrong}"
    if here.disk.daemon_ended():
        here.start()
    else:
        if wrong := here.asked(here.touched[0]):
            return f"{fault}: {wrong}"
        here.disk.disarm()
    wrong = here.right()
    here.lab.hang_up()
    here.disk.stop()
    for path in index_files(here.lab.home):
        wrong = wrong or "; ".join(problems_of(path)[:3])
    return f"{fault}: {wrong}" if wrong else ""
