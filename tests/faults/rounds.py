"""B058: rounds of edits and queries; descriptors, memory and threads stay as they are."""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass

import psutil

from ctxprotocol.messages import DaemonStatus, Update
from tests.faults.lab import Lab, Row, Size
from tests.faults.meters import FD_SLACK, Meter
from tests.faults.storms import find_key

# Edits and queries of one round; files of the tree for each round of the size, up to so many.
EDITS, QUERIES, MOST_FILES = 50, 20, 3_000
# The first fifth fills caches; after that memory is within a tenth.
WARM_SHARE, GROWTH = 0.2, 1.1
# So much comes and goes with one garbage collection.
NOISE_BYTES = 8 << 20
# An idle daemon's share of a core, and what the clock of the process table cannot tell from nothing.
IDLE_SHARE, TICKS_S = 0.005, 0.03


@dataclass(frozen=True)
class Held:
    """What the daemon holds at one moment."""

    fds: int
    rss: int
    threads: int


def edit_and_ask(size: Size, seed: int, bin: str) -> Row:
    """Edit and ask, now and then rebuild; measure after each tenth of the rounds."""
    row = Row("B058", f"{size.rounds} rounds: descriptors, memory, threads", seed)
    with Lab(seed, bin) as lab:
        names = {number: f"round_0000_{number:04d}" for number in range(min(MOST_FILES, size.rounds * 30))}
        for number, name in names.items():
            lab.tree.write(path_of(number), f"def {name}(a):\n    return a\n")
        lab.places(Row("", "", 0), names[0])
        measured: list[tuple[int, Held]] = []
        for number in range(1, size.rounds + 1):
            row.count(one_round(lab, row, number, names))
            if not number % max(4, size.rounds // 20):
                lab.link.ask(Update(directory=os.fsencode(lab.tree.root), full=True, index_wait_ms=-1))
            if not number % max(1, size.rounds // 10):
                measured.append((number, held(lab)))
        row.count(grown([each for number, each in measured if number >= size.rounds * WARM_SHARE]))
        row.count(not_idle(lab, size.pause_s))
        status = json.loads(lab.link.ask(DaemonStatus(output="json")).out)
        row.count("" if find_key(status, "last_progress") else f"status tells of no progress: {str(status)[:200]}")
    return row


def one_round(lab: Lab, row: Row, number: int, names: dict[int, str]) -> str:
    """Edit some files, ask for some of them; say which answer was wrong."""
    edited = lab.random.sample(sorted(names), min(EDITS, len(names)))
    for each in edited:
        names[each] = f"round_{number:04d}_{each:04d}"
        lab.tree.write(path_of(each), f"def {names[each]}(a):\n    return a\n")
    for each in edited[:QUERIES]:
        found = lab.places(row, names[each])
        if found != [path_of(each)]:
            return f"round {number}: {names[each]} in {found}"
    return ""


def held(lab: Lab) -> Held:
    process = psutil.Process(lab.link.welcome.pid)
    return Held(process.num_fds(), process.memory_info().rss, process.num_threads())


def grown(measured: list[Held]) -> str:
    """Say what has grown between the first and the last measurement."""
    first, last = measured[0], measured[-1]
    if last.fds > first.fds + FD_SLACK:
        return f"descriptors: {[each.fds for each in measured]}"
    if last.threads > first.threads:
        return f"threads: {[each.threads for each in measured]}"
    if last.rss > max(first.rss * GROWTH, first.rss + NOISE_BYTES):
        return f"memory in MB: {[each.rss >> 20 for each in measured]}"
    return ""


def not_idle(lab: Lab, span_s: float) -> str:
    """Say how much the daemon does when nobody asks and nothing changes."""
    time.sleep(1)
    share = Meter(lab.home).busy(span_s)
    return "" if share <= IDLE_SHARE + TICKS_S / span_s else f"idle, it uses {share:.1%} of a core"


def path_of(number: int) -> str:
    return f"d{number % 40}/f{number}.py"
