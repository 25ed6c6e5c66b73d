"""A model on this machine: the embedder that runs in processes of our own. Owned by the composition root; on the loop.

Two seats: questions are embedded at normal priority, passages by a process that yields to everything else on the
machine, so that nobody who asks waits behind them. Each starts when it is first needed and ends when it was idle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ctxd.embed.model import EmbedFailed, Going, Model, Vector
from ctxd.embed.pipe import Load, Texts, Vectors
from ctxd.embed.process import COMMAND, Process
from ctxd.embed.rows import Located

QUERY_IDLE_S = 300.0
# Between two saves somebody may think for a while; a start costs half a second of a processor.
PASSAGE_IDLE_S = 60.0
_PASSAGE_NICENESS = 10
# Texts of one frame: what one that was asked to stop still has in work.
FRAME_TEXTS = 4


class _Seat:
    """A process's place: one conversation at a time."""

    def __init__(self, command: Sequence[str], load: Load, idle_s: float) -> None:
        self._command = command
        self._load = load
        self._idle_s = idle_s
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._ending: set[asyncio.Task[None]] = set()
        self.process: Process | None = None

    async def embed(self, texts: Sequence[str]) -> list[Vector]:
        found: list[Vector] = []
        for start in range(0, len(texts), FRAME_TEXTS):
            async with self._lock:
                found += await self._frame(tuple(texts[start : start + FRAME_TEXTS]))
        return found

    async def warm(self) -> None:
        """Start the process if it does not run."""
        async with self._lock:
            await self._started()

    async def _frame(self, texts: tuple[str, ...]) -> tuple[Vector, ...]:
        process = await self._started()
        try:
            reply = await process.ask(Texts(texts))
        except BaseException:  # also a cancelled one: its answer would be taken for the next
            await self.end()
            raise
        if not isinstance(reply, Vectors) or len(reply.vectors) != len(texts):
            await self.end()
            raise EmbedFailed("the embedding process answered something else")
        return reply.vectors

    async def _started(self) -> Process:
        if self.process is not None and self.process.ended():
            await self.end()
        if self.process is None:
            self.process = await Process.open(self._command, self._load)
        self._rest()
        return self.process

    def _rest(self) -> None:
        """Begin the time anew after which the process ends."""
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(self._idle_s, self._retire)

    def _retire(self) -> None:
        if self._lock.locked():
            self._rest()
            return
        task = asyncio.get_running_loop().create_task(self.end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        process, self.process = self.process, None
        if process is not None:
            await process.end()
        await asyncio.gather(*(task for task in self._ending if task is not asyncio.current_task()))


class LocalEmbedder:
    """See the module. `command` replaces the child's, for tests."""

    def __init__(
        self,
        located: Located,
        *,
        command: Sequence[str] = COMMAND,
        query_idle_s: float = QUERY_IDLE_S,
        passage_idle_s: float = PASSAGE_IDLE_S,
    ) -> None:
        self._model = located.model
        self._queries = _Seat(command, _load(located, 0), query_idle_s)
        self._passages = _Seat(command, _load(located, _PASSAGE_NICENESS), passage_idle_s)

    @property
    def model(self) -> Model:
        """The model whose vectors these are."""
        return self._model

    # It is known from the start, costs nothing, and nothing goes anywhere. In eight texts it is seen who waits.
    batch = 8
    paid = False
    going: Going | None = None

    async def ready(self) -> None:
        """There is nothing to learn."""

    def afford(self, size_bytes: int) -> None:
        """It costs nothing."""

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        """Return one vector for each text, in order. Raises EmbedFailed."""
        prefix = self._model.query_prefix if query else self._model.passage_prefix
        seat = self._queries if query else self._passages
        return await seat.embed([prefix + text for text in texts])

    async def warm(self) -> None:
        """Have the process for questions ready. Raises EmbedFailed."""
        await self._queries.warm()

    def pids(self) -> tuple[int, ...]:
        """Return the processes that run now."""
        return tuple(seat.process.pid for seat in (self._queries, self._passages) if seat.process is not None)

    async def close(self) -> None:
        """End both processes."""
        await asyncio.gather(self._queries.end(), self._passages.end())


def _load(located: Located, niceness: int) -> Load:
    model = located.model
    return Load(
        located.onnx, located.tokenizer, model.digests, model.dimensions, model.pooling, model.max_tokens, niceness
    )
