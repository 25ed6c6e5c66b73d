"""What a large tree costs: `python -m tests.bench.trees [--files 5000,50000] [--json FILE]`, some 20 minutes.

For each size a generated git work tree of its own: first index, save to searchable, switches between two branches
that differ in up to 5,000 files, and what the daemon does when nobody does anything, its audit included.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from ctxprotocol.messages import Update
from tests.bench.__main__ import table
from tests.bench.measure import SAVES, Figure, interpreter_ms, percentile, timed
from tests.faults import quiet
from tests.faults.lab import Lab
from tests.faults.silence import audit

BRANCH_FILES = 5_000
IDLE_S = 300.0
# After work, the audit's included, workers end within half a minute and memory is given back: not yet idle.
REST_S = 60.0
AUDITED_WITHIN_S = 900.0
PATIENCE_MS = 60_000
PASS = "python -c pass"


def text_of(number: int, side: str, functions: int = 6) -> str:
    """Return a file of some 40 lines whose definitions name the side that they are of."""
    return "".join(
        f"def {side}_{number:05d}_{each}(given, other):\n"
        f'    """Combine what is given with the other, for the {each}th time of {number}."""\n'
        f"    found = {side}_{max(0, number - 1):05d}_{each}(other, given)\n"
        f"    total = found * {each} + given\n    return [found, total, other]\n\n\n"
        for each in range(functions)
    )


def path_of(number: int) -> str:
    return f"p{number % 200}/m{number}.py"


def measured(files: int, seed: int) -> Iterator[Figure]:
    """Measure one tree; the figures come as they are had, a long one after some minutes."""
    name = f"{files:,} files"
    with Lab(seed) as lab:
        branches(lab, files)
        link, root = lab.link, os.fsencode(lab.tree.root)
        base = interpreter_ms(lab.home)
        link.socket.settimeout(1_200)
        spent = timed(lambda: link.ask(Update(directory=root, index_wait_ms=-1, timeout_ms=1_200_000)))
        size = files * len(text_of(1, "main"))
        yield Figure(name, f"first index, {size / 1e6:.0f} MB", spent / 1e3, "s")
        yield Figure(name, "first index", size / 1e3 / spent, "MB/s")
        yield from saves(lab, name, files, base)
        yield from switches(lab, name, files)
        yield from idle(lab, name)


def branches(lab: Lab, files: int) -> None:
    """Write both branches before anything is indexed, so that the first switch brings texts that nothing has seen."""
    for side, changed in (("main", files), ("side", min(files, BRANCH_FILES))):
        lab.tree.git("checkout", "-q", "-B", side)
        for number in range(changed):
            lab.tree.write(path_of(number), text_of(number, side))
        lab.tree.commit(side)
    lab.tree.git("checkout", "-q", "main")


def saves(lab: Lab, name: str, files: int, base: float) -> Iterator[Figure]:
    """Save a file and ask at once for what is new in it; what was new before must be gone."""
    spent = []
    for number in range(SAVES):
        each = lab.random.randrange(files)
        lab.tree.write(path_of(each), text_of(each, "main") + f"def saved_{number:05d}(): pass\n")
        spent.append(timed(lambda e=each, n=number: expect(lab, f"saved_{n:05d}", [path_of(e)])))
        lab.tree.write(path_of(each), text_of(each, "main"))
        # Not timed: who asks for what is not there waits for names that are like it.
        expect(lab, f"saved_{number:05d}", [])
    yield Figure(name, "save to searchable, p50", percentile(spent, 0.5), "ms", PASS, base)
    yield Figure(name, "save to searchable, p99", percentile(spent, 0.99), "ms", PASS, base)


def expect(lab: Lab, name: str, files: list[str]) -> None:
    """Ask, and wait until the answer is fresh; it must be right then."""
    answer = lab.link.symbols(lab.tree.root, name, fresh_within_ms=PATIENCE_MS)
    found = [row["file"] for row in answer["results"]]
    assert answer["fresh"] and found == files, f"{name} in {found}, is in {files}, fresh: {answer['fresh']}"


def switches(lab: Lab, name: str, files: int) -> Iterator[Figure]:
    """Switch to what was never seen, then back and forth: from the end of git's work to the right answer."""
    changed = min(files, BRANCH_FILES)
    for turn in range(6):
        side, other = ("side", "main") if turn % 2 == 0 else ("main", "side")
        git_ms = timed(lambda to=side: lab.tree.git("checkout", "-q", to))
        began = time.perf_counter()
        expect(lab, f"{side}_00007_1", [path_of(7)])
        expect(lab, f"{other}_00007_1", [])
        spent = (time.perf_counter() - began) * 1e3
        yield Figure(name, f"switch {turn + 1}, {changed:,} files, to {side}", spent, "ms", "git checkout", git_ms)


def idle(lab: Lab, name: str) -> Iterator[Figure]:
    """Leave the daemon alone: what its audit takes, and then what nothing takes."""
    quiet.settle(lab, 1.0)
    began, cpu, cycles = time.monotonic(), quiet.cpu_s(lab), audit(lab)["cycles"]
    while audit(lab)["cycles"] == cycles and time.monotonic() - began < AUDITED_WITHIN_S:
        time.sleep(2.0)
    took = f"audit, done {time.monotonic() - began:.0f} s after the last change"
    yield Figure(name, f"{took}, CPU", quiet.cpu_s(lab) - cpu, "s")
    time.sleep(REST_S)
    cpu, wakes, written, before = quiet.cpu_s(lab), quiet.wakeups(lab), quiet.bytes_written(lab), quiet.looks(lab)
    time.sleep(IDLE_S)
    yield Figure(name, f"idle {IDLE_S:.0f} s, CPU", quiet.cpu_s(lab) - cpu, "s")
    yield Figure(name, "idle, wake-ups", (quiet.wakeups(lab) - wakes) / IDLE_S, "1/s")
    yield Figure(name, "idle, bytes written", quiet.bytes_written(lab) - written, "B")
    yield Figure(name, "idle, files changed in the state directory", len(quiet.changes(lab, before)), "files")
    yield Figure(name, "idle, memory of daemon and children (PSS)", quiet.pss(lab) / (1 << 20), "MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", default="5000,50000", help="sizes, with commas")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    figures: list[Figure] = []
    for files in map(int, args.files.split(",")):
        mine = []
        for figure in measured(files, args.seed):
            mine.append(figure)
            print(f"{figure.what}: {figure.value:.2f} {figure.unit}", file=sys.stderr, flush=True)
        table(mine)
        figures += mine
    if args.json:
        args.json.write_text(json.dumps([asdict(each) | {"ratio": each.ratio} for each in figures], indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
