"""The embedding process as the loop sees it: a child on a socket pair, started and ended by its seat.

Owned by local.py. No thread waits for the process: the end of its output says that it is gone.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from collections.abc import Sequence

import msgspec

from ctxd.embed.model import EmbedFailed
from ctxd.embed.pipe import HEADER, MAX_FRAME_BYTES, Broken, Load, Reply, Texts, decode_reply, pack

COMMAND = (sys.executable, "-E", "-P", "-m", "ctxd.embed.worker")
# Reading the files and building the session takes half a second; on a machine that swaps, much longer.
LOAD_S = 60.0
# A text takes 10 to 20 ms; a process that got no processor for so long is taken for hung.
ANSWER_S = 30.0
_REAP_S = 5.0


class Process:
    """A running child. Use `open`; whoever opens it awaits `end`."""

    def __init__(
        self, process: subprocess.Popen[bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._process = process
        self._reader = reader
        self._writer = writer
        self.pid = process.pid

    @classmethod
    async def open(cls, command: Sequence[str], load: Load) -> Process:
        """Start a child and have it load the model. Raises EmbedFailed, final where the model cannot be used."""
        ours, theirs = socket.socketpair()
        try:
            # Two milliseconds of the loop; asyncio's own way costs a thread for each process on 3.11.
            process = subprocess.Popen(  # noqa: ASYNC220
                command or COMMAND, stdin=theirs.fileno(), stdout=theirs.fileno(), cwd="/", env=_environment()
            )
        except OSError as fault:
            ours.close()
            raise EmbedFailed(f"no embedding process: {fault.strerror}") from fault
        finally:
            theirs.close()
        try:
            reader, writer = await asyncio.open_connection(sock=ours)
        except BaseException:
            ours.close()
            process.kill()
            process.wait(_REAP_S)
            raise
        child = cls(process, reader, writer)
        try:
            await child.ask(load, LOAD_S)
        except BaseException:
            await child.end()
            raise
        return child

    async def ask(self, request: Load | Texts, budget_s: float = ANSWER_S) -> Reply:
        """Return the answer to one request. Raises EmbedFailed; the child is of no use afterwards."""
        self._writer.write(pack(request))
        try:
            async with asyncio.timeout(budget_s):
                reply = await self._frame()
        except TimeoutError:
            raise EmbedFailed(f"the embedding process gave no answer within {budget_s:g} s") from None
        except (asyncio.IncompleteReadError, ConnectionError, msgspec.DecodeError):
            raise EmbedFailed("the embedding process ended") from None
        if isinstance(reply, Broken):
            raise EmbedFailed(reply.message, final=isinstance(request, Load))
        return reply

    async def _frame(self) -> Reply:
        (size,) = HEADER.unpack(await self._reader.readexactly(HEADER.size))
        if size > MAX_FRAME_BYTES:
            raise ConnectionError("the stream is broken")
        return decode_reply(await self._reader.readexactly(size))

    def ended(self) -> bool:
        """Return whether the process is gone, killed from outside for one."""
        return self._process.poll() is not None

    async def end(self) -> None:
        """Kill the process and wait until it is gone. May be called again; also safe while being cancelled."""
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
    """Return what the child needs of ours. Nothing in it goes to a network, and a library that tried would not."""
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "SYSTEMROOT", "LD_LIBRARY_PATH")
    found = {name: os.environ[name] for name in kept if name in os.environ}
    # One thread: the pools of BLAS and of the tokenizer would each take as many as there are cores.
    single = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "TOKENIZERS_PARALLELISM": "false"}
    return {**found, **single, "HF_HUB_OFFLINE": "1"}
