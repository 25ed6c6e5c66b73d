"""Vectors from providers over the network: Voyage, and whatever speaks as OpenAI does. Owned by the tier; on the loop.

The first provider of the configuration says which model it is; others that give the same model follow it when it
fails, any other is left out: vectors of two models are never mixed. Passages go one request at a time, again after a
pause where that may help; a question goes at once, is given up soon, and after a failure is not asked for a while.
What costs money is asked within `embed.spend_cap_usd` alone.
"""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from typing import TypeVar

from ctxd.embed import wire
from ctxd.embed.model import EmbedFailed, Going, Model, Vector
from ctxd.remote.failure import Kind, RemoteFailed
from ctxd.remote.ledger import Ledger, LedgerFailed
from ctxd.remote.prices import price
from ctxd.remote.providers import Remote
from ctxprotocol.providers import Target

log = logging.getLogger("ctxd.embed")

T = TypeVar("T")

# A question that waits longer is answered by words: a near provider answers within 0.3 s, a far one within 1.
QUESTION_S = 2.0
_GRACE_S = 0.1
# After a failure no question waits for a provider so long; nor do passages where another one has the same model.
REST_S = 30.0
# Of a long one, a trace say, models look at the beginning, or refuse it.
_QUESTION = 2_000
# Sixty texts by a model on a processor of this machine take half a minute.
_PASSAGES_S = 60.0
_TRIES, _PAUSE_S, _MOST_PAUSE_S = 3, 0.5, 8.0
# Providers take thousands of texts at a time; what a crash repeats is one request.
_TEXTS, _LOCAL_TEXTS = 64, 16
# What of a chunk is sent: chunks have no more (index.max_chunk_tokens), and every model looks at so many.
_TOKENS = 512
# Words in small letters have 4 and more bytes for each token: what is reserved is too much rather than too little.
_BYTES_A_TOKEN = 3
_FILE_S, _DECODE_S = 10.0, 30.0
# How long until the same may help that a person has to mend: a key, a model that is not there yet.
_AGAIN_S: dict[Kind, float] = {"key": 15.0, "refused": 300.0, "rejected": 60.0}
# Failures for which nothing is charged. Not "timeout", "cut", "malformed": the work was done.
_FREE: frozenset[Kind] = frozenset({"key", "unreachable", "refused", "limited", "rejected", "server"})
# How a server says no to these texts: one is longer than its model takes, or all of them are too much.
_TOO_MUCH = frozenset({400, 413, 422})
# One that is refused with so few characters is not refused for its length.
_SHORT = 200
# What goes before a question and a passage, for models that were trained so.
_PREFIXES = {"nomic-embed-text": ("search_query: ", "search_document: ")}


class _Way:
    """A provider and how it does."""

    def __init__(self, remote: Remote) -> None:
        self.remote = remote
        self.resting_until = self.left_alone_until = 0.0
        self.said = ""

    def rest(self, failed: RemoteFailed) -> None:
        self.left_alone_until = time.monotonic() + failed.retry_after_s
        self.resting_until = max(self.left_alone_until, time.monotonic() + REST_S)
        self.said = failed.message

    @property
    def rests(self) -> bool:
        return time.monotonic() < self.resting_until


