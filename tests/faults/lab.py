"""The bench of the fault lab: sizes, one daemon with one tree, and the row that each experiment gives."""

from __future__ import annotations

import os
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from types import TracebackType

from tests.home import BIN, Home
from tests.link import Link
from tests.tree import Tree


@dataclass(frozen=True)
class Size:
    """How much of each experiment: CI in minutes, release in up to an hour, nightly as long as it takes."""

    operations: int
    storms: int
    histories: int
    kills: int
    kill_files: int
    races: int
    racers: int
    clients: int
    queries: int
    mutants: int
    hangups: int
    cancels: int
    pause_s: float
    alternations: int
    vanishings: int
    rounds: int
    # Of an experiment that counts calls only those from the first to the last of these: a long run in parts.
    numbers: tuple[int, int] = (1, sys.maxsize)

    @property
    def name(self) -> str:
        """ci, release or nightly: for experiments that keep a table of their own."""
        return next(name for name, size in SIZES.items() if size == replace(self, numbers=size.numbers))


#       R01     R03 R07   R08         R20      R15           R16     R18       R21 R23 R22 B058
SIZES = {
    "ci": Size(300, 2, 12, 15, 150, 3, 25, 30, 600, 300, 40, 12, 2.0, 6, 1, 10),
    "release": Size(2_000, 10, 300, 200, 1_000, 20, 50, 100, 20_000, 10_000, 1_000, 200, 10.0, 20, 3, 200),
    "nightly": Size(
        *(50_000, 100, 5_000, 2_000, 1_000, 100, 50),
        *(100, 200_000, 1_000_000, 10_000, 2_000, 60.0, 100, 20, 2_000),
    ),
}
# `fresh: false` counts as unavailability, and so does an answer that takes longer than this.
PATIENCE_S = 30.0
WRONG_KEPT = 10
# A long experiment says how far it is, so that one that is cut off has not run for nothing.
TOLD_EVERY_S = 60.0


@dataclass
class Row:
    """One line of the sheet. `waits_s` are how long each answer took; `wrong` holds the first failures in words.

    `unfresh_share` of the answers may say that they are not fresh. `chart` is a drawing (SVG), where there is one.
    """

    id: str
    what: str
    seed: int
    tried: int = 0
    survived: int = 0
    unfresh: int = 0
    waits_s: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    took_s: float = 0.0
    unfresh_share: float = 0.001
    chart: str = ""
    told_at: float = field(default_factory=time.monotonic)

    def count(self, fault: str = "") -> None:
        """Count one trial; `fault` says what was wrong with it."""
        self.tried += 1
        if not fault:
            self.survived += 1
        elif len(self.wrong) < WRONG_KEPT:
            self.wrong.append(f"#{self.tried} {fault}")
        if time.monotonic() - self.told_at > TOLD_EVERY_S:
            self.told_at = time.monotonic()
            far = f"{self.id:4} {self.survived}/{self.tried} so far, worst {self.worst_s * 1e3:.0f} ms"
            print(far, file=sys.stderr, flush=True)

    @property
    def worst_s(self) -> float:
        return max(self.waits_s, default=0.0)

    def percentile(self, share: float) -> float:
        """Return the wait that `share` of the answers did not exceed, in seconds."""
        ordered = sorted(self.waits_s)
        return ordered[min(len(ordered) - 1, int(len(ordered) * share))] if ordered else 0.0

    @property
    def green(self) -> bool:
        available = self.unfresh <= self.unfresh_share * len(self.waits_s)
        return self.tried > 0 and self.survived == self.tried and available

    def line(self) -> str:
        """Return the row as text, with what went wrong below it."""
        p50, p99 = self.percentile(0.5) * 1e3, self.percentile(0.99) * 1e3
        text = (
            f"{self.id:4} {self.what:44} {self.survived:>6}/{self.tried:<6} not fresh {self.unfresh:<4} "
            f"p50 {p50:7.1f} p99 {p99:7.1f} worst {self.worst_s * 1e3:8.1f} ms  {self.took_s:6.1f} s  seed {self.seed}"
        )
        return "\n".join([text, *(f"       {fault}" for fault in self.wrong)])


class Lab:
    """A CTX_HOME, a git work tree beside it, and a connection that is opened when first used."""

    def __init__(self, seed: int, bin: str | os.PathLike[str] = BIN) -> None:
        self.random = Random(seed)
        self.home = Home(bin=bin)
        self.tree = Tree(Path(self.home.place) / "r")
        self._link: Link | None = None

    @property
    def link(self) -> Link:
        """The connection; starts the daemon when none runs."""
        if self._link is None:
            started = self.home.run("daemon", "start", cwd="/")
            assert started.returncode == 0, started.stderr
            self._link = Link(self.home.path, timeout_s=PATIENCE_S)
        return self._link

    def hang_up(self) -> None:
        if self._link is not None:
            self._link.close()
            self._link = None

    def places(self, row: Row, name: str) -> list[str]:
        """Ask where `name` is defined; an answer that says it is not fresh is noted, and the question asked again."""
        began = time.perf_counter()
        while True:
            answer = self.link.symbols(self.tree.root, name, index_wait_ms=-1)
            row.waits_s.append(time.perf_counter() - began)
            if answer["fresh"] or time.perf_counter() - began > PATIENCE_S:
                break
            row.unfresh += 1
        return sorted(found["file"] for found in answer["results"])

    def __enter__(self) -> Lab:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.hang_up()
        self.home.close()
