"""R04: a watcher that keeps what it sees to itself, without saying so."""

from __future__ import annotations

import json
import os
import tempfile
import time
import zlib

from ctxprotocol.messages import DaemonStatus
from tests.faults.injections import AUDIT_SOON, Faults
from tests.faults.lab import Lab, Row, Size

FILES = {"ci": 120, "release": 2_000, "nightly": 20_000}
ROUNDS = {"ci": 1, "release": 5, "nightly": 20}
PERCENT = (1, 10, 100)
CHANGED_SHARE = 0.25
CYCLE_WITHIN_S = 120.0


def lying_watcher(size: Size, seed: int, bin: str) -> Row:
    """Where events are trusted the audit finds all losses in one cycle; where they are not, no answer is wrong."""
    row = Row("R04", f"watcher drops {PERCENT} % of {FILES[size.name]:,} files", seed, unfresh_share=1.0)
    with tempfile.TemporaryDirectory(prefix="ctx-lie-", dir="/tmp") as folder:
        faults = Faults(folder, bin, AUDIT_SOON)
        for kind in ("ext4", "nfs4"):
            faults.set()
            faults.file_system(kind)
            with Lab(seed, faults.bin) as lab:
                names = tree(lab, FILES[size.name])
                lab.places(Row("", "", 0), names["d0/f00000.py"])
                for number in range(ROUNDS[size.name] * len(PERCENT)):
                    percent = PERCENT[number % len(PERCENT)]
                    before = audit(lab)["found"]
                    faults.set(drop_percent=percent)
                    lost = change(lab, names, number, percent)
                    if kind == "ext4":
                        row.count(found_in_a_cycle(lab, before + lost, percent))
                    faults.set()
                    row.count(wrong_answers(lab, row, names, f"{kind}, {percent} %, round {number}"))
    return row


def tree(lab: Lab, files: int) -> dict[str, str]:
    """Write the files; return the name that each defines."""
    names = {f"d{each % 40}/f{each:05d}.py": f"n_{each:05d}_00" for each in range(files)}
    for path, name in names.items():
        lab.tree.write(path, f"def {name}(): pass\n")
    return names


def change(lab: Lab, names: dict[str, str], number: int, percent: int) -> int:
    """Edit with the same size and times, remove, and make files, some in a new folder; return how many paths of
    these the watcher will keep silent about."""
    chosen = lab.random.sample(sorted(names), int(len(names) * CHANGED_SHARE))
    lost = 0
    for each, path in enumerate(chosen):
        lost += is_dropped(os.path.basename(path), percent)
        if each % 5 == 4:
            lab.tree.path(path).unlink()
            del names[path]
            continue
        before = lab.tree.path(path).stat()
        names[path] = f"{names[path][:8]}{number + 1:02d}"
        lab.tree.path(path).write_text(f"def {names[path]}(): pass\n")
        os.utime(lab.tree.path(path), ns=(before.st_atime_ns, before.st_mtime_ns))
    for each in range(10):
        folder = f"new{number}" if each % 2 else "d1"
        path = f"{folder}/m{number}_{each}.py"
        names[path] = f"m_{number:02d}_{each:02d}_0"
        lab.tree.write(path, f"def {names[path]}(): pass\n")
        # A new folder that is told of is listed, whatever is said of its files.
        lost += is_dropped(folder if each % 2 else os.path.basename(path), percent)
    return lost


def is_dropped(name: str, percent: int) -> bool:
    """Say whether the injected watcher keeps silent about a name."""
    return zlib.crc32(os.fsencode(name)) % 100 < percent


def found_in_a_cycle(lab: Lab, total: int, percent: int) -> str:
    """Wait for the audit to go round once; say whether it has found, and counted, exactly what was kept silent."""
    before = audit(lab)
    ends = time.monotonic() + CYCLE_WITHIN_S
    # One that was under way when the tree changed may have passed a place already.
    while (now := audit(lab))["cycles"] < before["cycles"] + 2 and time.monotonic() < ends:
        time.sleep(0.05)
    if now["cycles"] < before["cycles"] + 2:
        return f"{percent} %: no cycle of the audit ended in {CYCLE_WITHIN_S:.0f} s"
    status = lab.home.json("status", cwd=lab.tree.root)
    said = any("differed from what events said" in note for note in status["notes"])
    if now["found"] != total or status["audit"]["found"] != total or said != bool(total):
        return f"{percent} %: {total} paths were kept silent so far, the audit found {now['found']}, {status['audit']}"
    return ""


def audit(lab: Lab) -> dict[str, int]:
    """Ask the daemon how its audit stands: a question about no worktree, which does not hold the audit."""
    status = json.loads(lab.link.ask(DaemonStatus(output="json")).out)
    found: dict[str, int] = status["worktrees"][0]["audit"]
    return found


def wrong_answers(lab: Lab, row: Row, names: dict[str, str], where: str) -> str:
    """Ask for a sample of names; what is there must be found, what was there before must not."""
    for path, name in lab.random.sample(sorted(names.items()), min(40, len(names))):
        if lab.places(row, name) != [path]:
            return f"{where}: {name} is not found in {path}"
    total = lab.link.symbols(lab.tree.root, "*", limit=50_000)
    held = {found["name"] for found in total["results"]}
    return "" if held == set(names.values()) else f"{where}: {len(held ^ set(names.values()))} names differ"
