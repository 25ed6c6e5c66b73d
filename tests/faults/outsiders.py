"""R26: another program has an index file open: it locks it for a while, or keeps a snapshot through many re-indexes."""

from __future__ import annotations

import os
import time
from pathlib import Path

import apsw

from tests.faults.compare import index_files
from tests.faults.lab import Lab, Row, Size
from tests.link import Refused

LOCKED_S = 8.0
# Files, how often all of them are changed under the snapshot, and the longest log that there may be.
SIZES = {"ci": (60, 8, 24 << 20), "release": (300, 20, 64 << 20), "nightly": (300, 200, 64 << 20)}
AFTER_BYTES, AFTER_S = 8 << 20, 30.0
LINES = 120


def outsiders(size: Size, seed: int, bin: str) -> Row:
    """Lock the file, then pin its log."""
    files, rounds, most_bytes = SIZES[size.name]
    row = Row("R26", f"foreign lock; snapshot kept through {rounds} re-indexes", seed, unfresh_share=0.9)
    with Lab(seed, bin) as lab:
        for number in range(files):
            write(lab, number, 0)
        lab.places(Row("", "", 0), "round_0_0")
        row.count(locked(lab, row, LOCKED_S if size.name != "ci" else 1.5))
        row.count(pinned(lab, row, files, rounds, most_bytes))
    return row


def write(lab: Lab, number: int, version: int) -> None:
    body = "".join(f"    word_{lab.random.randrange(10**9)}(a)\n" for _ in range(LINES))
    lab.tree.write(f"d{number % 20}/f{number}.py", f"def round_{version}_{number}(a):\n{body}")


def asked(lab: Lab, row: Row, name: str, places: list[str], within_ms: int = 5_000) -> str:
    """Ask for a name; say what is wrong: an error, or a fresh answer that is not right."""
    began = time.perf_counter()
    try:
        answer = lab.link.symbols(lab.tree.root, name, fresh_within_ms=within_ms)
    except Refused as refused:
        return f"refused: {refused}"
    row.waits_s.append(time.perf_counter() - began)
    row.unfresh += not answer["fresh"]
    found = [each["file"] for each in answer["results"]]
    return f"{name} in {found}" if answer["fresh"] and found != places else ""


def locked(lab: Lab, row: Row, span_s: float) -> str:
    """Another program has the write lock: questions are answered, and what was saved is in when it is gone."""
    (path,) = index_files(lab.home)
    foreign = apsw.Connection(path)
    foreign.execute("BEGIN IMMEDIATE")
    end, version = time.monotonic() + span_s, 0
    try:
        while time.monotonic() < end:
            version += 1
            write(lab, 0, version)
            if wrong := asked(lab, row, f"round_{version}_0", ["d0/f0.py"], 300):
                return f"locked: {wrong}"
    finally:
        foreign.execute("ROLLBACK")
        foreign.close()
    wrong = asked(lab, row, f"round_{version}_0", ["d0/f0.py"])
    return f"after the lock: {wrong}" if wrong else ""


def pinned(lab: Lab, row: Row, files: int, rounds: int, most_bytes: int) -> str:
    """Another program reads and does not end: no log grows without bound, and no old file stays."""
    (path,) = index_files(lab.home)
    foreign = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY)
    foreign.execute("BEGIN")
    before = foreign.execute("SELECT count(*) FROM files").get
    longest = 0
    try:
        for version in range(100, 100 + rounds):
            for number in range(files):
                write(lab, number, version)
            number = lab.random.randrange(files)
            if wrong := asked(lab, row, f"round_{version}_{number}", [f"d{number % 20}/f{number}.py"], 60_000):
                return f"pinned: {wrong}"
            longest = max(longest, logs(lab))
        if foreign.execute("SELECT count(*) FROM files").get != before:
            return "the snapshot has changed"
    finally:
        foreign.close()
    row.what += f", log {longest / 1e6:.0f} MB"
    if longest > most_bytes:
        return f"a log of {longest / 1e6:.0f} MB while pinned"
    end = time.monotonic() + AFTER_S
    while logs(lab) > AFTER_BYTES:
        if time.monotonic() > end:
            return f"a log of {logs(lab) / 1e6:.0f} MB {AFTER_S:g} s after"
        time.sleep(0.1)
    files_left = index_files(lab.home)
    return "" if len(files_left) == 1 else f"index files: {list(map(os.path.basename, files_left))}"


def logs(lab: Lab) -> int:
    """Return the length of the longest log."""
    lengths = [0]
    for path in Path(lab.home.path).rglob("*-wal"):
        try:
            lengths.append(path.stat().st_size)
        except FileNotFoundError:
            continue
    return max(lengths)
