"""R31: days of work in minutes: saves, questions, branch switches, rebuilds, connections. Nothing grows with them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from ctxprotocol.messages import Update
from tests.faults.chart import Panel, svg
from tests.faults.lab import Lab, Row, Size
from tests.link import Link

DAY = {"save": 2_000, "ask": 3_000, "switch": 40, "rebuild": 20, "connect": 300}
DAYS = {"ci": 0.03, "release": 3.0, "nightly": 20.0}
FILES = {"ci": 100, "release": 600, "nightly": 600}
BRANCH_FILES = 60
SAMPLES = 200
RSS_PER_1000 = 1 << 20
# A run of few operations cannot tell growth from warming up.
FEW, RSS_OF_FEW = 2_000, 15 << 20
FD_SLACK = 2
WAL_MOST, WAL_END = 64 << 20, 8 << 20
SETTLE_S = 30.0


@dataclass(frozen=True)
class Sample:
    """The daemon after so many operations."""

    done: int
    rss: int
    fds: int
    wal: int
    cpu_s: float


class Work:
    """A tree with two branches, and what is defined where on each."""

    def __init__(self, lab: Lab, files: int) -> None:
        self.lab = lab
        self.row = Row("", "", 0)
        self.count = 0
        self.branch = "main"
        self.names: dict[str, dict[str, str]] = {"main": {}, "other": {}}
        for number in range(files):
            self.put(f"p{number % 20}/m{number}.py")
        lab.tree.commit("all")
        lab.tree.git("checkout", "-qb", "other")
        self.names["other"], self.branch = dict(self.names["main"]), "other"
        for number in range(BRANCH_FILES):
            self.put(f"p{number % 20}/m{number}.py")
        lab.tree.commit("other")
        self.paths = sorted(self.names["main"])

    def put(self, path: str) -> None:
        self.count += 1
        name = f"day_{self.count:06d}"
        body = "".join(f"def {name}_{each}(a):\n    return [a, {each}, {name!r}]\n\n\n" for each in range(6))
        self.lab.tree.write(path, f"def {name}(a):\n    return a\n\n\n{body}")
        self.names[self.branch][path] = name

    def save(self) -> str:
        self.put(self.lab.random.choice(self.paths))
        return ""

    def ask(self) -> str:
        """Ask for a definition by name, or in words; by name the answer must be the one file."""
        path = self.lab.random.choice(self.paths)
        name = self.names[self.branch][path]
        if self.lab.random.random() < 0.3:
            found = self.lab.link.find(self.lab.tree.root, f"what does {name} return")["results"]
            return "" if found and found[0]["file"] == path else f"{name} is in {path}, first is {found[:1]}"
        found = self.lab.places(self.row, name)
        return "" if found == [path] else f"{name} in {found}, is in {path}"

    def switch(self) -> str:
        self.lab.tree.commit("work")
        self.branch = "main" if self.branch == "other" else "other"
        self.lab.tree.git("checkout", "-q", self.branch)
        return self.ask()

    def rebuild(self) -> str:
        self.lab.link.ask(Update(directory=os.fsencode(self.lab.tree.root), full=True, index_wait_ms=-1))
        return self.ask()

    def connect(self) -> str:
        with Link(self.lab.home.path) as link:
            path = self.lab.random.choice(self.paths)
            found = link.symbols(self.lab.tree.root, self.names[self.branch][path])["results"]
        return "" if [each["file"] for each in found] == [path] else f"{path}: {found}"


def day(size: Size, seed: int, bin: str) -> Row:
    """Replay the days in random order, and see what grew."""
    days = DAYS[size.name]
    row = Row("R31", f"{days:g} days of work", seed)
    with Lab(seed, bin) as lab:
        work = Work(lab, FILES[size.name])
        work.ask()
        operations = [name for name, count in DAY.items() for _ in range(max(1, round(count * days)))]
        lab.random.shuffle(operations)
        samples = replay(lab, row, work, operations)
        row.count(grown(samples))
        row.count(descriptors_grown(samples))
        row.count(log_grown(lab, samples))
        row.what += (
            f": RSS {samples[0].rss >> 20} to {samples[-1].rss >> 20} MB, slope {slope(samples) / 2**20:+.2f}/1000"
        )
        row.chart = drawn(samples)
    return row


def replay(lab: Lab, row: Row, work: Work, operations: Sequence[str]) -> list[Sample]:
    """Do the operations; return a sample now and then."""
    doing: dict[str, Callable[[], str]] = {name: getattr(work, name) for name in DAY}
    samples = [sample(lab, 0)]
    step = max(1, len(operations) // SAMPLES)
    for number, name in enumerate(operations, 1):
        began = time.perf_counter()
        fault = doing[name]()
        row.waits_s.append(time.perf_counter() - began)
        row.count(f"{name}: {fault}" if fault else "")
        if number % step == 0:
            samples.append(sample(lab, number))
    return samples


def sample(lab: Lab, done: int) -> Sample:
    process = psutil.Process(lab.home.pid)
    times = process.cpu_times()
    return Sample(done, process.memory_info().rss, process.num_fds(), log_bytes(lab), times.user + times.system)


def log_bytes(lab: Lab) -> int:
    """Return the size of all write-ahead logs."""
    total = 0
    for path in Path(lab.home.path).rglob("*-wal"):
        try:
            total += path.stat().st_size
        except FileNotFoundError:
            continue
    return total


def slope(samples: Sequence[Sample]) -> float:
    """Return by how many bytes the memory grows in 1000 operations: least squares over the last two thirds."""
    late = samples[len(samples) // 3 :]
    middle, mean = sum(each.done for each in late) / len(late), sum(each.rss for each in late) / len(late)
    spread = sum((each.done - middle) ** 2 for each in late)
    return 1e3 * sum((each.done - middle) * (each.rss - mean) for each in late) / spread if spread else 0.0


def grown(samples: Sequence[Sample]) -> str:
    if samples[-1].done < FEW:
        more = samples[-1].rss - samples[len(samples) // 3].rss
        return "" if more <= RSS_OF_FEW else f"memory grows by {more >> 20} MB"
    if slope(samples) <= RSS_PER_1000:
        return ""
    return f"memory grows by {slope(samples) / 2**20:.1f} MB per 1000 operations"


def descriptors_grown(samples: Sequence[Sample]) -> str:
    third = max(1, len(samples) // 3)
    middle, last = max(each.fds for each in samples[third : 2 * third + 1]), max(each.fds for each in samples[-third:])
    return "" if last <= middle + FD_SLACK else f"descriptors: at most {middle}, then {last}"


def log_grown(lab: Lab, samples: Sequence[Sample]) -> str:
    most = max(each.wal for each in samples)
    if most > WAL_MOST:
        return f"logs of {most >> 20} MB"
    ends = time.monotonic() + SETTLE_S
    while log_bytes(lab) > WAL_END:
        if time.monotonic() > ends:
            return f"logs of {log_bytes(lab) >> 20} MB {SETTLE_S:g} s after the work"
        time.sleep(0.5)
    return ""


def drawn(samples: Sequence[Sample]) -> str:
    """Return the chart as SVG."""
    done = [each.done for each in samples]
    return svg(
        "operations",
        done,
        (
            Panel("memory, MB", [each.rss / 2**20 for each in samples]),
            Panel("descriptors", [each.fds for each in samples]),
            Panel("write-ahead logs, MB", [each.wal / 2**20 for each in samples]),
            Panel("processor time, s", [each.cpu_s for each in samples]),
        ),
    )
