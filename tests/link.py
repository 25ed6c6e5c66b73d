"""A connection to the daemon in this process: 2,000 questions without 2,000 interpreters.

It speaks frames itself, so that a test may also send what no client of ours would.
"""

from __future__ import annotations

import json
import os
import socket
from types import TracebackType

import msgspec

from ctxprotocol import endpoint, framing
from ctxprotocol.messages import Answer, AnyReply, Failure, Find, Hello, Progress, Symbols, Welcome

RECEIVE_BYTES = 1 << 16


class Refused(AssertionError):
    """The daemon answered with an error; `failure` is what it said."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(f"{failure.error}: {failure.message} {failure.hint}")
        self.failure = failure


class Link:
    """One connection to the daemon of a state directory, greeted and ready. For one thread."""

    def __init__(self, state_directory: str, timeout_s: float = 60, greet: bool = True) -> None:
        self.decoder = framing.FrameDecoder(framing.MAX_REPLY_BYTES)
        self.waiting: list[bytes] = []
        self.progress = 0
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(timeout_s)
        try:
            self.socket.connect(endpoint.socket_path(state_directory))
            if greet:
                self.send(Hello(protocol=endpoint.PROTOCOL_VERSION, version=endpoint.VERSION, build=endpoint.build()))
                self.welcome = self.receive()
                assert isinstance(self.welcome, Welcome), self.welcome
        except BaseException:
            self.socket.close()
            raise

    def send(self, *messages: msgspec.Struct) -> None:
        self.socket.sendall(b"".join(map(framing.pack, messages)))

    def receive(self) -> AnyReply:
        """Return the next reply. EOFError when the daemon hung up."""
        while not self.waiting:
            data = self.socket.recv(RECEIVE_BYTES)
            if not data:
                raise EOFError("the daemon hung up")
            self.waiting += self.decoder.feed(data)
        return framing.decode_reply(self.waiting.pop(0))

    def ask(self, request: msgspec.Struct) -> Answer:
        """Send one request and return its answer. Raises Refused on a failure."""
        self.send(request)
        while isinstance(reply := self.receive(), Progress):
            self.progress += 1
        if isinstance(reply, Failure):
            raise Refused(reply)
        assert isinstance(reply, Answer), reply
        return reply

    def symbols(self, root: str | os.PathLike[str], pattern: str, **more) -> dict:
        """Return the JSON object of `ctx symbols PATTERN` asked from `root`."""
        request = Symbols(directory=os.fsencode(root), pattern=pattern, output="json", **more)
        return json.loads(self.ask(request).out)

    def find(self, root: str | os.PathLike[str], text: str, **more) -> dict:
        """Return the JSON object of `ctx find TEXT` asked from `root`."""
        request = Find(directory=os.fsencode(root), text=text, output="json", **more)
        return json.loads(self.ask(request).out)

    def close(self) -> None:
        self.socket.close()

    def __enter__(self) -> Link:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, fault: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
