"""The typed conversation with the daemon: Hello and request in one write, Welcome, Progress, one last reply.

Runs in the client process; blocking. `ask` is what the commands use: it finds, starts or replaces the daemon as
needed and turns a Failure back into the error that it was.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from types import TracebackType

from ctxclient import transport
from ctxclient.progress import Bar
from ctxprotocol import endpoint, framing
from ctxprotocol.errors import DaemonUnreachable, FrameRefused, TooLong, VersionRefused, from_failure
from ctxprotocol.messages import Answer, AnyReply, AnyRequest, Failure, Hello, Part, Progress, Stop, Watch, Welcome

# Said at once by the daemon's loop, whatever else it does; so much only for a machine that swaps.
WELCOME_WAIT_S = 10.0
# Beyond what the daemon allows itself: it says "timed out" better than we can.
GRACE_S = 5.0
STOP_WAIT_S = 30.0

Take = Callable[[str], None]


class HungUp(DaemonUnreachable):
    """The daemon closed the connection before its last reply. `welcomed`: it had greeted us."""

    def __init__(self, welcomed: bool) -> None:
        super().__init__(
            "the daemon hung up before it answered",
            f"its log says why: {endpoint.log_path(endpoint.state_directory(os.environ))}",
        )
        self.welcomed = welcomed


class Older(Exception):
    """The daemon is older than this client, or speaks another protocol; `welcome` is None when it is not known."""

    def __init__(self, welcome: Welcome | None) -> None:
        super().__init__("the daemon is of another version")
        self.welcome = welcome


class Garbled(Exception):
    """What came from the daemon cannot be understood."""


class Connection:
    """One conversation. Owns the socket; closed by `with`."""

    def __init__(self, connected: transport.Stream) -> None:
        self._socket = connected
        self._frames = framing.FrameDecoder(framing.MAX_REPLY_BYTES)
        self._ready: list[bytes] = []
        self._welcomed = False
        self._refusal = ""

    def __enter__(self) -> Connection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()

    def greet(self, request: AnyRequest | None, wait_s: float = WELCOME_WAIT_S) -> Welcome:
        """Send Hello and `request` and return the Welcome.

        Raises HungUp, TimeoutError, Garbled, TooLong when the request is over its limit, and whatever the daemon
        says instead of a Welcome.
        """
        hello = Hello(protocol=endpoint.PROTOCOL_VERSION, version=endpoint.VERSION, **_known_build(endpoint.build()))
        sent = framing.pack(request) if request is not None else b""
        if len(sent) > framing.MAX_REQUEST_BYTES:
            raise TooLong(f"the request is over the limit of {framing.MAX_REQUEST_BYTES} bytes")
        self._socket.settimeout(wait_s)
        try:
            self._socket.sendall(framing.pack(hello) + sent)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it may have said why before it closed
        reply = self.receive(wait_s)
        if isinstance(reply, Failure):
            raise from_failure(reply)
        if not isinstance(reply, Welcome):
            raise Garbled("it did not greet first")
        self._welcomed = True
        return reply

    def send(self, request: AnyRequest) -> None:
        """Send one more request after the last reply. Raises TooLong, HungUp, TimeoutError."""
        sent = framing.pack(request)
        if len(sent) > framing.MAX_REQUEST_BYTES:
            raise TooLong(f"the request is over the limit of {framing.MAX_REQUEST_BYTES} bytes")
        try:
            self._socket.sendall(sent)
        except ConnectionError:
            raise HungUp(self._welcomed) from None

    def await_news(self) -> None:
        """Wait, for days if need be, until there is something to receive. Raises live.ReaderGone."""
        from ctxclient import live

        if self._ready:
            return
        if sys.platform == "win32":
            self._socket.await_data()
        else:
            live.wait(self._socket.fileno())

    def receive(self, wait_s: float) -> AnyReply:
        """Return the next reply; raises HungUp, TimeoutError after `wait_s` seconds of silence, Garbled."""
        self._socket.settimeout(wait_s)
        while not self._ready:
            if self._refusal:
                raise Garbled(self._refusal)
            try:
                data = self._socket.recv(1 << 16)
            except ConnectionError:
                data = b""
            if not data:
                raise HungUp(self._welcomed)
            try:
                self._ready = self._frames.feed(data)
            except FrameRefused as error:
                self._ready, self._refusal = self._frames.before_refusal, error.message
        try:
            return framing.decode_reply(self._ready.pop(0))
        except FrameRefused as error:
            raise Garbled(error.message) from error


def _known_build(build: int) -> dict[str, int]:
    return {"build": build} if build else {}


def is_older(welcome: Welcome) -> bool:
    """Say whether that daemon is older than this client: by version, then by when it was installed."""
    theirs = (endpoint.version_key(welcome.version), welcome.build)
    return theirs < (endpoint.version_key(endpoint.VERSION), endpoint.build())


def converse(connection: Connection, request: AnyRequest, take: Take | None = None) -> Answer:
    """Ask on an open connection and return the answer; shows progress on a terminal meanwhile.

    `take` gets each part of an answer that has no end. Raises Older when the daemon has to be replaced, the error that
    a Failure stands for, HungUp, DaemonUnreachable when it is silent for longer than the request may take.
    """
    allowed_s = _allowed_s(request)
    try:
        welcome = connection.greet(request, min(allowed_s, WELCOME_WAIT_S))
    except TimeoutError as error:
        raise timed_out(WELCOME_WAIT_S) from error
    except Garbled as error:
        raise Older(None) from error
    if is_older(welcome):
        raise Older(welcome)
    return _concluded(connection, request, welcome, take)


def proceed(connection: Connection, request: AnyRequest) -> Answer:
    """Ask once more on a connection whose last question was answered. Raises what `converse` does."""
    connection.send(request)
    return _concluded(connection, request)


def _allowed_s(request: AnyRequest) -> float:
    return STOP_WAIT_S if isinstance(request, Stop) else request.timeout_ms / 1000 + GRACE_S


def _concluded(
    connection: Connection, request: AnyRequest, welcome: Welcome | None = None, take: Take | None = None
) -> Answer:
    """Return the last reply to a request that was sent."""
    allowed_s = _allowed_s(request)
    bar = Bar()
    try:
        while True:
            if isinstance(request, Watch):
                connection.await_news()
            match connection.receive(allowed_s):
                case Answer() as answer:
                    return answer
                case Failure(error="replace_daemon"):
                    raise Older(welcome)
                case Failure() as failure:
                    raise from_failure(failure)
                case Progress(phase=phase, done=done, total=total):
                    bar.show(phase, done, total)
                case Part(out=out):
                    if take is None:
                        raise Garbled("it answers in parts")
                    take(out)
                case Welcome():
                    raise Garbled("it greeted twice")
    except TimeoutError as error:
        raise timed_out(allowed_s) from error
    except Garbled as error:
        raise FrameRefused(f"the daemon's reply cannot be understood: {error}", "ctx daemon restart") from error
    finally:
        bar.clear()


def timed_out(seconds: float) -> DaemonUnreachable:
    """Return the error for a daemon that is there but silent."""
    return DaemonUnreachable(
        f"timed out: the daemon did not answer within {seconds:g} s",
        "it may be busy: see ctx daemon status, or give it longer with --timeout",
    )


def ask(request: AnyRequest, *, may_start: bool = True, take: Take | None = None) -> Answer:
    """Return the daemon's answer; starts a daemon or replaces an older one unless `may_start` is false.

    `take` gets each part of an answer that has no end.
    """
    state_dir = endpoint.state_directory(os.environ)
    path = endpoint.socket_path(state_dir)
    started = retried = replaced = False
    while True:
        connected = transport.dial(path)
        if connected is None:
            if started or not may_start:
                raise DaemonUnreachable("no daemon is running", "ctx daemon start starts one")
            from ctxclient import launch

            launch.start(state_dir)
            started = True
            continue
        _end_turn()
        try:
            with Connection(connected) as connection:
                return converse(connection, request, take)
        except HungUp as error:
            # It was about to end when we came: ask once more, as the one who starts the next.
            if error.welcomed or retried or not may_start:
                raise
            retried = True
        except Older as error:
            if replaced or not may_start:
                raise _still_older(error.welcome) from error
            from ctxclient import launch

            launch.replace(state_dir)
            replaced = True


def _end_turn() -> None:
    if os.name == "posix":
        from ctxclient import turn

        turn.end()


def _still_older(welcome: Welcome | None) -> VersionRefused:
    theirs = f"version {welcome.version} (pid {welcome.pid})" if welcome else "an unknown version"
    return VersionRefused(
        f"the running daemon is of {theirs}, this client is {endpoint.VERSION}",
        "ctx daemon restart replaces it",
    )
