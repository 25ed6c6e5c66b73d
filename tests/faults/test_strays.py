"""R38 sees what it looks for."""

from __future__ import annotations

import os
import socket
import subprocess
import sys

from tests.faults.lab import SIZES
from tests.faults.strays import strays
from tests.home import Home


def test_a_stray_of_each_kind_is_seen(ctx: Home) -> None:
    """A process with a state directory of this run, a worker of it, a socket that listens below it."""
    os.mkdir(ctx.path)
    command = [sys.executable, "-c", "print(flush=True); input()", "ctxd.parse.worker"]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{ctx.path}/s")
        listener.listen()
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        running = [subprocess.Popen(line, env=ctx.env, **pipes) for line in (command, command[:3])]
        # The kernel shows the environment of a new program a moment after Popen knows that it runs.
        for each in running:
            assert each.stdout is not None and each.stdout.readline()
        row = strays(SIZES["ci"], 1, "")
        for each in running:
            each.communicate(b"\n")

    assert (row.tried, row.survived) == (3, 0)
    assert strays(SIZES["ci"], 1, "").green
