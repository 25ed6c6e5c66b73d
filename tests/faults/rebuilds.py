"""R28: a rebuild beside an index in use: every answer whole and with the edits; a kill leaves the old one as it is."""

from __future__ import annotations

import os
import threading
import time

from ctxprotocol.messages import Update
from tests.faults.compare import Scratch, index_files, problems_of
from tests.faults.kills import power_cut
from tests.faults.lab import Lab, Row, Size
from tests.faults.world import World
from tests.link import Link

# Files of the tree, rebuilds that come to their end, and kills during one.
SIZES = {"ci": (150, 3, 6), "release": (600, 20, 50), "nightly": (600, 200, 500)}


def rebuilt(size: Size, seed: int, bin: str) -> Row:
    """Edit and ask while `update --full` runs, again and again; then kill the daemon at random points of it."""
    files, rebuilds, kills = SIZES[size.name]
    row = Row("R28", f"{rebuilds} rebuilds in use, {kills} killed", seed)
    scratch = Scratch(bin)
    try:
        with Lab(seed, bin) as lab:
            world = World(lab.tree, f"{lab.home.place}/outside", lab.random, files=files)
            lab.places(Row("", "", 0), "n_0000001")
            span_s = 0.0
            for _ in range(rebuilds):
                began = time.perf_counter()
                row.count(in_use(lab, world, row))
                span_s = time.perf_counter() - began
            row.count(scratch.difference(lab.home, lab.tree))
            for _ in range(kills):
                row.count(killed(lab, world, row, scratch, span_s))
    finally:
        scratch.close()
    return row


class Rebuild(threading.Thread):
    """`update --full` on a connection of its own. `told` is its answer, or how it ended."""

    def __init__(self, lab: Lab) -> None:
        super().__init__()
        self.told = ""
        self._state, self._root = lab.home.path, lab.tree.root
        self.start()

    def run(self) -> None:
        try:
            with Link(self._state) as link:
                link.ask(Update(directory=os.fsencode(self._root), full=True, index_wait_ms=-1))
        except (AssertionError, EOFError, OSError) as error:
            self.told = f"{type(error).__name__}: {error}"


def in_use(lab: Lab, world: World, row: Row) -> str:
    """Ask for what was just edited and for what was not until the rebuild has ended."""
    rebuild = Rebuild(lab)
    wrong = ""
    while rebuild.is_alive() and not wrong:
        wrong = one_answer(lab, world, row)
    rebuild.join()
    return wrong or rebuild.told or one_answer(lab, world, row)


def one_answer(lab: Lab, world: World, row: Row) -> str:
    touched = world.step()[1]
    other = world.files[world.pick()]
    before = row.unfresh
    for name in (touched[0], str(other)):
        found, expected = lab.places(row, name), world.where(name)
        if row.unfresh != before:
            return f"{name}: not fresh at first"
        if found != expected:
            return f"{name} in {found}, is in {expected}"
    return ""


def killed(lab: Lab, world: World, row: Row, scratch: Scratch, span_s: float) -> str:
    """Kill the daemon somewhere in a rebuild; what was current is current, and whole."""
    before = index_files(lab.home)
    rebuild = Rebuild(lab)
    end = time.monotonic() + lab.random.uniform(0, span_s)
    wrong = ""
    while time.monotonic() < end and not wrong:
        wrong = one_answer(lab, world, row)
    power_cut(lab)
    rebuild.join()
    left = index_files(lab.home)
    if wrong:
        return wrong
    # The old one until the pointer has moved, and by then the new one is whole.
    if not left or (before[-1] not in left and problems_of(left[-1])):
        return f"{before} became {left}"
    for path in left:
        if problems := problems_of(path):
            return f"{os.path.basename(path)}: {problems[:3]}"
    wrong = one_answer(lab, world, row) or scratch.difference(lab.home, lab.tree)
    left = index_files(lab.home)
    return wrong or ("" if len(left) == 1 else f"index files after the next start: {list(map(os.path.basename, left))}")
