"""R22: what a live daemon stands on is removed under it. It binds again or ends, and no file ever has two writers."""

from __future__ import annotations

import concurrent.futures
import contextlib
import os
import shutil
import time
from collections.abc import Callable

import psutil

from ctxprotocol import endpoint
from ctxprotocol.messages import Update
from tests.faults.compare import index_files, problems_of
from tests.faults.lab import Lab, Row, Size
from tests.link import Refused
from tests.processes import belonging_to, wait_until

WITHIN_S = 10.0


def vanished(size: Size, seed: int, bin: str) -> Row:
    """Remove each thing, ask at once, and look at the processes, at what they hold, and at the index files."""
    row = Row("R22", "removed under a live daemon; one writer", seed)
    trials = (no_socket, no_locks, no_state, other_state, state_moved, no_root)

    def one(trial: Callable[[Lab, Row], str]) -> str:
        with Lab(seed, bin) as lab:
            lab.tree.write("a.py", "def stays(): pass\n")
            lab.places(Row("", "", 0), "stays")
            fault = trial(lab, row) or unsound(lab)
            return f"{trial.__name__}: {fault}" if fault else ""

    # They mostly wait for the daemon to notice.
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for fault in pool.map(one, trials * size.vanishings):
            row.count(fault)
    return row


def no_socket(lab: Lab, row: Row) -> str:
    """The socket goes: the same daemon binds it again, and who asks meanwhile is answered."""
    pid = lab.home.pid
    os.unlink(endpoint.socket_path(lab.home.path))
    return asked(lab, row, lambda: lab.home.daemons == [pid])


def no_locks(lab: Lab, row: Row) -> str:
    """The locks of the starters go: nothing changes, and a second daemon does not start."""
    pid = lab.home.pid
    for name in ("start.lock", "turn.lock"):
        if os.path.exists(path := os.path.join(lab.home.path, name)):
            os.unlink(path)
    second = lab.home.run("start", cwd="/", program="ctxd", timeout=20)
    if second.returncode != 1 or "already runs" not in second.stderr:
        return f"a second start: exit {second.returncode} {second.stderr[:200]}"
    return asked(lab, row, lambda: lab.home.daemons == [pid])


def no_state(lab: Lab, row: Row) -> str:
    """The state directory goes: the daemon ends, and the next one begins anew."""
    pid = lab.home.pid
    shutil.rmtree(lab.home.path)
    return asked(lab, row, lambda: pid not in lab.home.daemons)


def other_state(lab: Lab, row: Row) -> str:
    """Another state directory stands there, with a daemon: the old one opens nothing in it, by any connection."""
    pid = lab.home.pid
    other = lab.tree.root.parent / "other"
    other.mkdir()
    shutil.rmtree(lab.home.path)
    told = lab.home.run("find", "stays", cwd=lab.tree.root)
    if told.returncode:
        return f"exit {told.returncode}: {told.stderr[:200]}"
    if shared := two_writers(lab):
        return shared
    try:  # the old daemon's own connection is still there
        lab.link.ask(Update(directory=os.fsencode(other), index_wait_ms=-1))
    except (Refused, EOFError, ConnectionError):
        pass
    else:
        return f"pid {pid} has indexed into a directory that is not its own"
    if shared := two_writers(lab):
        return shared
    return asked(lab, row, lambda: pid not in lab.home.daemons)


def state_moved(lab: Lab, row: Row) -> str:
    """The state directory is moved away: the daemon that holds it ends, and another begins where it stood."""
    pid = lab.home.pid
    os.rename(lab.home.path, lab.home.path + ".away")
    told = lab.home.run("find", "stays", cwd=lab.tree.root)
    if told.returncode:
        return f"exit {told.returncode}: {told.stderr[:200]}"
    return two_writers(lab) or asked(lab, row, lambda: pid not in lab.home.daemons)


def two_writers(lab: Lab) -> str:
    """Say which database two processes hold open for writing; a file is its inode, whatever is at its path by now."""
    held: dict[tuple[int, int], int] = {}
    for process in belonging_to(lab.home.path):
        with contextlib.suppress(psutil.Error, FileNotFoundError):  # it may be about to end
            for file in process.open_files():
                found = os.stat(f"/proc/{process.pid}/fd/{file.fd}")
                writes = file.mode != "r" and file.path.endswith(".db")
                if writes and held.setdefault((found.st_dev, found.st_ino), process.pid) != process.pid:
                    return f"{file.path} is open for writing in {held[found.st_dev, found.st_ino]} and {process.pid}"
    return ""


def no_root(lab: Lab, row: Row) -> str:
    """The work tree goes: an error that names it; it comes back with other content: the new answer."""
    pid = lab.home.pid
    shutil.rmtree(lab.tree.root)
    told = lab.home.run("find", "-C", str(lab.tree.root), "stays", cwd="/")
    if told.returncode != 4 or str(lab.tree.root) not in told.stderr:
        return f"exit {told.returncode}: {told.stderr[:200]}"
    lab.tree.root.mkdir()
    lab.tree.write("b.py", "def stays(): pass\n")
    found = lab.places(row, "stays")
    if found != ["b.py"]:
        return f"after the root came back: {found}"
    return "" if lab.home.daemons == [pid] else f"pid {pid} became {lab.home.daemons}"


def asked(lab: Lab, row: Row, right: Callable[[], bool]) -> str:
    """Ask at once, then wait until there is one daemon and the right one; the second answer must be right too."""
    began = time.perf_counter()
    lab.tree.write("new.py", "def appears(): pass\n")
    for name, file in (("stays", "a.py"), ("appears", "new.py")):
        done = lab.home.run("find", name, cwd=lab.tree.root)
        row.waits_s.append(time.perf_counter() - began)
        if done.returncode or file not in done.stdout:
            return f"{name}: exit {done.returncode} {done.stdout[:100]} {done.stderr[:200]}"
    wait_until(lambda: len(lab.home.daemons) == 1 and right(), WITHIN_S, "one daemon, the right one")
    spent = time.perf_counter() - began
    return "" if spent <= WITHIN_S else f"only after {spent:.1f} s"


def unsound(lab: Lab) -> str:
    """Say which index file is damaged, or has two writers."""
    for path in index_files(lab.home):
        if problems := problems_of(path):
            return f"{os.path.basename(path)}: {problems[:3]}"
    return two_writers(lab)
