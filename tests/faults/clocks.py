"""R25: time stands still, jumps ahead, goes back. Nothing is missed and nobody ends by it."""

from __future__ import annotations

import os
import signal
import tempfile
import time
from collections.abc import Callable

from tests.faults.injections import NOTICE_SOON, Faults
from tests.faults.lab import Lab, Row, Size
from tests.faults.reads import stale
from tests.faults.storms import find_key
from tests.faults.world import World
from tests.link import Link

# How long the daemon is stopped; what counts as a gap is 30 s, in the small size 1 s.
STOPPED_S = {"ci": 1.5, "release": 60.0, "nightly": 60.0}
ROUNDS = {"ci": 1, "release": 3, "nightly": 20}
OPERATIONS = {"ci": 12, "release": 150, "nightly": 1_000}
HOURS = 3_600
NOTICED_WITHIN_S = 15.0


def clock_and_sleep(size: Size, seed: int, bin: str) -> Row:
    """The daemon is stopped, and its wall clock is set ahead and back, while files change and questions run."""
    row = Row("R25", f"stopped for {STOPPED_S[size.name]:.0f} s; wall clock +8 h, -1 h", seed)
    with tempfile.TemporaryDirectory(prefix="ctx-clock-", dir="/tmp") as folder:
        faults = Faults(folder, bin, NOTICE_SOON if size.name == "ci" else (), clock=True)
        with Lab(seed, faults.bin) as lab:
            world = World(lab.tree, f"{lab.home.place}/outside", lab.random)
            lab.places(Row("", "", 0), world.new_name())
            pid = lab.home.pid
            for number in range(ROUNDS[size.name]):
                row.count(noticed(lab, lambda: stop(lab, world, STOPPED_S[size.name]), f"stop {number}"))
                work(size, lab, world, row, "after a stop")
                for hours in (8, -1, 0):
                    row.count(noticed(lab, lambda h=hours: faults.set(shift_s=h * HOURS), f"clock at {hours:+} h"))
                    work(size, lab, world, row, f"clock at {hours:+} h")
            row.count("" if lab.home.daemons == [pid] else f"pid {pid} became {lab.home.daemons}")
    return row


def stop(lab: Lab, world: World, span_s: float) -> None:
    """Stop the daemon in the middle of a question, change the tree, and let it go on."""
    pid = lab.home.pid
    with Link(lab.home.path, timeout_s=30) as asked_before:
        os.kill(pid, signal.SIGSTOP)
        try:
            ends = time.monotonic() + span_s
            for _ in range(20):
                world.step()
            time.sleep(max(0.0, ends - time.monotonic()))
        finally:
            os.kill(pid, signal.SIGCONT)
        assert asked_before.symbols(lab.tree.root, world.files[world.pick()] or "")["results"]


def noticed(lab: Lab, jump: Callable[[], object], what: str) -> str:
    """Have time do what it does; say whether the daemon noticed, which is how it comes to compare all by content."""
    before = find_key(lab.home.json("status", cwd=lab.tree.root), "overflows")
    assert isinstance(before, int)
    jump()
    ends = time.monotonic() + NOTICED_WITHIN_S
    while time.monotonic() < ends:
        now = find_key(lab.home.json("status", cwd=lab.tree.root), "overflows")
        if isinstance(now, int) and now > before:
            return ""
        time.sleep(0.1)
    return f"{what}: nothing was noticed in {NOTICED_WITHIN_S:.0f} s"


def work(size: Size, lab: Lab, world: World, row: Row, where: str) -> None:
    """Operate and ask; each answer must be right."""
    for _ in range(OPERATIONS[size.name]):
        operation, touched = world.step()
        fault = stale(lab, world, row, operation, touched)
        row.count(fault and f"{where}: {fault}")
