"""Frames between the daemon and its child processes: a 4-byte big-endian length and as many bytes.

A leaf: the children load it, and they load no loop.
"""

from __future__ import annotations

import os
import signal
import struct

LENGTH = struct.Struct(">I")


def frame(payload: bytes) -> bytes:
    """Return a payload with its length before it."""
    return LENGTH.pack(len(payload)) + payload


class Pipe:
    """A child's own end: two descriptors, for its only thread."""

    def __init__(self, source: int, sink: int) -> None:
        self._source = source
        self._sink = sink

    @classmethod
    def standard(cls) -> Pipe:
        """Take this process's standard input and output; what a library prints then goes to its standard error."""
        # The terminal's Ctrl-C is for the daemon, which ends its children itself.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        sink = os.dup(1)
        os.dup2(2, 1)
        return cls(0, sink)

    def receive(self) -> bytes | None:
        """Return the next payload, None when the input has ended."""
        length = self._exactly(LENGTH.size)
        return None if length is None else self._exactly(LENGTH.unpack(length)[0])

    def send(self, framed: bytes) -> None:
        """Write a frame whole. Raises BrokenPipeError or ConnectionResetError when nobody reads it."""
        rest = memoryview(framed)
        while rest:
            rest = rest[os.write(self._sink, rest) :]

    def _exactly(self, size: int) -> bytes | None:
        data = bytearray()
        while len(data) < size:
            piece = os.read(self._source, size - len(data))
            if not piece:
                return None
            data += piece
        return bytes(data)
