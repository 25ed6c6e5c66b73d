"""The vector tier: which embedder there is, filling what lacks vectors, and a question's vector when search wants one.

Owned by the composition root; runs on the loop, but for what search asks, which a reader thread calls and waits in.
Keyword search never depends on it: what fails here is said in status and leaves answers as they are.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

from ctxd.embed.backfill import Backfill, Index
from ctxd.embed.model import Embedder, EmbedFailed, Vector
from ctxd.model import Meaning, Understood
from ctxd.state import VectorTier
from ctxd.store.cache import Cache
from ctxd.store.writer import Writer

log = logging.getLogger("ctxd.embed")

# Questions repeat: find, then query, then find with a filter.
_REMEMBERED = 256
# A cold start takes a second, on a busy machine several; whoever waits longer is answered by words alone, and told.
ASK_S = 10.0
# Of the four reader threads so many may wait for a vector at once: one is left for who asks by words.
WAITING = 3
# A model on this machine answers within 20 ms as a rule, so others wait for their turn; behind one that hangs, so long.
TURN_S = ASK_S / 5


class Tier:
    """See the module. `make` gives the embedder of the moment; it raises EmbedFailed where there is none."""

    def __init__(
        self,
        make: Callable[[], Embedder | None],
        indexes: Callable[[], Sequence[Index]],
        writer: Writer,
        cache: Cache,
        busy: Callable[[], bool],
    ) -> None:
        self.backfill = Backfill(indexes, writer, cache, busy)
        self._make = make
        self._embedder: Embedder | None = None
        self._missing: EmbedFailed | None = None
        self._asked: OrderedDict[str, Vector] = OrderedDict()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ending: list[asyncio.Task[None]] = []
        self._waiting = threading.BoundedSemaphore(WAITING)

    def use(self) -> None:
        """Take the embedder that the configuration asks for; the one before ends. On the running loop."""
        self._loop = asyncio.get_running_loop()
        before, self._embedder, self._missing = self._embedder, None, None
        if before is not None:
            self._ending.append(self._loop.create_task(before.close()))
        try:
            self._embedder = self._make()
        except EmbedFailed as missing:
            self._missing = missing
        self.backfill.embedder = self._embedder
        self.backfill.trouble = None
        self._asked.clear()
        if self._embedder is not None:
            self.backfill.nudge()

    @property
    def meaning(self) -> Meaning | None:
        """What search is given, None without an embedder, or as long as it has to learn which model it has."""
        if self._embedder is None or not self._embedder.model.dimensions:
            return None
        model = self._embedder.model
        return Meaning(model.name, model.weight, partial(self._ask, model.name))

    def state(self) -> VectorTier:
        """Return what there is to say of it."""
        if self._embedder is None and self._missing is None:
            return VectorTier(trouble="switched off", hint="ctx config set embed.enabled true")
        going = self._embedder.going if self._embedder is not None else None
        trouble = self._missing or self.backfill.trouble
        if trouble is None and going is not None and going.resting:
            trouble = EmbedFailed(going.resting, "questions are answered by words for a while")
        model = self._embedder.model if self._embedder is not None else None
        return VectorTier(
            model=model.name if model is not None else "",
            remote=model is not None and model.remote,
            trouble=trouble.message if trouble is not None else "",
            hint=trouble.hint if trouble is not None else "",
            per_s=self.backfill.rate.per_s,
            embedded=self.backfill.embedded,
            hosts=going.hosts if going is not None else (),
            spent_usd=going.spent_usd if going is not None else 0.0,
            cap_usd=going.cap_usd if going is not None else None,
        )

    async def close(self) -> None:
        """End the embedder."""
        self.backfill.embedder = None
        if self._embedder is not None:
            await self._embedder.close()
        await asyncio.gather(*self._ending)

    def _ask(self, model: str, text: str) -> Understood:
        remote = self._is_remote()
        if not self._waiting.acquire(timeout=0.0 if remote else TURN_S):
            return Understood(trouble=f"other questions wait for {'the provider' if remote else 'the model'} just now")
        try:
            return self._asked_for(model, text)
        finally:
            self._waiting.release()

    def _is_remote(self) -> bool:
        embedder = self._embedder
        return embedder is not None and embedder.model.remote

    def _asked_for(self, model: str, text: str) -> Understood:
        assert self._loop is not None
        future = asyncio.run_coroutine_threadsafe(self._question(model, text), self._loop)
        try:
            return Understood(future.result(ASK_S))
        except TimeoutError:
            future.cancel()
            return Understood(trouble=f"the question had no vector within {ASK_S:g} s")
        except EmbedFailed as failed:
            return Understood(trouble=failed.message)

    async def _question(self, model: str, text: str) -> Vector:
        """Return a question's vector by the model that search compares it under. Raises EmbedFailed."""
        embedder, known = self._embedder, self._asked.get(text)
        if embedder is None or embedder.model.name != model:
            raise EmbedFailed("the model was replaced just now")
        if known is not None:
            self._asked.move_to_end(text)
            return known
        (vector,) = await embedder.embed([text], query=True)
        if embedder is self._embedder:
            self._asked[text] = vector
            if len(self._asked) > _REMEMBERED:
                self._asked.popitem(last=False)
        return vector
