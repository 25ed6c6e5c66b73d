"""A daemon that says what a test tells it to, at a real socket in a CTX_HOME of its own."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from ctxprotocol import endpoint, framing
from ctxprotocol.messages import Answer, AnyRequest, Hello, Stop, Welcome

CTX = str(Path(sys.executable).parent / "ctx")
Script = Callable[["Peer"], None]


def welcome(**changed: object) -> Welcome:
    fields = {"protocol": endpoint.PROTOCOL_VERSION, "version": endpoint.VERSION, "build": endpoint.build()}
    return Welcome(**{**fields, "pid": os.getpid(), **changed})  # type: ignore[arg-type]


class Peer:
    """The daemon's side of one connection."""

    def __init__(self, connected: socket.socket, hello: Hello, request: AnyRequest | None) -> None:
        self.socket, self.hello, self.request = connected, hello, request

    def say(self, *messages: msgspec.Struct) -> None:
        self.socket.sendall(b"".join(map(framing.pack, messages)))


class FakeDaemon:
    """Answers each connection by a script; remembers the requests. Ends at Stop, as the real one does."""

    def __init__(self, home: str) -> None:
        self.home = home
        self.requests: list[AnyRequest] = []
        self.script: Script = lambda peer: peer.say(welcome(), Answer(out="an answer\n"))
        self.stopped = False
        self.welcome = welcome()  # said to a probe and to Stop
        endpoint.make_private(home)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(endpoint.socket_path(home))
        os.chmod(endpoint.socket_path(home), 0o600)
        self._listener.listen(8)
        self._thread = threading.Thread(target=self._serve, name="fake-daemon")
        self._thread.start()

    def _serve(self) -> None:
        while not self.stopped:
            try:
                connected, _ = self._listener.accept()
            except OSError:
                return
            with connected:
                self._serve_one(connected)

    def _serve_one(self, connected: socket.socket) -> None:
        frames = framing.FrameDecoder(framing.MAX_REQUEST_BYTES)
        payloads: list[bytes] = []
        while not payloads:
            data = connected.recv(1 << 16)
            if not data:
                return
            payloads += frames.feed(data)
        request = framing.decode_request(payloads[1]) if len(payloads) > 1 else None
        peer = Peer(connected, framing.decode_hello(payloads[0]), request)
        if request is not None:
            self.requests.append(request)
        if isinstance(request, Stop):
            self._unbind()
            self.stopped = True
            peer.say(self.welcome, Answer())
        elif request is None:
            peer.say(self.welcome)
        try:
            if request is not None and not isinstance(request, Stop):
                self.script(peer)
        except OSError:
            pass  # the client went away, as some tests want it to

    def _unbind(self) -> None:
        self._listener.close()
        try:
            os.unlink(endpoint.socket_path(self.home))
        except FileNotFoundError:
            pass

    def close(self) -> None:
        self.stopped = True
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as waker:
                waker.connect(endpoint.socket_path(self.home))
        except OSError:
            pass
        self._thread.join(5)
        assert not self._thread.is_alive()
        self._unbind()


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A CTX_HOME that does not exist yet, in which no daemon may be started."""
    place = tempfile.mkdtemp(prefix="ctx-t-", dir="/tmp")
    monkeypatch.setenv("CTX_HOME", f"{place}/h")
    monkeypatch.setenv("CTX_NO_START", "1")
    yield f"{place}/h"
    shutil.rmtree(place)


@pytest.fixture
def fake(state: str) -> Iterator[FakeDaemon]:
    """A daemon that listens in this test's CTX_HOME."""
    daemon = FakeDaemon(state)
    yield daemon
    daemon.close()


def run_ctx(*args: str, **more: object) -> subprocess.CompletedProcess[str]:
    """Run `ctx` as a person would, and return its exit code, stdout and stderr."""
    return subprocess.run(
        [CTX, *args],
        **{"stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 60, **more},  # type: ignore[call-overload]
        check=False,
    )


@pytest.fixture
def run() -> Callable[..., subprocess.CompletedProcess[str]]:
    return run_ctx
