"""R17: clients that stall in the header, in the body, or never read. They are cut; the others hardly notice."""

from __future__ import annotations

import os
import select
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from ctxd.server import STALL_S
from ctxprotocol import framing
from ctxprotocol.messages import Answer, Hello, Query, Symbols
from tests.faults import copies
from tests.faults.lab import Lab, Row, Size
from tests.faults.meters import Meter, open_readers
from tests.link import Link

STALLED = {"ci": 50, "release": 50, "nightly": 150}
# The packages of the CI size have a shorter patience; nothing else differs.
PATIENCE_S = {"ci": 2.0, "release": STALL_S, "nightly": STALL_S}
WATCHED_S = {"ci": 4.0, "release": 60.0, "nightly": 600.0}
GOOD_P99_S = 1.0
SLACK_S = 5.0
DEFINITIONS = 2_500
GROWTH_BYTES = 200 << 20
# Of these a new connection takes the place of each that is cut.
KINDS = ("silent", "header", "body", "trickle", "half_request", "deaf_small", "deaf_large", "deaf_burst")
TRICKLE_S = 0.2
# Requests whose replies the kernel surely takes.
FEW = 4


@dataclass
class Stalled:
    """One client that stalls, since when, and what it sends now and then."""

    kind: str
    link: Link
    since: float
    trickles: float = 0.0


def stalls(size: Size, seed: int, bin: str) -> Row:
    """Keep so many stalled clients connected, and ask all the time as a good one."""
    count, patience_s = STALLED[size.name], PATIENCE_S[size.name]
    row = Row("R17", f"{count} clients that stall for {WATCHED_S[size.name]:g} s", seed)
    with patient(bin, patience_s) as commands, Lab(seed, commands) as lab, ExitStack() as held:
        lab.tree.write("many.py", "".join(f"def stalled_{n:05d}(a): pass\n" for n in range(DEFINITIONS)))
        lab.places(Row("", "", 0), "stalled_00000")
        lab.link.ask(large(lab))
        open_readers(lab)
        meter = Meter(lab.home)
        clients = [stall(lab, KINDS[number % len(KINDS)]) for number in range(count)]
        for client in clients:
            held.callback(client.link.close)
        watch(lab, row, clients, patience_s, WATCHED_S[size.name])
        row.count("" if row.percentile(0.99) <= GOOD_P99_S else f"p99 of the good {row.percentile(0.99):.2f} s")
        for client in clients:
            client.link.close()
        row.count(meter.grown(lab.home, GROWTH_BYTES))
    return row


@contextmanager
def patient(bin: str, patience_s: float) -> Iterator[str | Path]:
    """Give commands whose daemon waits for stalled clients so long."""
    if patience_s == STALL_S:
        yield bin
        return
    with tempfile.TemporaryDirectory(prefix="ctx-stall-", dir="/tmp") as folder:
        edit = ("ctxd/server.py", f"STALL_S = {STALL_S}\n", f"STALL_S = {patience_s}\n")
        yield copies.build(Path(folder), [edit], copies.source_of(bin))


def large(lab: Lab) -> Symbols:
    """Return a request whose reply is larger than what the kernel's buffers take, and less than 4 MiB."""
    return Symbols(directory=os.fsencode(lab.tree.root), pattern="stalled_*", limit=DEFINITIONS, output="json")


def stall(lab: Lab, kind: str) -> Stalled:
    """Connect and begin to stall."""
    welcome = lab.link.welcome
    link = Link(lab.home.path, greet=False)
    hello = framing.pack(Hello(protocol=welcome.protocol, version=welcome.version, build=welcome.build))
    request = framing.pack(Query(directory=os.fsencode(lab.tree.root), text="stalled"))
    sent = {
        "silent": b"",
        "header": b"\0\0",
        "body": hello[:9],
        "trickle": b"",
        "half_request": hello + request[:-3],
        "deaf_small": hello + request * FEW,
        "deaf_large": hello + framing.pack(large(lab)),
        "deaf_burst": hello + framing.pack(large(lab)) * 16,
    }[kind]
    link.socket.sendall(sent)
    link.socket.setblocking(False)
    return Stalled(kind, link, time.perf_counter())


def watch(lab: Lab, row: Row, clients: list[Stalled], patience_s: float, span_s: float) -> None:
    """Ask as a good client until the span is over; each stalled one must have been cut in time by then."""
    ends = time.perf_counter() + max(span_s, patience_s + SLACK_S)
    open_ones = [client for client in clients if client.kind != "deaf_small"]
    while time.perf_counter() < ends and (open_ones or time.perf_counter() < ends - SLACK_S):
        name = f"stalled_{lab.random.randrange(DEFINITIONS):05d}"
        found = lab.places(row, name)
        row.count("" if found == ["many.py"] else f"{name} in {found}")
        open_ones = [client for client in open_ones if not was_cut(client)]
        time.sleep(0.005)
    for client in open_ones:
        row.count(f"{client.kind} is not cut after {time.perf_counter() - client.since:.1f} s")
    for client in clients:
        if client.kind == "deaf_small":
            row.count(served_late(client))
        elif client not in open_ones:
            row.count()


def was_cut(client: Stalled) -> bool:
    """Say whether the daemon has hung up, without reading what it wrote; let a trickle go on."""
    now = time.perf_counter()
    if client.kind == "trickle" and now > client.trickles + TRICKLE_S:
        client.trickles = now
        try:
            client.link.socket.send(b"\0")
        except (BrokenPipeError, ConnectionResetError):
            return True
    poll = select.poll()
    poll.register(client.link.socket, select.POLLRDHUP)
    return bool(poll.poll(0))


def served_late(client: Stalled) -> str:
    """Replies that the kernel's buffers took are no stall: whoever comes back finds them all."""
    client.link.socket.settimeout(5)
    client.link.receive()
    replies = [client.link.receive() for _ in range(FEW)]
    wrong = [reply for reply in replies if not isinstance(reply, Answer)]
    return f"{client.kind}: {wrong[0]}" if wrong else ""
