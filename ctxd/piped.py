"""A child process of ours as the loop sees it: a socket pair to its standard input and output, and its end.

Owned by who opens it. No thread waits for the process: the end of its output says that it is gone.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from asyncio.subprocess import SubprocessStreamProtocol
from collections.abc import Mapping, Sequence

from ctxd.frames import LENGTH

# What of our environment a child gets: no variable of a user's shell changes what it does.
_KEPT = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH", "CTX_HOME")
# Where children are: no directory of anybody's is held, and on Windows there are several of these.
_TOP = os.path.abspath(os.sep)
# Linux: a killed process is gone within milliseconds; this only bounds a wait on a broken disk.
_REAP_S = 5.0
# What the loop buffers of a child's output before it stops reading and the child waits.
_BUFFER_BYTES = 1 << 20


class Piped:
    """A running child. Use `open`; whoever opens it awaits `end`."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        transport: asyncio.SubprocessTransport | None = None,
    ) -> None:
        self._transport = transport
        self._process = process
        self._reader = reader
        self._writer = writer
        self.pid = process.pid

    @classmethod
    async def open(cls, command: Sequence[str], more: Mapping[str, str] | None = None) -> Piped:
        """Start a child with `more` in its environment. Raises OSError when no process can be had."""
        environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | dict(more or {})
        if sys.platform == "win32":
            return await cls.open_by_loop(command, environment)
        ours, theirs = socket.socketpair()
        try:
            # Two milliseconds of the loop; asyncio's own way costs a thread for each process on 3.11.
            process = subprocess.Popen(  # noqa: ASYNC220
                command, stdin=theirs.fileno(), stdout=theirs.fileno(), cwd="/", env=environment
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        try:
            reader, writer = await asyncio.open_connection(sock=ours, limit=_BUFFER_BYTES)
        except BaseException:
            ours.close()
            process.kill()
            process.wait(_REAP_S)
            raise
        return cls(process, reader, writer)

    @classmethod
    async def open_by_loop(cls, command: Sequence[str], environment: Mapping[str, str]) -> Piped:
        """Do the same by asyncio's own pipes: on Windows a socket cannot be a child's input. Raises OSError."""
        loop = asyncio.get_running_loop()
        transport, protocol = await loop.subprocess_exec(
            lambda: SubprocessStreamProtocol(limit=_BUFFER_BYTES, loop=loop),
            *command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=None,
            cwd=_TOP,
            env=environment,
        )
        assert protocol.stdout is not None and protocol.stdin is not None
        return cls(transport.get_extra_info("subprocess"), protocol.stdout, protocol.stdin, transport)

    def send(self, framed: bytes) -> None:
        """Queue a frame; requests are small enough for the transport's buffer."""
        self._writer.write(framed)

    async def receive(self, most: int) -> bytes:
        """Return the next payload. Raises IncompleteReadError at the end, ConnectionError over `most` bytes."""
        (size,) = LENGTH.unpack(await self._reader.readexactly(LENGTH.size))
        if size > most:
            raise ConnectionError("the stream is broken")
        return await self._reader.readexactly(size)

    def ended(self) -> bool:
        """Return whether the process is gone, killed from outside for one."""
        return self._process.poll() is not None

    async def exit_code(self) -> int:
        """Return how the process ended; end it if its output closed before it did."""
        if not await self._gone(20):
            await self.end()
        return self._process.returncode

    async def end(self) -> None:
        """Kill the process and wait until it is gone. May be called again; also safe while being cancelled."""
        self._writer.close()
        if not self.ended():
            self._process.kill()
        try:
            await self._gone(200)
        finally:
            self._process.wait(_REAP_S)
            if self._transport is not None:
                self._transport.close()

    async def _gone(self, looks: int) -> bool:
        for _ in range(looks):
            if self.ended():
                return True
            await asyncio.sleep(0.005)
        return self.ended()
