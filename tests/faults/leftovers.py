"""R21: whatever lies where socket, locks and a pid file would be, the result is defined and nobody else is touched.

There is no pid file: its seven lines show that a file of that name changes nothing. A paused daemon is never replaced.
"""

from __future__ import annotations

import concurrent.futures
import contextlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from ctxprotocol import endpoint
from tests.faults.lab import Lab, Row, Size
from tests.processes import wait_until

THINGS = {"socket": ("ctxd.sock",), "lock": ("start.lock", "turn.lock"), "pid file": ("ctxd.pid",)}
STATES = ("absent", "dead", "foreign live pid", "foreign inode", "other owner", "directory", "symlink")
# Where the answer is an error that names the place, and nothing is removed. Everywhere else the question is answered.
TOLD = {
    ("socket", "foreign live pid"),
    ("socket", "directory"),
    ("socket", "symlink"),
    ("lock", "directory"),
    ("lock", "symlink"),
}
NOBODY = 65534
FOREVER_S = 600.0
QUESTION = ("find", "left", "--timeout", "1")

# Notes every signal that can be caught. Listens at, or locks, what it is told, until its stdin ends or time is over.
FOREIGN = """
import fcntl, os, select, signal, socket, sys
note, what, hold_s, *paths = sys.argv[1:]
def caught(number, frame):
    with open(note, "a") as file: print(number, file=file)
for number in set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP, signal.SIGCHLD}:
    signal.signal(number, caught)
held = []
for path in paths:
    if what == "listen":
        held.append(socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)); held[-1].bind(path); held[-1].listen(8)
    elif what == "lock":
        held.append(os.open(path, os.O_RDWR | os.O_CREAT, 0o600)); fcntl.flock(held[-1], fcntl.LOCK_EX)
print(flush=True)
select.select([sys.stdin], [], [], float(hold_s))
"""


def leftovers(size: Size, seed: int, bin: str) -> Row:
    """Try all 21 lines of the matrix, each in a state directory of its own, then the paused daemon."""
    row = Row("R21", f"what lies there: 21 lines; paused {size.pause_s:g} s", seed)

    def one(line: tuple[str, str]) -> str:
        with Lab(seed, bin) as lab:
            lab.tree.write("a.py", "def left(): pass\n")
            fault = Line(lab, *line).undefined(row, size)
            return f"{' '.join(line)}: {fault}" if fault else ""

    # They mostly wait.
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        for fault in pool.map(one, itertools.product(THINGS, STATES)):
            row.count(fault)
    with Lab(seed, bin) as lab:
        lab.tree.write("a.py", "def left(): pass\n")
        row.count(replaced_while_paused(lab, size.pause_s))
    return row


