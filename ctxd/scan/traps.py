"""What git would wait for: pipes and devices in place of the files that it reads. Scan threads.

git opens an ignore file as it is, and on a FIFO that ends when somebody writes into it. What it always reads is looked
at before it is asked; an ignore file deep in the tree is not known then, and shows by what git is doing.
"""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import threading
from collections.abc import Iterable, Iterator

# How often a git that runs for long is looked at; nearly all end within a few milliseconds.
LOOK_S = 0.25
# The kernel's functions in which whoever opens a FIFO sleeps (Linux: fs/pipe.c).
_OPENING_FIFO = ("wait_for_partner", "fifo_open")


def trap(paths: Iterable[str]) -> str:
    """Return the first of `paths` that is neither a file nor a directory, links followed; "" when there is none."""
    for path in paths:
        try:
            mode = os.stat(path).st_mode
        except (OSError, ValueError):
            continue
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
            return path
    return ""


@contextlib.contextmanager
def ended_at_fifo(process: subprocess.Popen[bytes]) -> Iterator[threading.Event]:
    """Look at a child that runs for long, from a thread of its own; one that opens a FIFO is ended, the event set."""
    over, fifo = threading.Event(), threading.Event()

    def look() -> None:
        while not over.wait(LOOK_S):
            if _is_opening_fifo(process.pid):
                fifo.set()
                process.kill()
                return

    thread = threading.Thread(target=look, name="ctxd-git", daemon=True)
    thread.start()
    try:
        yield fifo
    finally:
        over.set()
        thread.join()


def _is_opening_fifo(pid: int) -> bool:
    """Say whether a process sleeps in opening a FIFO; False where the system does not tell."""
    try:
        with open(f"/proc/{pid}/wchan", encoding="ascii") as file:
            return file.read() in _OPENING_FIFO
    except (OSError, UnicodeDecodeError):
        return False
