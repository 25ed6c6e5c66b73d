"""R38: what is left of everything that this run has started. To be asked last."""

from __future__ import annotations

from tests import processes
from tests.faults.lab import Row, Size
from tests.home import PREFIX


def strays(_size: Size, seed: int, _bin: str) -> Row:
    """Look through the process table and the listening sockets for those whose state directory was one of ours."""
    row = Row("R38", "what is left: daemons, workers, sockets", seed)
    left = processes.placed_below(PREFIX)
    workers = [process for process, line in left if "ctxd.parse.worker" in line]
    row.count(f"workers: {workers}" if workers else "")
    others = [(process, line) for process, line in left if process not in workers]
    row.count(f"daemons: {others}" if others else "")
    sockets = processes.listening_below(PREFIX)
    row.count(f"sockets: {sockets}" if sockets else "")
    return row
