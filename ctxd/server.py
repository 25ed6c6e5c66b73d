"""The wire's side of the daemon: accept, check the peer, frame -> Request -> handler -> Reply -> frame.

Owned by main; runs on the loop. Handlers come in as an argument. A connection carries one request at a time; hanging
up cancels it. A peer that stalls is cut, so that it costs one descriptor for half a minute and nothing more.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import secrets
import socket
import sys
import time
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any

from ctxd.namedpipe import PipeListener
from ctxprotocol.endpoint import PROTOCOL_VERSION, VERSION, UnsafePlace, build, check_peer, version_key
from ctxprotocol.errors import (
    Busy,
    CtxError,
    DaemonUnreachable,
    DeadlinePassed,
    FrameRefused,
    Internal,
    ReplaceDaemon,
    VersionRefused,
    to_failure,
)
from ctxprotocol.framing import MAX_REQUEST_BYTES, FrameDecoder, decode_hello, decode_request, is_stop, pack
from ctxprotocol.messages import (
    Answer,
    AnyReply,
    AnyRequest,
    Hello,
    Init,
    InWorktree,
    Part,
    Progress,
    Request,
    Stop,
    Update,
    Watch,
    Welcome,
)

log = logging.getLogger("ctxd.server")

# Clients that arrive at one instant wait here; asyncio would listen again with 100, and refuse the others.
BACKLOG = 512
# More than any machine's agents; each costs a descriptor and a few kilobytes.
MAX_CONNECTIONS = 256
# A frame that has begun must end within this; so must the first frame after connecting, and a reply must have gone out.
# One reply waits for its reader, never two: what a connection holds of memory is bounded by the largest reply.
STALL_S = 30.0
# Frames of one connection that may wait for the one in work.
MAX_WAITING = 16
# Requests without a time limit of their own (they wait for an index) may take this long once the end has begun.
ENDLESS_GRACE_S = 2.0
# The same for one who watches: what does not go out waits in the feed, which is bounded, too.
WATCH_BACKLOG_BYTES = 64 << 10
# From 3.13 on asyncio unlinks the path of any socket that it closes: of one that systemd listens on, too.
_KEEPING = {"cleanup_socket": False} if sys.version_info >= (3, 13) else {}
# Requests remembered for the latency figures of `ctx daemon status`.
LATENCIES = 2_000

Report = Callable[[Progress], None]
Handle = Callable[[AnyRequest, Report], Awaitable[Answer]]
Follow = Callable[[Watch], AsyncGenerator[str, None]]


class Server:
    """All connections of the daemon.

    `handle` answers a request, `follow` yields what one who watches is told; `on_stop` is called when a client asks
    for the end.
    """

    def __init__(self, handle: Handle, follow: Follow, on_stop: Callable[[], Awaitable[None]], log_path: str) -> None:
        self.handle = handle
        self.follow = follow
        self.on_stop = on_stop
        self.log_path = log_path
        self.own = Welcome(protocol=PROTOCOL_VERSION, version=VERSION, build=build(), pid=os.getpid())
        self.connections: set[Connection] = set()
        self.latencies_ms: deque[float] = deque(maxlen=LATENCIES)
        self.last_error = ""
        self.answered = 0
        self.last_request = time.monotonic()
        self._server: asyncio.Server | PipeListener | None = None

    async def listen(self, listener: socket.socket | PipeListener) -> None:
        """Begin to accept on a bound, listening socket, on Windows on a pipe; a former one is closed."""
        if self._server is not None:
            self._server.close()
        if isinstance(listener, PipeListener):
            self._server = listener
            listener.serve(lambda: Connection(self))
            return
        loop = asyncio.get_running_loop()
        # `path` would make asyncio unlink what it finds there; the socket is ours, bound under the lock.
        options: dict[str, Any] = {"sock": listener, "backlog": BACKLOG, **_KEEPING}
        self._server = await loop.create_unix_server(lambda: Connection(self), **options)

    def stop_accepting(self) -> None:
        """Close the listening socket; connections go on."""
        if self._server is not None:
            self._server.close()
            self._server = None

    async def close(self, grace_s: float) -> None:
        """Let running requests finish for `grace_s`, tell those that do not, then cut every connection."""
        self.stop_accepting()
        running = [c for c in self.connections if c.task is not None and c.task is not asyncio.current_task()]
        short_s = min(grace_s, ENDLESS_GRACE_S)
        await _finish(running, short_s)
        await _finish([c for c in running if not c.endless], grace_s - short_s)
        for connection in list(self.connections):
            connection.cut()

    def running(self) -> int:
        """Return how many requests are in work, those who watch among them."""
        return sum(c.task is not None for c in self.connections)

    def asking(self) -> int:
        """Return how many requests wait for an answer."""
        return sum(c.task is not None and not c.follows for c in self.connections)


class Connection(asyncio.Protocol):
    """One client: hello first, then requests one after the other."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.task: asyncio.Task[None] | None = None
        self.endless = False
        self.follows = False
        self._decoder = FrameDecoder(MAX_REQUEST_BYTES)
        self._waiting: deque[bytes] = deque()
        self._hello: Hello | None = None
        self._refusal: CtxError | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        # "Writable" means that all has gone out: a client that reads nothing is seen whatever its reply's size.
        transport.set_write_buffer_limits(high=0)
        try:
            check_peer(transport.get_extra_info("socket"))
        except UnsafePlace:
            transport.abort()
            return
        if len(self.server.connections) >= MAX_CONNECTIONS:
            self._refuse(Busy(f"ctxd already serves {MAX_CONNECTIONS} clients", "try again in a moment"))
            return
        self.server.connections.add(self)
        self._expect_frame()

    def connection_lost(self, _exc: Exception | None) -> None:
        self.server.connections.discard(self)
        self._no_timer()
        self._writable.set()
        if self.task is not None:
            self.task.cancel()

    def data_received(self, data: bytes) -> None:
        try:
            self._waiting.extend(self._decoder.feed(data))
        except FrameRefused as error:
            self._refuse(error)
            return
        if self._waiting:
            self._no_timer()
        if self._decoder.pending and self._timer is None:
            self._expect_frame()
        if len(self._waiting) > MAX_WAITING:
            self._refuse(FrameRefused("too many requests at once on one connection"))
            return
        self._next()

    def pause_writing(self) -> None:
        self._writable.clear()

    def resume_writing(self) -> None:
        self._writable.set()

    def cut(self) -> None:
        """End the connection; a request in work is told, and what has been written still goes out if it is read."""
        if self.task is not None and self.task is not asyncio.current_task():
            self.task.cancel()
            self._transport.write(pack(to_failure(DaemonUnreachable("ctxd was stopped meanwhile", "ask again"))))
        self._transport.close()

    def _expect_frame(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(STALL_S, self._transport.abort)

    def _no_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, error: CtxError) -> None:
        self._transport.write(pack(to_failure(error)))
        self._transport.close()
        if not self._writable.is_set():  # closing waits until it is read, which may be never
            asyncio.get_running_loop().call_later(STALL_S, self._transport.abort)

    def _next(self) -> None:
        while self._waiting and self.task is None and not self._transport.is_closing():
            payload = self._waiting.popleft()
            try:
                if self._hello is None:
                    self._greet(decode_hello(payload))
                    continue
                # Before it is decoded: a newer client may ask for what this daemon has no name for.
                if self._refusal is not None and not is_stop(payload):
                    raise self._refusal
                request = decode_request(payload)
            except CtxError as error:
                self._refuse(error)
                return
            self._begin(request)

    def _greet(self, hello: Hello) -> None:
        self._hello = hello
        self._refusal = verdict(hello, self.server.own)
        self._transport.write(pack(self.server.own))

    def _begin(self, request: AnyRequest) -> None:
        self.endless = not isinstance(request, Stop) and _limit_s(request) is None
        self.task = asyncio.get_running_loop().create_task(self._answer(request))
        self.task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.task, self.follows = None, False
        if not task.cancelled() and task.exception() is not None:
            log.error("connection failed", exc_info=task.exception())
            self._transport.abort()
        else:
            self._next()

    async def _answer(self, request: AnyRequest) -> None:
        began = time.perf_counter()
        self.server.last_request = time.monotonic()
        if isinstance(request, Stop):
            await self.server.on_stop()
            await self._write(Answer(out="", notes="", code=0))
            return
        reply = await self._reply(request)
        await self._write(reply)
        self.server.last_request = time.monotonic()
        if isinstance(request, Watch):
            return
        self.server.answered += 1
        self.server.latencies_ms.append((time.perf_counter() - began) * 1e3)

    async def _reply(self, request: AnyRequest) -> AnyReply:
        assert not isinstance(request, Stop)
        try:
            if isinstance(request, Watch):
                return await self._follow(request)
            async with asyncio.timeout(_limit_s(request)):
                return await self.server.handle(request, self._report)
        except TimeoutError:
            late = DeadlinePassed(f"no answer within {request.timeout_ms / 1e3:g} s", "give it longer: --timeout S")
            return to_failure(late)
        except CtxError as error:
            return to_failure(error)
        except Exception:
            name = secrets.token_hex(4)
            log.exception("request %s failed: %r", name, type(request).__name__)
            self.server.last_error = f"unexpected failure {name}"
            return to_failure(Internal(f"unexpected failure {name}", f"the log has it: {self.server.log_path}"))

    async def _follow(self, request: Watch) -> Answer:
        """Send what happens until there is no more, as fast as the client takes it."""
        self.follows = True
        self._transport.set_write_buffer_limits(high=WATCH_BACKLOG_BYTES)
        async with contextlib.aclosing(self.server.follow(request)) as lines:
            async for line in lines:
                self._transport.write(pack(Part(out=line)))
                await self._writable.wait()
        self._transport.set_write_buffer_limits(high=0)
        return Answer()

    def _report(self, progress: Progress) -> None:
        if self._writable.is_set():
            self._transport.write(pack(progress))

    async def _write(self, reply: AnyReply) -> None:
        try:
            frame = pack(reply)
        except FrameRefused as error:
            frame = pack(to_failure(error))
        self._transport.write(frame)
        try:
            await asyncio.wait_for(self._writable.wait(), STALL_S)
        except TimeoutError:
            self._transport.abort()