class Line:
    """One line of the matrix: puts something there, asks, and looks at what is left."""

    def __init__(self, lab: Lab, thing: str, state: str) -> None:
        self.lab, self.thing, self.state = lab, thing, state
        endpoint.make_private(lab.home.path)
        self.paths = [os.path.join(lab.home.path, name) for name in THINGS[thing]]
        self.note = os.path.join(lab.home.place, "signals")
        self.target = os.path.join(lab.home.place, "target")

    def undefined(self, row: Row, size: Size) -> str:
        """Say what is wrong with the result, or nothing."""
        with contextlib.ExitStack() as foreigners:
            running = self.lab.link.welcome.pid if self.state == "foreign inode" else 0
            foreigner = self.put(foreigners, size.pause_s)
            before = self.looks() if self.thing == "pid file" or (self.thing, self.state) in TOLD else []
            began = time.perf_counter()
            done = self.lab.home.run(*QUESTION, cwd=self.lab.tree.root)
            row.waits_s.append(time.perf_counter() - began)
            if before and self.looks() != before:
                return f"{before} became {self.looks()}"
            if foreigner is not None and self.thing != "lock" and foreigner.poll() is not None:
                return "the foreign process has ended"
        if os.path.exists(self.note):
            return "the foreign process was signalled"
        if self.state == "symlink" and Path(self.target).read_text() != "mine":
            return "the link's target was written"
        if running and self.lab.home.daemons != [running]:
            return f"pid {running} became {self.lab.home.daemons}"
        return self.answered(done)

    def answered(self, done: subprocess.CompletedProcess[str]) -> str:
        said = f"exit {done.returncode} {done.stdout[:100]!r} {done.stderr[:300]!r}"
        if "Traceback" in done.stderr or len(self.lab.home.daemons) > 1:
            return f"{said}, daemons {self.lab.home.daemons}"
        if (self.thing, self.state) in TOLD:
            named = any(path in done.stderr for path in self.paths) or "timed out" in done.stderr
            return "" if done.returncode == 3 and named else said
        return "" if done.returncode == 0 and "a.py" in done.stdout else said

    def looks(self) -> list[tuple[int, int, int]]:
        """Return what stands at the paths, to see that it was left alone."""
        found = [os.lstat(path) for path in self.paths if os.path.lexists(path)]
        return [(each.st_ino, each.st_mode, each.st_size) for each in found]

    def put(self, foreigners: contextlib.ExitStack, hold_s: float) -> subprocess.Popen[str] | None:
        """Bring about the state; return the foreign process where one has to do with it."""
        if self.state == "foreign live pid" and self.thing != "pid file":
            what, hold_s = ("listen", FOREVER_S) if self.thing == "socket" else ("lock", hold_s)
            return foreigners.enter_context(foreign(self.note, what, hold_s, *self.paths))
        if self.state == "foreign live pid":
            stranger = foreigners.enter_context(foreign(self.note, "nothing", FOREVER_S))
            self.write(str(stranger.pid))
            return stranger
        for path in self.paths:
            match self.state:
                case "dead" if self.thing == "socket":
                    dead_socket(path)
                case "dead":
                    self.write("999999")
                case "foreign inode":
                    dead_socket(path + ".new") if self.thing == "socket" else Path(path + ".new").touch()
                    os.replace(path + ".new", path)
                case "other owner":
                    dead_socket(path) if self.thing == "socket" else self.write("1")
                    with contextlib.suppress(PermissionError):  # only root can make this state; else it is "dead"
                        os.chown(path, NOBODY, NOBODY)
                case "directory":
                    os.mkdir(path)
                case "symlink":
                    Path(self.target).write_text("mine")
                    os.symlink(self.target, path)
        return None

    def write(self, text: str) -> None:
        for path in self.paths:
            Path(path).write_text(text)


def dead_socket(path: str) -> None:
    """Leave a socket that nobody listens at."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(path)


def foreign(note: str, what: str, hold_s: float, *paths: str) -> subprocess.Popen[str]:
    """Start a process that is none of ours; it ends when its stdin does, or after `hold_s`."""
    command = [sys.executable, "-c", FOREIGN, note, what, str(hold_s), *paths]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    process.stdout.readline()
    return process


def replaced_while_paused(lab: Lab, pause_s: float) -> str:
    """Stop the daemon by SIGSTOP, ask and start meanwhile, let it go on: the same daemon answers everyone."""
    pid = lab.link.welcome.pid
    command = [str(lab.home.bin / "ctx"), "find", "left"]
    os.kill(pid, signal.SIGSTOP)
    try:
        clients = [
            subprocess.Popen(
                command, cwd=lab.tree.root, env=lab.home.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
            for _ in range(5)
        ]
        second = lab.home.run("start", cwd="/", program="ctxd", timeout=20)
        time.sleep(pause_s)
        during = lab.home.daemons
    finally:
        os.kill(pid, signal.SIGCONT)
    said = [client.communicate(timeout=60) for client in clients]
    if second.returncode != 1 or "already runs" not in second.stderr:
        return f"paused: a second start: exit {second.returncode} {second.stderr[:200]}"
    if unanswered := [err for client, (out, err) in zip(clients, said, strict=True) if client.returncode or not out]:
        return f"paused: {len(unanswered)} of 5 not answered: {unanswered[0][:200]}"
    wait_until(lambda: len(lab.home.daemons) == 1, 5, "one daemon")
    return "" if during == lab.home.daemons == [pid] else f"paused: {pid} became {during}, {lab.home.daemons}"
