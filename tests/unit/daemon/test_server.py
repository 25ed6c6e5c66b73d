"""The wire's side of the daemon, with a handler of the test's own behind it."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path

import msgspec
import pytest

from ctxd import server as server_module
from ctxd.server import Report, Server, verdict
from ctxprotocol.endpoint import PROTOCOL_VERSION, VERSION, build
from ctxprotocol.errors import CtxError, RootGone
from ctxprotocol.framing import MAX_REPLY_BYTES, FrameDecoder, decode_reply, pack
from ctxprotocol.messages import (
    Answer,
    AnyReply,
    AnyRequest,
    Failure,
    Find,
    Hello,
    Part,
    Progress,
    Stop,
    Watch,
    Welcome,
)

HELLO = Hello(protocol=PROTOCOL_VERSION, version=VERSION, build=build())


class Peer:
    """A client that writes frames and reads replies."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self._decoder = FrameDecoder(MAX_REPLY_BYTES)
        self._ready: list[bytes] = []

    def send(self, *messages: msgspec.Struct) -> None:
        self.writer.write(b"".join(map(pack, messages)))

    async def next(self) -> AnyReply | None:
        while not self._ready:
            data = await asyncio.wait_for(self.reader.read(65536), 5)
            if not data:
                return None
            self._ready = self._decoder.feed(data)
        return decode_reply(self._ready.pop(0))


async def echo(request: AnyRequest, report: Report) -> Answer:
    assert isinstance(request, Find)
    match request.text:
        case "progress":
            report(Progress(phase="indexing", done=1, total=2))
        case "gone":
            raise RootGone("no such root", "look elsewhere")
        case "bug":
            raise KeyError("bug")
        case "brief":
            await asyncio.sleep(0.2)
        case "slow":
            await asyncio.sleep(3600)
    return Answer(out=request.text + "\n")


FLOOD: list[int] = []


async def follow(request: Watch) -> AsyncGenerator[str, None]:
    if request.directory == b"/gone":
        raise RootGone("no such root", "look elsewhere")
    for number in range(3):
        yield f"{number}\n"
    while request.directory == b"/flood":
        FLOOD.append(len(FLOOD))
        yield "x" * 1000
    if request.directory == b"/long":
        await asyncio.sleep(3600)


def find(text: str, **more: int) -> Find:
    return Find(directory=b"/", text=text, **more)


def serve(tmp_path: Path, scenario: Callable[[Server, Callable[[], Awaitable[Peer]]], Awaitable[object]]) -> object:
    """Run `scenario` against a listening server; it gets a way to connect."""

    server_path = tmp_path / "s"

    async def main() -> object:
        path = str(server_path)
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(path)
        listener.listen()
        server = Server(echo, follow, stopped, "the.log")
        await server.listen(listener)
        peers: list[Peer] = []

        async def connect() -> Peer:
            peers.append(Peer(*await asyncio.open_unix_connection(path)))
            return peers[-1]

        try:
            return await scenario(server, connect)
        finally:
            for peer in peers:
                peer.writer.close()
            await server.close(0.1)
            await asyncio.sleep(0)

    async def stopped() -> None:
        server_path.unlink()

    return asyncio.run(main())


def test_hello_and_request_in_one_write_are_answered_in_order(tmp_path: Path) -> None:
    """Welcome first, then progress, then the answer; and the connection serves the next request."""

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        peer = await connect()
        peer.send(HELLO, find("progress"), find("second"))
        return [await peer.next() for _ in range(4)]

    welcome, progress, first, second = serve(tmp_path, scenario)  # type: ignore[misc]
    assert isinstance(welcome, Welcome) and welcome.pid == os.getpid()
    assert progress == Progress(phase="indexing", done=1, total=2)
    assert (first, second) == (Answer(out="progress\n"), Answer(out="second\n"))


def test_errors_arrive_as_failures_and_a_bug_costs_one_request(tmp_path: Path) -> None:
    """A known error keeps its name; an unexpected one says where the log is; the connection goes on."""

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        peer = await connect()
        peer.send(HELLO, find("gone"), find("bug"), find("fine"))
        return [await peer.next() for _ in range(4)][1:]

    gone, bug, fine = serve(tmp_path, scenario)  # type: ignore[misc]
    assert gone == Failure(error="root_gone", message="no such root", hint="look elsewhere")
    assert isinstance(bug, Failure) and bug.error == "internal" and "the.log" in bug.hint
    assert fine == Answer(out="fine\n")


def test_a_request_that_takes_too_long_is_told(tmp_path: Path) -> None:
    """The request's own time limit ends it with a typed error."""

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        peer = await connect()
        peer.send(HELLO, find("slow", timeout_ms=50))
        await peer.next()
        return await peer.next()

    late = serve(tmp_path, scenario)
    assert isinstance(late, Failure) and (late.error, late.message) == ("timeout", "no answer within 0.05 s")


