"""R15: many clients at one time, each with questions that only one answer fits."""

from __future__ import annotations

import json
import os
import selectors
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

import msgspec

from ctxprotocol import framing
from ctxprotocol.messages import Answer, Chunk, DaemonStatus, Files, Find, Outline, Progress, Query, Symbols
from tests.faults.lab import Lab, Row, Size
from tests.link import RECEIVE_BYTES, Link

TREE_FILES = 200
P99_S = 0.25
SILENCE_S = 30.0
# Connected beside them without a word: with the others and the bench's own, just under the limit of 256 (R19).
IDLE = {"ci": 0, "release": 0, "nightly": 150}
# A client may send a few requests in one write; their answers come in order.
BURSTS = (1, 1, 1, 1, 2, 3)


@dataclass
class Asked:
    """One request, what is wrong with an answer to it ("" = nothing), and whether its wait counts as a warm find."""

    request: msgspec.Struct
    wrong: Callable[[dict], str]
    warm: bool = False


@dataclass
class Client:
    """One connection, what it waits for in order, and since when it waits for the next answer."""

    link: Link
    asked: deque[Asked] = field(default_factory=deque)
    since: float = 0.0


def crowd(size: Size, seed: int, bin: str) -> Row:
    """All clients ask all the time; every answer must be to its own question."""
    row = Row("R15", f"{size.clients} clients at one time, {size.queries} queries", seed)
    with Lab(seed, bin) as lab:
        for number in range(TREE_FILES):
            lab.tree.write(path_of(number), f"# One of the crowd.\ndef {name_of(number)}(a):\n    return a\n")
        lab.places(Row("", "", 0), name_of(0))
        pid = lab.home.pid
        idle = [Link(lab.home.path) for _ in range(IDLE[size.name])]
        clients = [Client(Link(lab.home.path)) for _ in range(size.clients)]
        try:
            converse(lab, row, clients, size.queries)
        finally:
            for link in (*idle, *(client.link for client in clients)):
                link.close()
        row.count("" if lab.home.daemons == [pid] else f"pid {pid} became {lab.home.daemons}")
        row.count("" if row.percentile(0.99) <= P99_S else f"p99 {row.percentile(0.99) * 1e3:.0f} ms of a warm find")
    return row


def converse(lab: Lab, row: Row, clients: list[Client], queries: int) -> None:
    """Let each client ask, check its answers and ask again, until `queries` are answered; one thread for all."""
    left = queries
    with selectors.DefaultSelector() as selector:
        for client in clients:
            selector.register(client.link.socket, selectors.EVENT_READ, client)
            left -= ask(lab, client, left)
        while any(client.asked for client in clients):
            ready = selector.select(SILENCE_S)
            if not ready:
                row.count(f"no answer for {SILENCE_S:g} s, {sum(len(c.asked) for c in clients)} outstanding")
                return
            for key, _ in ready:
                if not take(row, key.data):
                    selector.unregister(key.fileobj)
                elif not key.data.asked and left > 0:
                    left -= ask(lab, key.data, left)


def ask(lab: Lab, client: Client, left: int) -> int:
    """Send a request or a few in one write; return how many."""
    count = min(left, lab.random.choice(BURSTS))
    client.asked.extend(question(lab.random, os.fsencode(lab.tree.root), lab.link.welcome.pid) for _ in range(count))
    client.since = time.perf_counter()
    client.link.send(*(asked.request for asked in client.asked))
    return count


def take(row: Row, client: Client) -> bool:
    """Read what has come and check it; False when the daemon hung up."""
    data = client.link.socket.recv(RECEIVE_BYTES)
    if not data:
        for _ in client.asked:
            row.count("the daemon hung up")
        client.asked.clear()
        return False
    now = time.perf_counter()
    for payload in client.link.decoder.feed(data):
        reply = framing.decode_reply(payload)
        if isinstance(reply, Progress):
            continue
        asked = client.asked.popleft()
        if asked.warm:
            row.waits_s.append(now - client.since)
        client.since = now
        row.count(asked.wrong(json.loads(reply.out)) if isinstance(reply, Answer) else f"{asked.request}: {reply}")
    return True


def question(random: Random, root: bytes, pid: int) -> Asked:
    """Return a random request; the name in it and a number that never comes again are to be in its answer."""
    number, nonce = random.randrange(TREE_FILES), f"nonce{random.randrange(10**9):09d}"
    name, path, dice = name_of(number), path_of(number), random.random()
    if dice < 0.5:
        text = f"{name} {nonce}"
        return Asked(Find(directory=root, text=text, output="json"), lambda got: other(got, text, path), warm=True)
    if dice < 0.7:
        return Asked(Symbols(directory=root, pattern=name, output="json"), lambda got: other(got, name, path))
    if dice < 0.85:
        text = f"what does {name} do {nonce}"
        return Asked(Query(directory=root, text=text, output="json"), lambda got: other(got, text, path))
    if dice < 0.9:
        return Asked(Outline(directory=root, file=path.encode(), output="json"), lambda got: other(got, None, path))
    if dice < 0.94:
        chunk = Chunk(directory=root, file=path.encode(), line=3, output="json")
        return Asked(chunk, lambda got: other(got, None, path))
    if dice < 0.98:
        return Asked(Files(directory=root, paths=(path,), output="json"), lambda got: other(got, None, path))
    return Asked(DaemonStatus(output="json"), lambda got: "" if got.get("pid") == pid else f"no {pid}: {got}"[:99])


def other(got: dict, text: str | None, path: str) -> str:
    """Say what shows that an answer is not to the question `text` about `path`."""
    if text is not None and got.get("query") != text:
        return f"crossed: asked {text!r}, answered {got.get('query')!r}"
    files = [result["file"] for result in got.get("results", ())]
    if files[:1] != [path]:
        return f"asked for {path}, answered {files[:3]} {str(got.get('error', ''))[:100]}"
    return "" if got.get("fresh", True) else f"not fresh: {got.get('reason')}"


def name_of(number: int) -> str:
    return f"crowd_{number:04d}"


def path_of(number: int) -> str:
    return f"c{number % 10}/{name_of(number)}.py"
