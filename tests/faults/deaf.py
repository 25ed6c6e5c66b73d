"""R05: no events at all, or not all of them: limits, permissions, and file systems that tell nothing."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass

from tests.faults.injections import RETRY_SOON, Faults
from tests.faults.lab import Lab, Row, Size
from tests.faults.reads import stale
from tests.faults.world import World
from tests.tree import Tree

OPERATIONS = {"ci": 8, "release": 300, "nightly": 5_000}
FILES = {"ci": 40, "release": 400, "nightly": 2_000}
MENDED_WITHIN_S = 30.0


@dataclass(frozen=True)
class Deafness:
    """What keeps events away, and what status must then say: `state` of watching, part of the remedy."""

    name: str
    state: str
    remedy: str
    file_system: str = ""
    faults: tuple[tuple[str, int | bool], ...] = ()


KINDS = (
    *(
        Deafness(f"file system {kind}", "scanning", "local file system", file_system=kind)
        for kind in ("unknown", "nfs4", "fuse.sshfs")
    ),
    Deafness("ENOSPC after 10 directories", "degraded", "max_user_watches", faults=(("watches", 10),)),
    Deafness("EACCES", "degraded", ".ctxignore", faults=(("closed", True),)),
    Deafness("EMFILE at start", "degraded", "max_user_instances", faults=(("no_queue", True),)),
)


def no_events(size: Size, seed: int, bin: str) -> Row:
    """Random operations in trees that are not watched, or in part; then the limit is raised where it was one."""
    row = Row("R05", f"no events: {len(KINDS)} reasons", seed)
    with tempfile.TemporaryDirectory(prefix="ctx-deaf-", dir="/tmp") as folder:
        faults = Faults(folder, bin, RETRY_SOON)
        with Lab(seed, faults.bin) as lab:
            for number, kind in enumerate(KINDS):
                faults.file_system(kind.file_system)
                faults.set(**dict(kind.faults))
                lab.tree = Tree(f"{lab.home.place}/t{number}")
                world = World(lab.tree, f"{lab.home.place}/outside{number}", lab.random, FILES[size.name])
                for each in range(12):
                    world.put(f"closed{each}/c.py", world.new_name())
                lab.places(Row("", "", 0), world.new_name())
                row.count(said(lab, kind))
                work(size, lab, world, row, kind.name)
                if kind.faults:
                    faults.set()
                    row.count(not_mended(lab))
                    work(size, lab, world, row, f"after {kind.name}")
    return row


def work(size: Size, lab: Lab, world: World, row: Row, where: str) -> None:
    """Operate and ask; each answer must be right and say that it is fresh."""
    for _ in range(OPERATIONS[size.name]):
        operation, touched = world.step()
        fault = stale(lab, world, row, operation, touched)
        row.count(fault and f"{where}: {fault}")


def said(lab: Lab, kind: Deafness) -> str:
    """Status tells how changes are noticed, why not by events, and what would help; and it is fresh."""
    status = lab.home.json("status", cwd=lab.tree.root)
    watching = status["watching"]
    if watching["state"] != kind.state or not watching["reason"] or kind.remedy not in watching["remedy"]:
        return f"{kind.name}: status says {watching}"
    return "" if status["fresh"] else f"{kind.name}: not fresh, {status['fresh_reason']}"


def not_mended(lab: Lab) -> str:
    """Ask until events are trusted again: no restart, no command but questions."""
    ends = time.monotonic() + MENDED_WITHIN_S
    while time.monotonic() < ends:
        lab.link.symbols(os.fspath(lab.tree.root), "nothing")
        status = lab.home.json("status", cwd=lab.tree.root)
        if status["watching"]["state"] == "trusted":
            return ""
        time.sleep(0.1)
    return f"the limit is gone, and status says {status['watching']}"
