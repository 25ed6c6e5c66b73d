"""R18: clients that are killed in the middle of a reply, and clients that go away while their query is worked on."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from ctxprotocol import endpoint, framing
from ctxprotocol.messages import DaemonStatus, Hello, Symbols
from tests.faults import copies
from tests.faults.lab import Lab, Row, Size
from tests.faults.meters import Meter, open_readers
from tests.faults.storms import find_key
from tests.link import Link
from tests.processes import wait_until

# Beyond any socket buffer: the daemon still has something to write when its client dies.
DEFINITIONS = 2_500
STOPS_WITHIN_S = 1.0
# As many as there are reader threads: if one goes on, the next round finds it.
AT_ONCE = 4
SLOW = "slow-5000"
QUIET_SHARE = 0.3
GROWTH_BYTES = 50 << 20

# Sends what it is given, reads the first bytes of the reply, says so, and waits to be killed.
CLIENT = """
import _socket, os, sys
connected = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
connected.connect(sys.argv[1])
connected.sendall(bytes.fromhex(sys.argv[2]))
got = 0
while got < 2000:
    got += len(connected.recv(2000))
os.write(1, b".")
os.read(0, 1)
"""


def hung_up(size: Size, seed: int, bin: str) -> Row:
    """Kill clients mid-reply, then hang up on slow queries; the daemon stays, stops working, and holds nothing."""
    row = Row("R18", f"{size.hangups} kills mid-reply, {size.cancels} cancels", seed)
    with tempfile.TemporaryDirectory(prefix="ctx-slow-", dir="/tmp") as folder:
        slow = copies.build(Path(folder), [copies.SLOW], copies.source_of(bin))
        with Lab(seed, slow) as lab:
            lab.tree.write("many.py", "".join(f"def hung_{n:05d}(a): pass\n" for n in range(DEFINITIONS)))
            lab.places(Row("", "", 0), "hung_00000")
            for _ in range(3):  # what stays for good is there before it is measured
                lab.link.ask(large(lab))
            open_readers(lab)
            meter = Meter(lab.home)
            kill_mid_reply(lab, row, size.hangups)
            for _ in range(size.cancels // AT_ONCE):
                row.count(cancelled(lab, row, meter))
            row.count(meter.grown(lab.home, GROWTH_BYTES))
    return row


def large(lab: Lab) -> Symbols:
    return Symbols(directory=os.fsencode(lab.tree.root), pattern="hung_*", limit=DEFINITIONS, output="json")


def kill_mid_reply(lab: Lab, row: Row, kills: int) -> None:
    """Kill so many clients, each while the daemon writes to it; the next question is answered as ever."""
    welcome = lab.link.welcome
    hello = Hello(protocol=welcome.protocol, version=welcome.version, build=welcome.build)
    sent = (framing.pack(hello) + framing.pack(large(lab))).hex()
    command = [sys.executable, "-S", "-E", "-c", CLIENT, endpoint.socket_path(lab.home.path), sent]
    for number in range(kills):
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as client:
            assert client.stdout
            reading = client.stdout.read(1)
            client.kill()
        name = f"hung_{number % DEFINITIONS:05d}"
        found = lab.places(row, name) if reading else "its client failed"
        row.count("" if found == ["many.py"] else f"after kill {number + 1}: {name} in {found}")


def cancelled(lab: Lab, row: Row, meter: Meter) -> str:
    """Have all readers at work for clients that then hang up; say what goes on after that."""
    slow = Symbols(directory=os.fsencode(lab.tree.root), pattern=SLOW)
    with contextlib.ExitStack() as clients:
        for _ in range(AT_ONCE):
            clients.enter_context(Link(lab.home.path)).send(slow)
        wait_until(lambda: at_work(lab) >= AT_ONCE, 10, "the slow queries are at work")
        time.sleep(lab.random.uniform(0, 0.1))
    began = time.perf_counter()
    found = lab.places(row, "hung_00001")
    busy = meter.busy(0.1)
    while busy > QUIET_SHARE and time.perf_counter() - began < STOPS_WITHIN_S:
        busy = meter.busy(0.1)
    if found != ["many.py"]:
        return f"after the cancel: hung_00001 in {found}"
    if row.waits_s[-1] > STOPS_WITHIN_S:
        return f"readers were held for {row.waits_s[-1]:.1f} s"
    return "" if busy <= QUIET_SHARE else f"works on after {STOPS_WITHIN_S:g} s: {busy:.0%} of a core"


def at_work(lab: Lab) -> int:
    """Return how many requests but this one the daemon has in work."""
    queries = find_key(json.loads(lab.link.ask(DaemonStatus(output="json")).out), "queries")
    assert isinstance(queries, int)
    return queries - 1
