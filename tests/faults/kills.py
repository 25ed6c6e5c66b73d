"""R08: kill -9 at random points of a first index, an update, a rebuild. Afterwards all is right without help."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import time
from pathlib import Path

from ctxprotocol.messages import Forget, Update
from tests.faults.compare import Scratch, index_files, problems_of
from tests.faults.lab import Lab, Row, Size
from tests.faults.models import AT_ONCE, HashModel, build, flaws, ready
from tests.faults.world import World
from tests.link import Refused
from tests.processes import alive, belonging_to, wait_until

RIGHT_WITHIN_S = 3.0
VECTORS_S = 60.0
PER_FILES = 1_000
EDITS = 25


def killed(size: Size, seed: int, bin: str) -> Row:
    """Edit, ask for an update, kill at a random point, check the file as it lies, start again, compare.

    There is a model of hashes, so that vectors are made, too: as many as chunks in the end.
    """
    row = Row("R08", "kill -9 during index, update, rebuild", seed)
    scratch = Scratch(bin)
    try:
        with tempfile.TemporaryDirectory(prefix="ctx-model-", dir="/tmp") as folder, hashing(folder, seed, bin) as lab:
            world = World(lab.tree, f"{lab.home.place}/outside", lab.random, files=size.kill_files)
            began = time.perf_counter()
            lab.places(Row("", "", 0), "n_0000001")
            span_s = time.perf_counter() - began
            for _ in range(size.kills):
                kind = lab.random.choice(("first", "update", "update", "full"))
                row.count(one_kill(lab, world, row, scratch, kind, span_s))
    finally:
        scratch.close()
    return row


def hashing(folder: str, seed: int, bin: str) -> Lab:
    """Return a lab whose daemon has a model of hashes."""
    lab = Lab(seed, build(Path(folder, "copy"), bin, AT_ONCE))
    HashModel(Path(folder, "model", "hashes")).use(lab.home)
    return lab


def one_kill(lab: Lab, world: World, row: Row, scratch: Scratch, kind: str, span_s: float) -> str:
    """One round; returns what was wrong, or nothing. The kill falls anywhere up to a little past the end."""
    request = Update(directory=os.fsencode(lab.tree.root), full=kind == "full", index_wait_ms=-1)
    if kind == "first":
        with contextlib.suppress(Refused):
            lab.link.ask(Forget(directory=request.directory))
    touched = [name for _ in range(EDITS) for name in world.step()[1]]
    lab.link.send(request)
    time.sleep(lab.random.uniform(0, span_s * (1.2 if kind != "update" else 0.3)))
    power_cut(lab)
    for path in index_files(lab.home):
        if found := problems_of(path):
            return f"{kind}: {os.path.basename(path)}: {found[:3]}"
    began = time.perf_counter()
    for name in touched[-3:]:
        found_in, expected = lab.places(row, name), world.where(name)
        if found_in != expected:
            return f"{kind}: {name} in {found_in}, is in {expected}"
    spent = time.perf_counter() - began
    if spent > RIGHT_WITHIN_S * max(1, len(world.files) / PER_FILES):
        return f"{kind}: right only after {spent:.1f} s"
    difference = scratch.difference(lab.home, lab.tree)
    wait_until(lambda: ready(lab.link, lab.tree), VECTORS_S, "every chunk has its vector")
    difference = difference or flaws(index_files(lab.home)[-1])
    return f"{kind}: {difference}" if difference else ""


def power_cut(lab: Lab) -> None:
    """Kill the daemon without warning and wait until it and its workers are gone."""
    doomed = belonging_to(lab.home.path)
    os.kill(lab.link.welcome.pid, signal.SIGKILL)
    lab.hang_up()
    wait_until(lambda: not any(map(alive, doomed)), 10, "daemon and workers gone after kill -9")