class RemoteEmbedder:
    """See the module. `remotes` are the providers in order; `chance` makes pauses uneven, so that many do not meet."""

    def __init__(self, remotes: Sequence[Remote], ledger: Ledger, cap_usd: float, chance: random.Random) -> None:
        first = remotes[0].target
        self._target = first
        self._ways = [_Way(one) for one in remotes if one.target.model == first.model]
        self._ledger = ledger
        self._cap_usd = cap_usd
        self._chance = chance
        self._turn = asyncio.Lock()
        self._closed = asyncio.Event()
        self._dimensions = ledger.dimensions(first.model)

    @property
    def model(self) -> Model:
        """The model whose vectors these are; without dimensions until `ready` has learnt them."""
        question, passage = next((p for name, p in _PREFIXES.items() if name in self._target.model), ("", ""))
        return Model(
            name=f"{self._target.model}@{self._dimensions}" if self._dimensions else self._target.model,
            dimensions=self._dimensions,
            licence="",
            max_tokens=_TOKENS,
            query_prefix=question,
            passage_prefix=passage,
            weight=self._target.weight,
            remote=True,
        )

    @property
    def batch(self) -> int:
        """How many texts it likes at a time."""
        return _LOCAL_TEXTS if self._target.local else _TEXTS

    @property
    def paid(self) -> bool:
        """Whether any of the providers costs money, or may."""
        return any((cost := price(way.remote.target)) is None or cost.sent > 0 for way in self._ways)

    @property
    def going(self) -> Going:
        """Where texts go, what that has cost, and what is wrong with it just now."""
        hosts = tuple(dict.fromkeys(way.remote.target.host for way in self._ways))
        resting = self._ways[0].said if all(way.rests for way in self._ways) else ""
        return Going(hosts, self._ledger.spent_usd, self._cap_usd if self.paid else None, resting)

    async def ready(self) -> None:
        """Learn how many dimensions there are, by a word of our own, once for each model. Raises EmbedFailed."""
        if self._dimensions:
            return
        async with self._turn:
            (vector,) = await self._persistently(["dimensions"])
            self._dimensions = len(vector)
            await self._noted(partial(self._ledger.learn, self._target.model, self._dimensions))

    def afford(self, size_bytes: int) -> None:
        """Refuse what would cost more than may be spent: passages of so many bytes. Raises EmbedFailed."""
        usd = self._usd(self._ways[0].remote.target, size_bytes)
        log.info("vectors: those that lack will cost about $%.4f", usd)
        left = self._cap_usd - self._ledger.spent_usd
        if usd > 0 and usd > left:
            raise self._beyond(f"the vectors that lack would cost about ${usd:.2f}")

    async def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
        """Return one vector for each text, in order. Raises EmbedFailed."""
        model = self.model
        prefix = model.query_prefix if query else model.passage_prefix
        # Providers refuse a text of nothing, and it has no direction.
        said = [prefix + text for text in texts if text.strip()]
        if query:
            made = await self._at_once([text[:_QUESTION] for text in said]) if said else []
        else:
            made = []
            for batch in wire.batches(said, _TEXTS):
                async with self._turn:
                    made += await self._persistently(batch)
        found = iter(made)
        return [next(found) if text.strip() else bytes(model.dimensions) for text in texts]

    async def close(self) -> None:
        """Wait no longer for anything; the connections are the daemon's."""
        self._closed.set()

    async def _at_once(self, texts: Sequence[str]) -> list[Vector]:
        """Embed a question: by the first that is not resting, within a deadline over all."""
        awake = [way for way in self._ways if not way.rests]
        if not awake:
            way = self._ways[0]
            left = max(1.0, way.resting_until - time.monotonic())
            raise EmbedFailed(f"{way.said}; not asked again for {left:.0f} s")
        ends = time.monotonic() + QUESTION_S
        failed: EmbedFailed | None = None
        for way in awake:
            left = ends - time.monotonic()
            if left < QUESTION_S / 10:
                break
            try:
                async with asyncio.timeout(left + _GRACE_S):  # noting what it costs may wait for a disk
                    return await self._asked(way, texts, query=True, deadline_s=left)
            except RemoteFailed as fault:
                failed = _told(fault)
            except TimeoutError:
                failed = EmbedFailed(f"the question had no vector within {QUESTION_S:g} s")
        raise failed or EmbedFailed(f"no provider answered within {QUESTION_S:g} s")

    async def _persistently(self, texts: Sequence[str]) -> list[Vector]:
        """Embed passages: by each provider in turn, and again after a pause where that may help."""
        for attempt in range(_TRIES):
            fault = None
            for way in self._willing():
                try:
                    return await self._asked(way, texts, query=False, deadline_s=_PASSAGES_S)
                except RemoteFailed as failed:
                    fault = failed
            if fault is None:
                first = min(self._ways, key=lambda way: way.left_alone_until)
                raise EmbedFailed(first.said, after_s=first.left_alone_until - time.monotonic())
            if fault.status in _TOO_MUCH:
                return await self._by_less(texts, fault)
            pause = max(fault.retry_after_s, _PAUSE_S * 2**attempt) * self._chance.uniform(1.0, 1.5)
            if attempt == _TRIES - 1 or not fault.passing or pause > _MOST_PAUSE_S:
                raise _told(fault)
            await self._pause(pause)
        raise AssertionError("unreachable")

    def _willing(self) -> list[_Way]:
        """Return who is asked for passages: who does not rest, else all but those who said when they may be asked."""
        awake = [way for way in self._ways if not way.rests]
        return awake or [way for way in self._ways if time.monotonic() >= way.left_alone_until]

    async def _by_less(self, texts: Sequence[str], refused: RemoteFailed) -> list[Vector]:
        """Embed what was too much together: each half by itself, of one text the beginning. Raises EmbedFailed."""
        if len(texts) > 1:
            half = len(texts) // 2
            return await self._persistently(texts[:half]) + await self._persistently(texts[half:])
        if len(texts[0]) <= _SHORT:
            raise _told(refused)
        return await self._persistently([texts[0][: len(texts[0]) // 2]])

    async def _pause(self, seconds: float) -> None:
        """Wait, unless this is closed. Raises EmbedFailed when it is."""
        try:
            async with asyncio.timeout(seconds):
                await self._closed.wait()
        except TimeoutError:
            return
        raise EmbedFailed("no embedder any more")

    async def _asked(self, way: _Way, texts: Sequence[str], *, query: bool, deadline_s: float) -> list[Vector]:
        """Ask one provider, within what may be spent. Raises RemoteFailed, EmbedFailed."""
        if self._closed.is_set():
            raise EmbedFailed("no embedder any more")  # another configuration counts: nothing is sent by the old one
        remote, target = way.remote, way.remote.target
        reserved = await self._reserve(target, sum(len(text.encode()) for text in texts))
        try:
            body = await remote.post("/embeddings", wire.payload(target, texts, query=query), deadline_s=deadline_s)
            expected = self._dimensions
            found, tokens = await remote.aside(partial(wire.vectors, body, len(texts), target.host), _DECODE_S)
        except RemoteFailed as failed:
            if failed.status not in _TOO_MUCH:  # which says nothing about other texts
                way.rest(failed)
            if reserved and failed.kind in _FREE:
                with suppress(EmbedFailed):
                    await self._noted(partial(self._ledger.settle, target.name, reserved, 0.0))
            raise
        cost = price(target)
        if reserved and tokens is not None and cost is not None:
            with suppress(EmbedFailed):  # what was reserved stands, which is more
                await self._noted(partial(self._ledger.settle, target.name, reserved, cost.of(tokens)))
        if expected and len(found[0]) != expected:
            await self._noted(partial(self._ledger.learn, target.model, 0))
            raise EmbedFailed(
                f"{target.name} gives vectors of {len(found[0])} dimensions under the name of {target.model}, which"
                f" has {expected}",
                "if the model was replaced: ctx daemon restart makes all vectors anew",
                final=True,
            )
        way.resting_until = 0.0
        return found

    async def _reserve(self, target: Target, size_bytes: int) -> float:
        """Note what a request will cost, before it does, and return that. Raises EmbedFailed."""
        usd = self._usd(target, size_bytes)
        if usd and not await self._noted(partial(self._ledger.reserve, target.name, usd, self._cap_usd)):
            raise self._beyond(f"{target.name} costs money")
        return usd

    def _usd(self, target: Target, size_bytes: int) -> float:
        """Return what so many bytes of text will cost, rather too much. Raises EmbedFailed."""
        cost = price(target)
        if cost is None:
            raise EmbedFailed(
                f"what {target.model} costs at {target.host} is not known",
                f'say it in embed.providers: {{ name = "{target.name}", price_in = USD for a million tokens }}',
                final=True,
            )
        return cost.of(size_bytes // _BYTES_A_TOKEN + 1)

    def _beyond(self, what: str) -> EmbedFailed:
        spent = (
            f"${self._ledger.spent_usd:.2f} of it are spent" if self._ledger.spent_usd else "nothing is spent so far"
        )
        return EmbedFailed(
            f"{what}, and embed.spend_cap_usd is ${self._cap_usd:g} ({spent})",
            "ctx config set embed.spend_cap_usd USD",
            final=True,
        )

    async def _noted(self, job: partial[T]) -> T:
        """Have the ledger write. Raises EmbedFailed."""
        try:
            return await self._ways[0].remote.aside(job, _FILE_S)
        except LedgerFailed as failed:
            raise EmbedFailed(failed.message, failed.hint, final=True) from None
        except TimeoutError:
            raise EmbedFailed("the disk does not answer") from None


def _told(failed: RemoteFailed) -> EmbedFailed:
    return EmbedFailed(failed.message, failed.hint, after_s=max(failed.retry_after_s, _AGAIN_S.get(failed.kind, 0.0)))
