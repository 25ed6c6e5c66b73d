"""R32: many directories and few descriptors. Everything works, and few files are open."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import psutil

from ctxprotocol.messages import Update
from tests.faults.lab import Lab, Row, Size
from tests.link import Link

FILES = {"ci": 1_000, "release": 20_000, "nightly": 100_000}
DIRECTORIES = {"ci": 300, "release": 2_000, "nightly": 10_000}
LIMIT = 256
OPEN_MOST = 64
CLIENTS = {"ci": 100, "release": 150, "nightly": 150}
# What the daemon needs for itself beside its clients, so that it can still accept, open, and start a worker.
QUESTIONS = 200


def few_descriptors(size: Size, seed: int, bin: str) -> Row:
    """Index, ask, edit, rebuild and serve a crowd under the limit; count what is open after each step."""
    files, directories = FILES[size.name], DIRECTORIES[size.name]
    row = Row("R32", f"{LIMIT} descriptors, {files} files in {directories} directories", seed)
    with Lab(seed, bin) as lab:
        for number in range(files):
            lab.tree.write(path_of(number, directories), f"def held_{number:05d}(a): pass\n")
        limited(lab)
        most = 0
        for step in (first_index, questions, edits, rebuild):
            row.count(step(lab, row, files, directories))
            most = max(most, open_files(lab))
            row.count("" if open_files(lab) <= OPEN_MOST else f"{step.__name__}: {open_files(lab)} open: {held(lab)}")
        row.count(crowd(lab, row, files, CLIENTS[size.name]))
        row.count(beyond(lab, row))
        row.what += f": {most} open at most"
    return row


def path_of(number: int, directories: int) -> str:
    place = number % directories
    return f"d{place % 40}/e{place}/f{number}.py"


def limited(lab: Lab) -> None:
    """Start the daemon under the limit."""
    command = ["sh", "-c", f'ulimit -n {LIMIT}; exec "$@"', "sh", str(lab.home.bin / "ctx"), "daemon", "start"]
    subprocess.run(command, cwd="/", env=lab.home.env, check=True, capture_output=True, timeout=60)
    assert "Max open files            256" in Path(f"/proc/{lab.home.pid}/limits").read_text()


def open_files(lab: Lab) -> int:
    """Return how many descriptors the daemon has open, without its connections to clients."""
    process = psutil.Process(lab.home.pid)
    connections = [each for each in process.net_connections("unix") if each.status != "LISTEN" and each.laddr]
    return process.num_fds() - len(connections)


def held(lab: Lab) -> list[str]:
    folder = f"/proc/{lab.home.pid}/fd"
    return sorted(os.readlink(f"{folder}/{name}") for name in os.listdir(folder))[:30]


def first_index(lab: Lab, row: Row, files: int, directories: int) -> str:
    return wrong(lab, row, files - 1, directories)


def questions(lab: Lab, row: Row, files: int, directories: int) -> str:
    numbers = lab.random.sample(range(files), QUESTIONS)
    return next((fault for number in numbers if (fault := wrong(lab, row, number, directories))), "")


def wrong(lab: Lab, row: Row, number: int, directories: int) -> str:
    """Ask for one name; say what is wrong with the answer."""
    found, place = lab.places(row, f"held_{number:05d}"), path_of(number, directories)
    return "" if found == [place] else f"held_{number:05d} in {found}, is in {place}"


def edits(lab: Lab, row: Row, files: int, directories: int) -> str:
    """Each edit of a tenth of the tree is seen."""
    for number in range(0, files, 10):
        lab.tree.write(path_of(number, directories), f"def anew_{number:05d}(a): pass\n")
    for number in (0, files // 2 // 10 * 10):
        found = lab.places(row, f"anew_{number:05d}")
        if found != [path_of(number, directories)]:
            return f"anew_{number:05d} in {found}"
    return ""


def rebuild(lab: Lab, row: Row, files: int, directories: int) -> str:
    lab.link.ask(Update(directory=os.fsencode(lab.tree.root), full=True, index_wait_ms=-1))
    return wrong(lab, row, 1, directories)


def crowd(lab: Lab, row: Row, files: int, clients: int) -> str:
    """So many clients at one time, each answered."""
    links = []
    try:
        for number in range(clients):
            links.append(Link(lab.home.path))
            answer = links[-1].symbols(lab.tree.root, f"held_{number * 10 + 1:05d}")
            if len(answer["results"]) != 1:
                return f"client {number}: {answer}"
    finally:
        for link in links:
            link.close()
    return ""


def beyond(lab: Lab, row: Row) -> str:
    """More clients than there are descriptors: some are refused or wait, the daemon stays, and then all is well."""
    pid, links = lab.home.pid, list[Link]()
    try:
        links += [Link(lab.home.path, greet=False) for _ in range(LIMIT)]
        lab.tree.write("late.py", "def held_late(): pass\n")
    finally:
        for link in links:
            link.close()
    lab.hang_up()
    found = lab.places(row, "held_late")
    if found != ["late.py"]:
        return f"after too many clients: held_late in {found}"
    return "" if lab.home.daemons == [pid] else f"pid {pid} became {lab.home.daemons}"