@pytest.mark.parametrize(
    "rubbish", [b"\xff\xff\xff\xff", b"\0\0\0\x05hello", b"\0\0\0\0", pack(Answer(out="x")), pack(find("no hello"))]
)
def test_rubbish_ends_its_own_connection_and_no_other(tmp_path: Path, rubbish: bytes) -> None:
    """B049: bad length, bad msgpack, an empty frame, a reply for a request, a request before hello."""

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        bad, good = await connect(), await connect()
        bad.writer.write(rubbish)
        refused = await bad.next()
        good.send(HELLO, find("fine"))
        return refused, await bad.next(), await good.next(), await good.next()

    refused, ended, _, fine = serve(tmp_path, scenario)  # type: ignore[misc]
    assert isinstance(refused, Failure) and refused.error == "frame_refused"
    assert (ended, fine) == (None, Answer(out="fine\n"))


def test_hanging_up_cancels_the_request(tmp_path: Path) -> None:
    """An agent that is killed leaves no work behind."""

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        peer = await connect()
        peer.send(HELLO, find("slow"))
        await peer.next()
        task = next(iter(server.connections)).task
        peer.writer.close()
        assert task is not None
        await asyncio.wait({task}, timeout=5)
        return task.cancelled(), len(server.connections)

    assert serve(tmp_path, scenario) == (True, 0)


def test_one_who_watches_gets_parts_and_a_last_reply(tmp_path: Path) -> None:
    """Each part as it comes, then how it ended; the connection serves the next request, and no latency is counted."""

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        peer = await connect()
        peer.send(HELLO, Watch(directory=b"/"), Watch(directory=b"/gone"), find("fine"))
        return [await peer.next() for _ in range(7)][1:], len(server.latencies_ms)

    replies, counted = serve(tmp_path, scenario)  # type: ignore[misc]
    assert replies[:4] == [Part(out="0\n"), Part(out="1\n"), Part(out="2\n"), Answer()]
    assert isinstance(replies[4], Failure) and replies[4].error == "root_gone"
    assert (replies[5], counted) == (Answer(out="fine\n"), 1)


def test_hanging_up_ends_watching(tmp_path: Path) -> None:
    """The one who watched was killed: its request is cancelled at once, whatever its time limit says."""

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        peer = await connect()
        peer.send(HELLO, Watch(directory=b"/long", timeout_ms=1))
        for _ in range(4):
            await peer.next()
        task = next(iter(server.connections)).task
        peer.writer.close()
        assert task is not None
        await asyncio.wait({task}, timeout=5)
        return task.cancelled(), len(server.connections)

    assert serve(tmp_path, scenario) == (True, 0)


def test_one_who_watches_and_does_not_read_holds_little_memory(tmp_path: Path) -> None:
    """What the kernel's buffers and ours take, and then nothing more is made for it; others are served."""
    FLOOD.clear()

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        slow, quick = await connect(), await connect()
        slow.send(HELLO, Watch(directory=b"/flood"))
        before = -1
        while len(FLOOD) > before:
            before = len(FLOOD)
            await asyncio.sleep(0.05)
        counts = server.running(), server.asking()
        quick.send(HELLO, find("fine"))
        return [await quick.next(), await quick.next()][1], *counts

    answer, running, asking = serve(tmp_path, scenario)  # type: ignore[misc]
    assert (answer, running, asking) == (Answer(out="fine\n"), 1, 0)
    assert 0 < len(FLOOD) < 5_000, "about a megabyte is in the sockets"


def test_one_connection_too_many_is_refused_and_the_others_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The limit has a typed error, and a freed place is used again."""
    monkeypatch.setattr(server_module, "MAX_CONNECTIONS", 1)

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        first = await connect()
        first.send(HELLO, find("one"))
        answers = [await first.next(), await first.next()]
        second = await connect()
        return answers[1], await second.next()

    answer, busy = serve(tmp_path, scenario)  # type: ignore[misc]
    assert answer == Answer(out="one\n")
    assert isinstance(busy, Failure) and busy.error == "busy" and busy.code == 3


def test_a_silent_client_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """B049: no hello, or half a frame, within the time: the descriptor is freed."""
    monkeypatch.setattr(server_module, "STALL_S", 0.05)

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        silent, half, idle = await connect(), await connect(), await connect()
        half.send(HELLO)
        half.writer.write(b"\0\0\0\x09half")
        idle.send(HELLO)
        ended = [await silent.next()]
        ended += [await half.next(), await half.next()]
        await idle.next()
        await asyncio.sleep(0.1)
        idle.send(find("still here"))
        return ended[0], isinstance(ended[1], Welcome), ended[2], await idle.next()

    assert serve(tmp_path, scenario) == (None, True, None, Answer(out="still here\n"))


def test_a_client_that_does_not_read_its_reply_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the reply's size: what the kernel does not take must be read in time. One that reads is served."""
    monkeypatch.setattr(server_module, "STALL_S", 0.1)
    large = find("x" * 900_000)

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        deaf, good = await connect(), await connect()
        deaf.send(HELLO, large)
        good.send(HELLO, large)
        await good.next()
        answered = await good.next()
        while len(server.connections) > 1:
            await asyncio.sleep(0.01)
        return answered

    assert serve(tmp_path, scenario) == Answer(out=f"{large.text}\n")


