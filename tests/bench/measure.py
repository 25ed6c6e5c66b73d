"""The measurements: each returns figures with their unit, and the baseline of the same run that they stand against."""

from __future__ import annotations

import hashlib
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

import psutil

from ctxprotocol.messages import Update
from tests.bench.sources import Source, questions
from tests.home import Home
from tests.link import Link
from tests.processes import belonging_to, wait_until

ALTERNATIONS = 25
QUESTIONS_PER_LENGTH = 40
LENGTHS = (1, 2, 3, 5, 8, 12)
SAVES = 200


@dataclass(frozen=True)
class Figure:
    """One line of the table. `ratio` is value / baseline where a baseline is named."""

    source: str
    what: str
    value: float
    unit: str
    baseline: str = ""
    baseline_value: float = 0.0

    @property
    def ratio(self) -> float | None:
        return self.value / self.baseline_value if self.baseline_value else None


def timed(action: Callable[[], object]) -> float:
    """Return how many milliseconds `action` takes."""
    began = time.perf_counter()
    action()
    return (time.perf_counter() - began) * 1e3


def percentile(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def interpreter_ms(home: Home) -> float:
    """Return the median of starting this interpreter to do nothing."""
    return statistics.median(
        timed(lambda: spawn(home, [sys.executable, "-c", "pass"], "/")) for _ in range(ALTERNATIONS)
    )


def spawn(home: Home, command: list[str], cwd: str) -> None:
    subprocess.run(command, env=home.env, cwd=cwd, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def client(home: Home, source: Source, name: str) -> list[Figure]:
    """`ctx find` warm, from process start, alternating with an interpreter that does nothing."""
    find, nothing = [str(home.bin / "ctx"), "find", name], [sys.executable, "-c", "pass"]
    spawn(home, find, str(source.root))
    ours, theirs = [], []
    for _ in range(ALTERNATIONS):
        theirs.append(timed(lambda: spawn(home, nothing, str(source.root))))
        ours.append(timed(lambda: spawn(home, find, str(source.root))))
    base = statistics.median(theirs)
    return [
        Figure(
            source.name,
            "ctx find, warm, process start to end, p50",
            statistics.median(ours),
            "ms",
            "python -c pass",
            base,
        )
    ]


def first_index(home: Home, source: Source, link: Link) -> list[Figure]:
    """A first index from nothing, beside reading and hashing the same bytes."""

    def read() -> None:
        for path in source.paths:
            hashlib.sha256(path.read_bytes()).digest()

    read()
    base = timed(read)
    request = Update(directory=os.fsencode(source.root), index_wait_ms=-1, timeout_ms=1_200_000)
    spent = timed(lambda: link.ask(request))
    megabytes = source.size_bytes / 1e6
    return [
        Figure(
            source.name,
            f"first index of {len(source.paths)} files, {megabytes:.1f} MB",
            spent,
            "ms",
            "read + sha256",
            base,
        ),
        Figure(source.name, "first index", megabytes / (spent / 1e3), "MB/s"),
    ]


def finds(source: Source, link: Link, random: Random, interpreter: float) -> list[Figure]:
    """Questions of 1 to 12 words over an open connection: the daemon's own time and the way there."""
    figures, every = [], []
    for length in LENGTHS:
        texts = questions(source, length, QUESTIONS_PER_LENGTH, random)
        spent = [timed(lambda text=text: link.find(source.root, text)) for text in texts]
        every += spent
        name = f"find, {length} word{'s' * (length > 1)}"
        figures += [
            Figure(source.name, f"{name}, p50", percentile(spent, 0.5), "ms", "python -c pass", interpreter),
            Figure(source.name, f"{name}, p99", percentile(spent, 0.99), "ms", "python -c pass", interpreter),
        ]
    return [
        *figures,
        Figure(source.name, "find, all, p50", percentile(every, 0.5), "ms", "python -c pass", interpreter),
        Figure(source.name, "find, all, p99", percentile(every, 0.99), "ms", "python -c pass", interpreter),
    ]


def saves(source: Source, link: Link, random: Random, interpreter: float) -> list[Figure]:
    """Save a file and ask at once for what is new in it: the time from the end of the save to the right answer."""
    spent = []
    for number in range(SAVES):
        path = random.choice([each for each in source.paths if each.suffix == ".py"])
        text = path.read_text()
        path.write_text(f"{text}\n\ndef saved_{number:05d}():\n    return {number}\n")
        began = time.perf_counter()
        rows = link.symbols(source.root, f"saved_{number:05d}")["results"]
        spent.append((time.perf_counter() - began) * 1e3)
        assert [row["file"] for row in rows] == [str(path.relative_to(source.root))], rows
        path.write_text(text)
    return [
        Figure(source.name, "save to searchable, p50", percentile(spent, 0.5), "ms", "python -c pass", interpreter),
        Figure(source.name, "save to searchable, p99", percentile(spent, 0.99), "ms", "python -c pass", interpreter),
    ]


def unchanged(source: Source, link: Link, interpreter: float) -> list[Figure]:
    """An update of a tree that did not change: what the barrier costs when there is nothing to do."""
    request = Update(directory=os.fsencode(source.root))
    spent = [timed(lambda: link.ask(request)) for _ in range(9)]
    return [
        Figure(
            source.name, "update, nothing changed, p50", statistics.median(spent), "ms", "python -c pass", interpreter
        )
    ]


def memory(home: Home, name: str) -> list[Figure]:
    """Proportional set size of the daemon and its children, beside an interpreter that does nothing."""
    idle = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        time.sleep(0.2)
        base = pss_mb(idle.pid)
    finally:
        idle.communicate()
    total = sum(pss_mb(process.pid) for process in belonging_to(home.path))
    return [Figure(name, "memory, daemon and children (PSS)", total, "MB", "an idle interpreter", base)]


def pss_mb(pid: int) -> float:
    """Return the proportional set size of one process, or its resident size where that is not told."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024
    except OSError:
        return psutil.Process(pid).memory_info().rss / (1 << 20) if psutil.pid_exists(pid) else 0.0


def disk(home: Home, source: Source) -> list[Figure]:
    """Index and cache once their logs are empty, beside the source text."""

    def sizes() -> dict[str, int]:
        return {
            os.path.join(folder, name): os.lstat(os.path.join(folder, name)).st_size
            for folder, _, names in os.walk(home.path)
            for name in names
        }

    wait_until(lambda: not any(size for path, size in sizes().items() if path.endswith("-wal")), 30, "logs emptied")
    figures = []
    for what, part in (("index on disk", "/index-"), ("cache on disk", "/cache-")):
        taken = sum(size for path, size in sizes().items() if part in path)
        figures.append(Figure(source.name, what, taken / 1e6, "MB", "source text", source.size_bytes / 1e6))
    return figures
