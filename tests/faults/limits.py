"""R19: each limit of the wire from both sides: what just fits is served, what does not is one typed error."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import threading
from collections.abc import Iterator

import msgspec

from ctxd.server import MAX_CONNECTIONS, MAX_WAITING
from ctxprotocol import endpoint, framing
from ctxprotocol.messages import Answer, AnyReply, DaemonStatus, Failure, Find, Progress, Symbols, Welcome
from tests.faults.copies import ROOT
from tests.faults.lab import Lab, Row, Size
from tests.home import Home
from tests.link import Link
from tests.processes import wait_until

WIRE = ROOT / "protocol/WIRE.md"
# Each row of a listing names its file twice: two thousand definitions in a file of this path fill a reply.
LONG_PATH = "/".join(letter * 245 for letter in "abcdefghijklmno") + "/long.py"
LONG_NAMES = 3_000
END_WITHIN_S = 5.0


def limits(_size: Size, seed: int, bin: str) -> Row:
    """Try each limit at its value and one beyond it, against the daemon and against the client."""
    row = Row("R19", "limits: both sides of each", seed)
    with Lab(seed, bin) as lab:
        lab.tree.write("a.py", "def limited(a):\n    return a\n")
        lab.places(Row("", "", 0), "limited")
        pid = lab.home.pid
        for trial in (documented, request_bytes, nesting, values, waiting, connections, reply_bytes, client_sends):
            row.count(trial(lab))
        row.count("" if lab.home.daemons == [pid] else f"pid {pid} became {lab.home.daemons}")
    with contextlib.closing(Home(bin=bin)) as home:
        row.count(client_receives(home))
    return row


def documented(_lab: Lab) -> str:
    """WIRE.md names each limit with its value."""
    text = WIRE.read_text()
    said = dict(re.findall(r"^\| ([a-z ]+) \| ([0-9,]+(?: [KM]iB)?) \|", text, re.M))
    values = {
        "request": f"{framing.MAX_REQUEST_BYTES >> 20} MiB",
        "reply": f"{framing.MAX_REPLY_BYTES >> 20} MiB",
        "nesting": f"{framing.MAX_NESTING}",
        "values in one frame": f"{framing.MAX_VALUES:,}",
        "frames waiting on one connection": f"{MAX_WAITING}",
        "connections": f"{MAX_CONNECTIONS}",
    }
    return "" if said == values else f"WIRE.md says {said}, the code {values}"


def request_bytes(lab: Lab) -> str:
    """A request of exactly 1 MiB is read (and its text found too long); one byte more is refused."""
    request = Find(directory=os.fsencode(lab.tree.root), text="")
    room = framing.MAX_REQUEST_BYTES - len(msgspec.msgpack.encode(request)) - 4
    whole = msgspec.msgpack.encode(msgspec.structs.replace(request, text="x" * room))
    more = msgspec.msgpack.encode(msgspec.structs.replace(request, text="x" * (room + 1)))
    assert len(whole) == framing.MAX_REQUEST_BYTES, len(whole)
    return sides(lab, whole, more, served="too_long", refused="frame_refused")


def nesting(lab: Lab) -> str:
    """A message may be nested 64 deep, in a field that nobody knows; 65 is refused."""
    return sides(lab, nested(framing.MAX_NESTING), nested(framing.MAX_NESTING + 1), refused="frame_refused")


def nested(depth: int) -> bytes:
    """Return a daemon_status whose unknown field makes it `depth` deep."""
    return b"\x82\xa4type\xaddaemon_status\xa4more" + b"\x91" * (depth - 1) + b"\xc0"


def values(lab: Lab) -> str:
    """100,000 values in one frame; one more is refused."""

    def holding(count: int) -> bytes:
        listed = count - 5  # the map, two keys, one text, the list itself
        return b"\x82\xa4type\xaddaemon_status\xa4more\xdd" + listed.to_bytes(4, "big") + b"\xc0" * listed

    return sides(lab, holding(framing.MAX_VALUES), holding(framing.MAX_VALUES + 1), refused="frame_refused")


def waiting(lab: Lab) -> str:
    """16 requests in one write are answered one after the other; one more is refused."""
    one = framed(msgspec.msgpack.encode(DaemonStatus()))
    with greeted(lab) as link:
        link.socket.sendall(one * MAX_WAITING)
        if wrong := [reply for reply in (link.receive() for _ in range(MAX_WAITING)) if not isinstance(reply, Answer)]:
            return f"{MAX_WAITING} at once: {wrong[0]}"
    with greeted(lab) as link:
        link.socket.sendall(one * (MAX_WAITING + 1))
        return refusal(everything(link), "frame_refused")


def greeted(lab: Lab) -> Link:
    """Return a connection that has been welcomed."""
    return Link(lab.home.path)


def framed(payload: bytes) -> bytes:
    return len(payload).to_bytes(4, "big") + payload


def sides(lab: Lab, fits: bytes, does_not: bytes, *, refused: str, served: str = "") -> str:
    """Send a payload that fits and one that does not; `served` is the error of the first, if it is one."""
    with greeted(lab) as link:
        link.socket.sendall(framed(fits))
        reply = link.receive()
        error = reply.error if isinstance(reply, Failure) else ""
        if error != served:
            return f"at the limit: {reply}"
    with greeted(lab) as link:
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            link.socket.sendall(framed(does_not))
        return refusal(everything(link), refused)


def refusal(replies: list[AnyReply], error: str) -> str:
    """Say what is wrong with the replies unless they are one failure of that name, and the end."""
    if len(replies) == 1 and isinstance(replies[0], Failure) and replies[0].error == error and replies[0].message:
        return ""
    return f"beyond the limit: {str(replies)[:200]}"


def everything(link: Link) -> list[AnyReply]:
    """Return all replies until the daemon hangs up, or END_WITHIN_S of silence."""
    replies: list[AnyReply] = []
    link.socket.settimeout(END_WITHIN_S)
    with contextlib.suppress(EOFError, ConnectionResetError, TimeoutError):
        while True:
            replies.append(link.receive())
    return replies


def connections(lab: Lab) -> str:
    """256 connections are all served; the next one is told, and has a place when one has gone."""
    lab.hang_up()
    with contextlib.ExitStack() as stack:
        links = [stack.enter_context(Link(lab.home.path)) for _ in range(MAX_CONNECTIONS)]
        for link in links:
            link.ask(DaemonStatus())
        with Link(lab.home.path, greet=False) as link:
            if wrong := refusal(everything(link), "busy"):
                return wrong
        told = lab.home.run("find", "limited", cwd=lab.tree.root)
        if told.returncode != 3 or f"{MAX_CONNECTIONS} clients" not in told.stderr:
            return f"the client beyond the limit: exit {told.returncode} {told.stderr[:200]}"
        links[0].close()
        wait_until(lambda: served(lab), 5, "a place is free again")
    return ""


def served(lab: Lab) -> bool:
    return lab.home.run("find", "limited", cwd=lab.tree.root).returncode == 0


def reply_bytes(lab: Lab) -> str:
    """The longest listing that fits into 16 MiB arrives whole; with one row more it is refused, with a hint."""
    lab.tree.write(LONG_PATH, "".join(f"def long_{number:04d}(): pass\n" for number in range(LONG_NAMES)))
    listing = Symbols(directory=os.fsencode(lab.tree.root), pattern="long_*", output="json", index_wait_ms=-1)
    with Link(lab.home.path, 120) as link:

        def reply(rows: int) -> tuple[AnyReply, int]:
            link.send(msgspec.structs.replace(listing, limit=rows))
            while isinstance(got := link.receive(), Progress):
                pass
            return got, len(msgspec.msgpack.encode(got))

        few, more = reply(100)[1], reply(200)[1]
        rows = 100 + (framing.MAX_REPLY_BYTES - few) * 100 // (more - few) - 2
        largest, (got, length) = 0, reply(rows)
        while isinstance(got, Answer) and rows < LONG_NAMES:
            largest, rows = length, rows + 1
            got, length = reply(rows)
        if not framing.MAX_REPLY_BYTES - (more - few) // 50 < largest <= framing.MAX_REPLY_BYTES:
            return f"the largest reply has {largest} bytes"
        if not isinstance(got, Failure) or got.error != "frame_refused" or "--limit" not in got.hint:
            return f"beyond the limit: {str(got)[:200]}"
        # The connection goes on: only this answer was too long.
        return "" if isinstance(link.ask(DaemonStatus()), Answer) else "the connection ended"


def client_sends(lab: Lab) -> str:
    """The client itself refuses to send more than 1 MiB: exit 2, one line."""
    told = lab.home.run("find", "-", cwd=lab.tree.root, input="x" * (framing.MAX_REQUEST_BYTES + 1))
    return "" if told.returncode == 2 and "limit" in told.stderr else f"exit {told.returncode}: {told.stderr[:200]}"


def client_receives(home: Home) -> str:
    """A daemon that sends more than 16 MiB is not believed: exit 3, one line, no traceback."""
    header = (framing.MAX_REPLY_BYTES + 1).to_bytes(4, "big")
    with daemon_that_says(home, header):
        told = home.run("find", "x", "--timeout", "1", cwd="/tmp", env={"CTX_NO_START": "1"})
    fine = told.returncode == 3 and "over the limit" in told.stderr and "Traceback" not in told.stderr
    return "" if fine else f"exit {told.returncode}: {told.stderr[:300]}"


@contextlib.contextmanager
def daemon_that_says(home: Home, reply: bytes) -> Iterator[None]:
    """Listen where the daemon of `home` would, greet as one of this version, and say `reply` to each request."""
    endpoint.make_private(home.path)
    own = Welcome(protocol=endpoint.PROTOCOL_VERSION, version=endpoint.VERSION, build=endpoint.build(), pid=os.getpid())

    def serve(listener: socket.socket) -> None:
        while True:
            with contextlib.suppress(ConnectionError):
                connected, _ = listener.accept()
                with connected:
                    if not connected.recv(1 << 16):
                        return
                    connected.sendall(framing.pack(own) + reply)
                    connected.recv(1)

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(endpoint.socket_path(home.path))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,), name="stub daemon")
        thread.start()
        try:
            yield
        finally:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as last:
                last.connect(endpoint.socket_path(home.path))
            thread.join(10)
