"""One parse worker as the loop sees it: a child process and the socket pair to its standard input and output.

Owned by a pool's desk. No thread waits for the process: the end of its output says that it is gone.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Sequence

import msgspec

from ctxd.parse.pipe import HEADER, MAX_FRAME_BYTES, Outcome, Parse, Read, Setup, decode_outcome, pack

COMMAND = (sys.executable, "-E", "-P", "-m", "ctxd.parse.worker")
# What the loop buffers of one worker's results before it stops reading and the worker waits.
_BUFFER_BYTES = 1 << 20
# A worker that is ready to run but gets no processor is not hanging: it may have this many budgets of wall
# time, as its own alarm counts its processor time.
_STARVED_BUDGETS = 10
# Linux: a killed process is gone within milliseconds; this only bounds a wait on a broken disk.
_REAP_S = 5.0


class ChildDied(Exception):
    """The worker ended, or was ended, while it was working. `timed_out`: it used up its budget."""

    def __init__(self, message: str, *, timed_out: bool = False) -> None:
        super().__init__(message)
        self.timed_out = timed_out


class Child:
    """A running worker. Use `open`; whoever opens it awaits `end`."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self.pid = process.pid

    @classmethod
    async def open(cls, command: Sequence[str], setup: Setup) -> Child:
        """Start a worker; raises OSError when no process can be had."""
        ours, theirs = socket.socketpair()
        try:
            # Two milliseconds of the loop; asyncio's own way costs a thread for each process on 3.11.
            process = subprocess.Popen(  # noqa: ASYNC220
                command or COMMAND,
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                cwd="/",
                env=_environment(),
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
        child = cls(process, reader, writer)
        child.send(setup)
        return child

    def send(self, request: Setup | Read | Parse) -> None:
        """Queue a request; a batch of paths is small enough for the transport's buffer."""
        self._writer.write(pack(request))

    async def receive(self, budget_s: float) -> Outcome:
        """Return the worker's next answer; raises ChildDied, also when the answer takes longer than
        `budget_s`.

        A worker that cannot get a processor is given longer.
        """
        task = asyncio.ensure_future(self._frame())
        try:
            for _ in range(_STARVED_BUDGETS):
                done, _ = await asyncio.wait((task,), timeout=budget_s)
                if done or not self._is_runnable():
                    break
        finally:
            if not task.done():
                task.cancel()
        if not task.done():
            raise ChildDied("no answer within the budget", timed_out=True)
        try:
            return task.result()
        except (asyncio.IncompleteReadError, ConnectionError, msgspec.DecodeError) as error:
            code = await self._exit_code()
            raise ChildDied(f"ended with {code}", timed_out=code == -signal.SIGPROF) from error

    async def _frame(self) -> Outcome:
        header = await self._reader.readexactly(HEADER.size)
        (size,) = HEADER.unpack(header)
        if size > MAX_FRAME_BYTES:
            raise ConnectionError("the worker's stream is broken")
        return decode_outcome(await self._reader.readexactly(size))

    def _is_runnable(self) -> bool:
        """Return whether the process runs or waits for a processor, rather than sleeps; False where
        unknown."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                return file.read(1024).rpartition(b")")[2].split()[0] == b"R"
        except (OSError, IndexError):
            return False

    def ended(self) -> bool:
        """Return whether the process is gone, killed from outside for one."""
        return self._process.poll() is not None

    async def _exit_code(self) -> int:
        """Return how the process ended; end it if its output closed before it did."""
        for _ in range(20):
            if (code := self._process.poll()) is not None:
                return code
            await asyncio.sleep(0.005)
        await self.end()
        return self._process.returncode

    async def end(self) -> None:
        """Kill the process and wait until it is gone. May be called again; also safe while being
        cancelled."""
        self._writer.close()
        if self._process.poll() is None:
            self._process.kill()
        try:
            for _ in range(200):
                if self._process.poll() is not None:
                    break
                await asyncio.sleep(0.005)
        finally:
            self._process.wait(_REAP_S)


def _environment() -> dict[str, str]:
    """Return what a worker needs of ours: no variable of a user's shell changes how a file is parsed."""
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH", "CTX_HOME")
    return {name: os.environ[name] for name in kept if name in os.environ}