def test_a_refusal_that_is_not_read_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rubbish behind a request whose reply nobody reads: the connection ends all the same."""
    monkeypatch.setattr(server_module, "STALL_S", 0.1)

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        deaf = await connect()
        deaf.send(HELLO, find("x" * 900_000))
        while not server.connections or next(iter(server.connections))._writable.is_set():
            await asyncio.sleep(0.01)
        deaf.writer.write(b"\xff" * 8)
        while server.connections:
            await asyncio.sleep(0.01)
        return len(server.connections)

    assert serve(tmp_path, scenario) == 0


def test_many_clients_at_one_instant_find_room_to_wait(tmp_path: Path) -> None:
    """While the loop is busy elsewhere, three hundred can connect; asyncio's own measure is a hundred."""

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        clients = [socket.socket(socket.AF_UNIX) for _ in range(300)]
        try:
            for client in clients:
                client.setblocking(False)
            return [client.connect_ex(str(tmp_path / "s")) for client in clients]
        finally:
            for client in clients:
                client.close()

    assert serve(tmp_path, scenario) == [0] * 300


def test_stop_is_answered_when_the_socket_is_already_free(tmp_path: Path) -> None:
    """Whoever reads the goodbye may bind at once; any version may say it."""

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        peer = await connect()
        peer.send(Hello(protocol=99, version="99.0"), Stop())
        return [await peer.next(), await peer.next()][1], Path(tmp_path / "s") in list(tmp_path.iterdir())

    assert serve(tmp_path, scenario) == (Answer(), False)


@pytest.mark.parametrize(("version", "error"), [("99.0", "replace_daemon"), ("0.0.1", "version_refused")])
def test_another_version_is_told_before_its_request_is_decoded(tmp_path: Path, version: str, error: str) -> None:
    """A newer client may ask for what this daemon has no name for."""
    unknown = b"\x81\xa4type\xa8tomorrow"

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        peer = await connect()
        peer.send(Hello(protocol=PROTOCOL_VERSION, version=version))
        peer.writer.write(len(unknown).to_bytes(4, "big") + unknown)
        return [await peer.next() for _ in range(3)][1:]

    refused, ended = serve(tmp_path, scenario)  # type: ignore[misc]
    assert isinstance(refused, Failure) and refused.error == error and ended is None


@pytest.mark.parametrize(
    ("text", "index_wait_ms", "answered"), [("brief", 0, True), ("brief", -1, False), ("slow", 0, False)]
)
def test_the_end_lets_requests_finish_and_tells_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, index_wait_ms: int, answered: bool
) -> None:
    """A question has the whole grace, one that waits for an index however long has less; who is cut is told."""
    monkeypatch.setattr(server_module, "ENDLESS_GRACE_S", 0.05)

    async def scenario(server: Server, connect: Callable[[], Awaitable[Peer]]) -> object:
        peer = await connect()
        peer.send(HELLO, find(text, index_wait_ms=index_wait_ms))
        await peer.next()
        await server.close(0.5)
        return await peer.next()

    reply = serve(tmp_path, scenario)
    if answered:
        assert reply == Answer(out="brief\n")
    else:
        assert isinstance(reply, Failure) and reply.code == 3 and "stopped" in reply.message


OWN = Welcome(protocol=3, version="1.2.3", build=50)


@pytest.mark.parametrize(
    ("hello", "expected"),
    [
        (Hello(protocol=3, version="1.2.3", build=50), None),
        (Hello(protocol=3, version="1.2.3", build=40), None),
        (Hello(protocol=3, version="1.2.3", build=60), "replace_daemon"),
        (Hello(protocol=4, version="1.10.0", build=1), "replace_daemon"),
        (Hello(protocol=3, version="1.2.4rc1", build=1), "replace_daemon"),
        (Hello(protocol=3, version="1.2.2", build=99), "version_refused"),
        (Hello(protocol=2, version="1.2.3", build=50), "version_refused"),
        (Hello(protocol=3, version="", build=0), "version_refused"),
    ],
)
def test_who_gives_way(hello: Hello, expected: str | None) -> None:
    """The order is total, so two installations never replace each other's daemon in turns."""
    error = verdict(hello, OWN)
    assert (error.error if isinstance(error, CtxError) else None) == expected