async def _finish(connections: list[Connection], wait_s: float) -> None:
    """Wait until the requests of `connections` are answered, `wait_s` at most."""
    tasks = [connection.task for connection in connections if connection.task is not None]
    if tasks and wait_s > 0:
        await asyncio.wait(tasks, timeout=wait_s)


def _limit_s(request: Request) -> float | None:
    """Return the time that a request has in all; None for one that waits for an index and is told of its progress.

    Such a client gives up by itself when it hears nothing for as long as an answer may take.
    """
    if isinstance(request, Init | Update) or (isinstance(request, InWorktree) and request.index_wait_ms < 0):
        return None
    return request.timeout_ms / 1e3


def verdict(hello: Hello, own: Welcome) -> CtxError | None:
    """Decide who gives way: None to serve, ReplaceDaemon when the client is newer, VersionRefused when it is older.

    The order is total (version, then time of installation), so no two daemons replace each other for ever.
    """
    theirs, ours = version_key(hello.version), version_key(own.version)
    if theirs > ours or (theirs == ours and hello.build > own.build):
        return ReplaceDaemon(f"ctxd {own.version} is older than this client ({hello.version})")
    if theirs < ours or hello.protocol != own.protocol:
        return VersionRefused(
            f"ctxd is version {own.version} and this client is {hello.version}",
            f"upgrade this client to {own.version}, or stop the daemon: ctx daemon stop",
        )
    return None
