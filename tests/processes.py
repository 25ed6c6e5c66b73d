"""The process table: which daemons and workers belong to a CTX_HOME, and how to end them."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable

import psutil


def belonging_to(home: str) -> list[psutil.Process]:
    """Return the processes whose CTX_HOME is `home` or lies below it, and all that they started."""
    found: dict[int, psutil.Process] = {}
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            place = process.environ().get("CTX_HOME", "")
            if place == home or place.startswith(home + "/"):
                found[process.pid] = process
                found.update((child.pid, child) for child in process.children(recursive=True))
    return list(found.values())


def daemons_of(home: str) -> list[int]:
    """Return the pids of the daemons of `home`: those whose parent is not one of its processes."""
    every = belonging_to(home)
    pids = {process.pid for process in every}
    found = []
    for process in every:
        with contextlib.suppress(psutil.Error):
            line = process.cmdline()
            daemon = "ctxd" in line or any(part.endswith("/ctxd") for part in line[:3])
            if daemon and process.ppid() not in pids and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return sorted(found)


def orphaned_workers(since: float, executable: str) -> list[int]:
    """Return parse workers of `executable` started after `since` (seconds) that have lost their daemon."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            line = process.cmdline()
            ours = line[:1] == [executable] and "ctxd.parse.worker" in line and process.ppid() == 1
            if ours and process.create_time() >= since and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
    return found


def placed_below(prefix: str) -> list[tuple[psutil.Process, str]]:
    """Return the processes whose CTX_HOME begins with `prefix`, with their command lines; workers keep it, too."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error, OSError):
            if process.environ().get("CTX_HOME", "").startswith(prefix) and process.status() != psutil.STATUS_ZOMBIE:
                found.append((process, " ".join(process.cmdline())))
    return found


def listening_below(prefix: str) -> list[str]:
    """Return the paths of Unix sockets below `prefix` that somebody listens at; none where that cannot be known."""
    try:
        with open("/proc/net/unix", encoding="utf-8", errors="replace") as table:
            rows = [line.split(maxsplit=7) for line in table]
    except OSError:
        return []
    accepts = "00010000"  # __SO_ACCEPTCON
    return [row[7].strip() for row in rows if len(row) > 7 and row[3] == accepts and row[7].startswith(prefix)]


def alive(process: psutil.Process) -> bool:
    """True while the process runs; one that only waits to be collected by its parent does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def end(processes: list[psutil.Process], patience_s: float = 5.0) -> list[int]:
    """End `processes` by pid, politely and then not, and return the pids that had to be killed."""
    for process in processes:
        with contextlib.suppress(psutil.Error):
            process.terminate()
    deadline = time.monotonic() + patience_s
    while any(map(alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.005)
    stubborn = [process for process in processes if alive(process)]
    for process in stubborn:
        with contextlib.suppress(psutil.Error):
            process.kill()
    return [process.pid for process in stubborn]


def wait_until(condition: Callable[[], bool], deadline_s: float, what: str) -> None:
    """Return as soon as `condition()` holds; AssertionError with `what` after `deadline_s`."""
    end_at = time.monotonic() + deadline_s
    while not condition():
        assert time.monotonic() < end_at, f"not within {deadline_s} s: {what}"
        time.sleep(0.01)
