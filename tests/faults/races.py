"""R20: many clients at one instant, and no daemon yet."""

from __future__ import annotations

import subprocess
import time

from tests.faults.lab import Lab, Row, Size

ALL_WITHIN_S = 5.0


def start_race(size: Size, seed: int, bin: str) -> Row:
    """Each round: a new state directory, all clients at once; one daemon, everyone answered, in time."""
    row = Row("R20", f"start race: {size.racers} clients at one instant", seed)
    for number in range(size.races):
        with Lab(seed + number, bin) as lab:
            lab.tree.write("a.py", "def raced_for(): pass\n")
            row.count(one_race(lab, row, size.racers))
    return row


def one_race(lab: Lab, row: Row, racers: int) -> str:
    """Start all clients, wait for all; return what was wrong, or nothing."""
    command = [str(lab.home.bin / "ctx"), "find", "raced_for"]
    began = time.perf_counter()
    clients = [
        subprocess.Popen(
            command, cwd=lab.tree.root, env=lab.home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for _ in range(racers)
    ]
    bad = []
    for client in clients:
        out, err = client.communicate(timeout=60)
        row.waits_s.append(time.perf_counter() - began)
        if client.returncode or "a.py" not in out:
            bad.append(f"exit {client.returncode}: {err.strip()[:120]}")
    daemons = lab.home.daemons
    if bad:
        return f"{len(bad)} of {racers} not answered: {bad[0]}"
    if len(daemons) != 1:
        return f"{len(daemons)} daemons"
    log = f"{lab.home.path}/ctxd.log"
    with open(log) as file:
        listened = sum("listening on" in line for line in file)
    if listened != 1:
        return f"{listened} daemons have listened"
    return (
        "" if max(row.waits_s[-racers:]) <= ALL_WITHIN_S else f"{max(row.waits_s[-racers:]):.1f} s until all had theirs"
    )
