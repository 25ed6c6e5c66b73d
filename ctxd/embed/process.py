"""The embedding process as the loop sees it, started and ended by its seat. Owned by local.py."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import msgspec

from ctxd.embed.model import EmbedFailed
from ctxd.embed.pipe import MAX_FRAME_BYTES, Broken, Load, Reply, Texts, decode_reply, pack
from ctxd.piped import Piped

COMMAND = (sys.executable, "-E", "-P", "-m", "ctxd.embed.worker")
# Reading the files and building the session takes half a second; on a machine that swaps, much longer.
LOAD_S = 60.0
# A text takes 10 to 20 ms; a process that got no processor for so long is taken for hung.
ANSWER_S = 30.0
# One thread: the pools of BLAS and of the tokenizer would each take as many as there are cores. Nothing goes to a
# network, and a library that tried would not.
_MORE = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
}


class Process:
    """A running child with its model. Use `open`; whoever opens it awaits `end`."""

    def __init__(self, process: Piped) -> None:
        self._process = process
        self.pid = process.pid

    @classmethod
    async def open(cls, command: Sequence[str], load: Load) -> Process:
        """Start a child and have it load the model. Raises EmbedFailed, final where the model cannot be used."""
        try:
            child = cls(await Piped.open(command or COMMAND, _MORE))
        except OSError as fault:
            raise EmbedFailed(f"no embedding process: {fault.strerror}") from fault
        try:
            await child.ask(load, LOAD_S)
        except BaseException:
            await child.end()
            raise
        return child

    async def ask(self, request: Load | Texts, budget_s: float = ANSWER_S) -> Reply:
        """Return the answer to one request. Raises EmbedFailed; the child is of no use afterwards."""
        self._process.send(pack(request))
        try:
            async with asyncio.timeout(budget_s):
                reply = decode_reply(await self._process.receive(MAX_FRAME_BYTES))
        except TimeoutError:
            raise EmbedFailed(f"the embedding process gave no answer within {budget_s:g} s") from None
        except (asyncio.IncompleteReadError, ConnectionError, msgspec.DecodeError):
            raise EmbedFailed("the embedding process ended") from None
        if isinstance(reply, Broken):
            raise EmbedFailed(reply.message, final=isinstance(request, Load))
        return reply

    def ended(self) -> bool:
        """Return whether the process is gone, killed from outside for one."""
        return self._process.ended()

    async def end(self) -> None:
        """Kill the process and wait until it is gone. May be called again; also safe while being cancelled."""
        await self._process.end()
