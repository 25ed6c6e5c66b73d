"""R16: what no client of ours would send. The daemon stays, grows by nothing, and ends or answers each connection."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random

from ctxprotocol import framing
from ctxprotocol.errors import FrameRefused
from ctxprotocol.messages import (
    AnyRequest,
    Chunk,
    DaemonStatus,
    Files,
    Find,
    Hello,
    InWorktree,
    Outline,
    Query,
    Symbols,
)
from tests.faults.lab import Lab, Row, Size
from tests.faults.meters import Meter, open_readers
from tests.link import RECEIVE_BYTES, Link

ENDED_WITHIN_S = 5.0
GROWTH_BYTES = 50 << 20
# After so many faults nothing is learned any more, and each costs ENDED_WITHIN_S.
ENOUGH = 5
REFUSED = Path(__file__).resolve().parent.parent.parent / "protocol/vectors/refused.json"
HARMLESS = (Chunk, DaemonStatus, Files, Find, Outline, Query, Symbols)


def malformed(size: Size, seed: int, bin: str) -> Row:
    """Send the fixed list, then mutations of good conversations; after each an answer or the end."""
    row = Row("R16", f"malformed frames: 79 fixed, {size.mutants} mutated", seed)
    with Lab(seed, bin) as lab:
        lab.tree.write("a.py", "def framed(a):\n    return a\n")
        lab.places(Row("", "", 0), "framed")
        open_readers(lab)
        meter = Meter(lab.home)
        good = [bytes(framing.pack(each)) for each in requests(os.fsencode(lab.tree.root))]
        hello = framing.pack(hello_of(lab))
        for stream in (*fixed(hello, good[0]), *mutants(lab, hello, good, size.mutants)):
            row.count(unended(lab, row, stream))
            if len(row.wrong) >= ENOUGH:
                break
        found = lab.places(row, "framed")
        row.count("" if found == ["a.py"] else f"the next answer: {found}")
        row.count(meter.grown(lab.home, GROWTH_BYTES))
    return row


def hello_of(lab: Lab) -> Hello:
    welcome = lab.link.welcome
    return Hello(protocol=welcome.protocol, version=welcome.version, build=welcome.build)


def requests(root: bytes) -> list[AnyRequest]:
    """Return one good request of each kind that changes nothing."""
    return [
        Find(directory=root, text="framed", languages=("python",), paths=("*.py",), limit=3),
        Query(directory=root, text="what is framed", budget=300),
        Symbols(directory=root, pattern="fram*", output="json"),
        Outline(directory=root, file=b"a.py"),
        Chunk(directory=root, file=b"a.py", line=1, around=1),
        Files(directory=root, excludes=("b*",)),
        DaemonStatus(),
    ]


def fixed(hello: bytes, good: bytes) -> list[bytes]:
    """Return the 79 streams: bad lengths, bad payloads before and after a hello, wrong order, wrong kinds."""
    payloads = [bytes.fromhex(each["payload"]) for each in json.loads(REFUSED.read_text()).values()]
    payloads += [
        *(bytes([lead]) for lead in (0x00, 0x7F, 0x80, 0x81, 0x90, 0x91, 0xA0, 0xA1, 0xC0, 0xC1, 0xC4, 0xC6, 0xC9)),
        *(bytes([lead]) + b"\xff" * 4 for lead in (0xC6, 0xDB, 0xDD, 0xDF)),
        *(bytes([lead]) * 5_000 for lead in (0x81, 0x91, 0xC1, 0xFF)),
        b"garbage!",
    ]
    streams = [framed(payload) for payload in payloads]
    streams += [hello + framed(payload) for payload in payloads]
    streams += [length.to_bytes(4, "big") for length in (1, framing.MAX_REQUEST_BYTES + 1, 1 << 31, (1 << 32) - 1)]
    streams += [b"", b"\0\0\0", hello[:-1], good, good + hello, hello + hello, hello + good[:-1]]
    streams += [hello + good * 17]
    streams += [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"]
    assert len(streams) == 79, len(streams)
    return streams


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def mutants(lab: Lab, hello: bytes, good: list[bytes], count: int) -> Iterator[bytes]:
    """Yield `count` mutations of good conversations, none of which asks for another place or for a change."""
    while count:
        if lab.random.random() < 0.6:
            # Framed anew: what is wrong lies inside, and the daemon has to look.
            stream = hello + framed(mutate(lab.random, lab.random.choice(good)[framing.HEADER_BYTES :]))
        else:
            stream = mutate(lab.random, hello + b"".join(lab.random.choices(good, k=lab.random.choice((1, 1, 2)))))
        if harmless(stream, os.fsencode(lab.tree.root)):
            count -= 1
            yield stream


def mutate(random: Random, stream: bytes) -> bytes:
    """Change a stream in one to three places: flip, set, cut, insert, double, swap, or lie about a length."""
    data = bytearray(stream)
    for _ in range(random.choice((1, 1, 2, 3))):
        at = random.randrange(len(data)) if data else 0
        to = min(len(data), at + random.choice((1, 1, 2, 4, 16, 64)))
        match random.randrange(8):
            case 0 if data:
                data[at] ^= 1 << random.randrange(8)
            case 1 if data:
                data[at] = random.choice((0, 0x7F, 0x80, 0x91, 0xC1, 0xC6, 0xDB, 0xDD, 0xDF, 0xFF))
            case 2:
                del data[at:to]
            case 3:
                data[at:at] = random.randbytes(random.choice((1, 2, 4, 300)))
            case 4:
                data[at:at] = data[at:to]
            case 5:
                data[at:to] = data[at:to][::-1]
            case 6:
                del data[at:]
            case 7 if len(data) > 4:
                data[:4] = random.choice((0, 1, len(data) - 4, 1 << 20, 1 << 24)).to_bytes(4, "big")
    return bytes(data)


def harmless(stream: bytes, root: bytes) -> bool:
    """Say whether a stream asks at most for what changes nothing, and for no directory but the tree's."""
    with contextlib.suppress(FrameRefused):
        for payload in framing.FrameDecoder(framing.MAX_REQUEST_BYTES).feed(stream)[1:]:
            with contextlib.suppress(FrameRefused):
                request = framing.decode_request(payload)
                if not isinstance(request, HARMLESS):
                    return False
                if isinstance(request, InWorktree) and (request.directory != root or request.root):
                    return False
    return True


def unended(lab: Lab, row: Row, stream: bytes) -> str:
    """Send one stream on a connection of its own; say so when it is neither answered nor ended in time."""
    began = time.perf_counter()
    got, due = 0, replies_due(stream)
    with Link(lab.home.path, ENDED_WITHIN_S, greet=False) as link:
        try:
            link.socket.sendall(stream)
            if due == 0:
                link.socket.shutdown(socket.SHUT_WR)
            while data := link.socket.recv(RECEIVE_BYTES):
                got += len(link.decoder.feed(data))
                if due and got >= due:
                    break
        except TimeoutError:
            return f"neither answered nor ended: {stream[:200].hex()} ({len(stream)} bytes)"
        except (BrokenPipeError, ConnectionResetError):
            pass
    row.waits_s.append(time.perf_counter() - began)
    return ""


def replies_due(stream: bytes) -> int | None:
    """Return how many replies end the conversation, None where only its end does.

    0: a frame is unfinished or nothing is asked, so that waiting is right until the client hangs up.
    """
    decoder = framing.FrameDecoder(framing.MAX_REQUEST_BYTES)
    try:
        frames = len(decoder.feed(stream))
    except FrameRefused:
        return None
    return 0 if decoder.pending or frames < 2 else frames
