"""Run the fault lab and print its sheet: `python -m tests.faults --size release [--only R01,R08] [--seed N]`."""

from __future__ import annotations

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path

from tests.faults import (
    clocks,
    copies,
    corruptions,
    crashes,
    crowds,
    days,
    deaf,
    descriptors,
    embedding,
    exits,
    failures,
    frames,
    fulldisks,
    hangups,
    histories,
    hostile,
    kills,
    leaks,
    leftovers,
    limits,
    memory,
    outsiders,
    powercuts,
    quiet,
    races,
    reads,
    rebuilds,
    rounds,
    schemas,
    silence,
    stalls,
    storms,
    strangers,
    strays,
    switches,
    vanished,
    versions,
    writers,
)
from tests.faults.lab import SIZES, Row, Size
from tests.home import BIN

EXPERIMENTS: dict[str, Callable[[Size, int, str], Row]] = {
    "R01": reads.read_your_writes,
    "R02": writers.parallel_writers,
    "R03": storms.overflow,
    "R04": silence.lying_watcher,
    "R05": deaf.no_events,
    "R06": switches.git_storms,
    "R07": histories.same_as_scratch,
    "R08": kills.killed,
    "R13": memory.short_of_memory,
    "R14": crashes.crashed,
    "R09": failures.failing,
    "R11": corruptions.corrupted,
    "R12": fulldisks.full,
    "R26": outsiders.outsiders,
    "R28": rebuilds.rebuilt,
    "R27": schemas.schemas,
    "R10": powercuts.power_lost,
    "R15": crowds.crowd,
    "R16": frames.malformed,
    "R17": stalls.stalls,
    "R18": hangups.hung_up,
    "R19": limits.limits,
    "R20": races.start_race,
    "R21": leftovers.leftovers,
    "R22": vanished.vanished,
    "R23": versions.versions,
    "R24": exits.exits,
    "R29": quiet.idle,
    "R30": quiet.sizes,
    "R31": days.day,
    "R32": descriptors.few_descriptors,
    "R25": clocks.clock_and_sleep,
    "R33": strangers.strangers,
    "R34": leaks.leaks,
    "R35": hostile.hostile,
    "R39": embedding.embedding,
    "B058": rounds.edit_and_ask,
    # Last: it looks at what the others have left.
    "R38": strays.strays,
}


def run(name: str, size: Size, seed: int, bin: str = str(BIN)) -> Row:
    """Run one experiment; a fault of the experiment itself is a trial that did not survive."""
    began = time.perf_counter()
    try:
        row = EXPERIMENTS[name](size, seed, bin)
    except Exception as fault:
        traceback.print_exc()
        row = Row(name, "ended by a fault of its own", seed)
        row.count(f"{type(fault).__name__}: {fault}")
    row.took_s = time.perf_counter() - began
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", choices=SIZES, default="ci")
    parser.add_argument("--only", default=",".join(EXPERIMENTS), help="ids, with commas")
    parser.add_argument("--numbers", type=span, metavar="A-B", help="only these n of R09: a run in parts")
    parser.add_argument("--seed", type=int, default=int(time.time()) % 1_000_000, help="replays a run")
    parser.add_argument("--bin", default="", help="directory of the ctx and ctxd to try; else a copy of these packages")
    parser.add_argument("--json", type=Path, help="write the sheet there")
    parser.add_argument("--charts", type=Path, help="write drawings into this folder")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ctx-copy-", dir="/tmp") as folder:
        # A run of an hour must not see the packages change under it: two builds rank differently.
        bin = args.bin or str(copies.build(Path(folder) / "copy"))
        return sheet(args, bin)


def span(text: str) -> tuple[int, int]:
    """Read "A-B"."""
    first, last = map(int, text.split("-"))
    return first, last


def sheet(args: argparse.Namespace, bin: str) -> int:
    """Run the experiments that were asked for and print a line for each; return the exit code."""
    rows = []
    size = replace(SIZES[args.size], numbers=args.numbers) if args.numbers else SIZES[args.size]
    print(f"faults, size {args.size}, seed {args.seed}, commit {commit()}, {platform.platform()}", flush=True)
    for name in args.only.split(","):
        rows.append(run(name, size, args.seed, bin))
        print(rows[-1].line(), flush=True)
        if args.charts and rows[-1].chart:
            args.charts.mkdir(exist_ok=True)
            (args.charts / f"{name}-{args.size}.svg").write_text(rows[-1].chart)
    tried, survived = sum(row.tried for row in rows), sum(row.survived for row in rows)
    print(f"survived {survived} of {tried}, worst answer {max(row.worst_s for row in rows) * 1e3:.0f} ms")
    if args.json:
        left_out = {"waits_s": None, "chart": None, "told_at": None}
        args.json.write_text(json.dumps([asdict(row) | left_out | {"worst_s": row.worst_s} for row in rows]))
    return 0 if all(row.green for row in rows) else 1


def commit() -> str:
    done = subprocess.run(["git", "rev-parse", "--short", "HEAD"], check=False, capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


if __name__ == "__main__":
    sys.exit(main())
