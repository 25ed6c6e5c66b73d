"""Vectors for every chunk, in the background: what lacks one is read, looked up, embedded and written, slice by slice.

Owned by the tier; one task on the loop. What is left to do is a question to the index, so nothing is lost by a crash
and nothing is done twice: the machine's cache has the vector of every text that was ever embedded. It steps aside while
somebody waits for an answer.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

import msgspec

from ctxd.embed.model import Embedder, EmbedFailed, Model, Vector
from ctxd.embed.passage import key, longest, passage
from ctxd.store import filling, vectors
from ctxd.store.cache import Cache
from ctxd.store.driver import WriterConnection
from ctxd.store.filling import Filled, Passage
from ctxd.store.readers import Readers
from ctxd.store.snapshot import Snapshot
from ctxd.store.writer import Writer
from ctxprotocol.errors import CtxError

log = logging.getLogger("ctxd.embed")

T = TypeVar("T")

# Chunks that are read at a time.
SLICE = 256
# After a commit it waits for others to follow: a branch switch or a formatter is many files.
QUIET_S = 1.0
# Somebody who asks without end must not keep it from ever getting on.
_GLANCE_S, _GLANCES = 0.02, 500
_READ_S = 30.0
# After a failure that may pass.
_RETRY_S, _RETRY_MOST_S = 5.0, 300.0
# How often a text may end the process that embeds it.
_ATTEMPTS = 2


class Index(Protocol):
    """A worktree's index as this sees it."""

    @property
    def index_path(self) -> str:
        """The file of the moment."""

    @property
    def complete(self) -> bool:
        """Whether keyword search is."""

    async def read(self, function: Callable[[Snapshot], T], deadline_s: float) -> T:
        """Run a function on a snapshot of the file of the moment."""


class Draft:
    """An index file that nobody sees yet: a rebuild fills it beside the current one."""

    complete = True

    def __init__(self, path: str, readers: Readers) -> None:
        self.index_path = path
        self._readers = readers

    async def read(self, function: Callable[[Snapshot], T], deadline_s: float) -> T:
        """Run a function on a snapshot."""
        return await self._readers.run(self.index_path, function, deadline_s=deadline_s)


class Rate(msgspec.Struct):
    """How fast texts are embedded, over the last ones: two halves of a minute or so."""

    texts: float = 0.0
    seconds: float = 0.0

    def add(self, texts: int, seconds: float) -> None:
        """Take in a measure; older ones count less."""
        self.texts = self.texts * 0.95 + texts
        self.seconds = self.seconds * 0.95 + seconds

    @property
    def per_s(self) -> float:
        """Return texts a second, 0 when none was measured."""
        return self.texts / self.seconds if self.seconds else 0.0


class Backfill:
    """See the module. `indexes` gives those that are open, most recently asked first; `busy`: somebody waits."""

    def __init__(
        self,
        indexes: Callable[[], Sequence[Index]],
        writer: Writer,
        cache: Cache,
        busy: Callable[[], bool],
        *,
        quiet_s: float = QUIET_S,
    ) -> None:
        self.embedder: Embedder | None = None
        self.rate = Rate()
        self.embedded = 0
        self.trouble: EmbedFailed | None = None
        self._indexes = indexes
        self._writer = writer
        self._cache = cache
        self._busy = busy
        self._quiet_s = quiet_s
        self._wake = asyncio.Event()
        self._retry_s = _RETRY_S
        self._failures: Counter[str] = Counter()

    def nudge(self) -> None:
        """Something was committed, opened or configured: look whether vectors lack."""
        self._wake.set()

    async def run(self) -> None:
        """Fill whatever lacks vectors, for ever; to be cancelled."""
        while True:
            await self._wake.wait()
            await asyncio.sleep(self._quiet_s)
            self._wake.clear()
            try:
                while await self._round():
                    pass
                self._retry_s = _RETRY_S
                self.trouble = None
            except EmbedFailed as failed:
                log.warning("vectors: %s", failed.message)
                self.trouble = failed
                if not failed.final:
                    self._later(failed.after_s)
            except CtxError as error:  # the index was replaced meanwhile, or the disk is full
                log.info("vectors: %s", error.message)
                self._later()
            except Exception:
                log.exception("vectors: unexpected failure")
                self._later()

    async def prepare(self, draft: Draft) -> None:
        """Give an index that is to take another's place the vectors that the cache has. What fails is done later."""
        if (embedder := self.embedder) is None or not embedder.model.dimensions:
            return
        try:
            await self._submit(draft.index_path, lambda connection: filling.begin(connection, embedder.model.name))
            files, generation = await draft.read(lambda s: (filling.lacking(s), s.generation), _READ_S)
            whole = True
            while files:
                read = partial(_slice, files=files, longest_bytes=longest(embedder.model))
                found, files = await draft.read(read, _READ_S)
                known, wanted = await self._sorted_out(found, embedder.model)
                whole = whole and not wanted
                await self._submit(
                    draft.index_path, partial(filling.keep, model=embedder.model.name, filled=known, cache=self._cache)
                )
            if whole:
                await self._submit(draft.index_path, lambda connection: filling.finish(connection, generation))
        except CtxError as error:
            log.info("vectors: %s", error.message)

    def _later(self, after_s: float = 0.0) -> None:
        asyncio.get_running_loop().call_later(max(self._retry_s, after_s), self.nudge)
        self._retry_s = min(self._retry_s * 2, _RETRY_MOST_S)

    async def _round(self) -> bool:
        """Do a slice of the first index that lacks vectors; False when none does."""
        embedder = self.embedder
        if embedder is None:
            return False
        indexes = self._indexes()
        if indexes:
            await embedder.ready()
        for index in indexes:
            if index.complete and await self._advance(index, embedder):
                return True
        return False

    async def _advance(self, index: Index, embedder: Embedder) -> bool:
        """Take an index some way further; False: all its vectors are there."""
        path, model = index.index_path, embedder.model
        if await index.read(lambda snapshot: vectors.ready(snapshot, model.name), _READ_S):
            return False
        await self._write(index, path, lambda connection: filling.begin(connection, model.name))
        files, generation = await index.read(lambda s: (filling.lacking(s), s.generation), _READ_S)
        if embedder.paid and files:
            await self._afford(index, path, files, embedder)
        first = self._indexes()[:1]
        while files and self.embedder is embedder and index.index_path == path and self._indexes()[:1] == first:
            found, files = await index.read(partial(_slice, files=files, longest_bytes=longest(model)), _READ_S)
            await self._fill(index, path, found, embedder)
        if not files:
            await self._write(index, path, lambda connection: filling.finish(connection, generation))
        return True

    async def _afford(self, index: Index, path: str, files: Sequence[int], embedder: Embedder) -> None:
        """Take what the cache has, which costs nothing; refuse the rest if it costs too much. Raises EmbedFailed."""
        size, model = 0, embedder.model
        while files:
            found, files = await index.read(partial(_slice, files=files, longest_bytes=longest(model)), _READ_S)
            known, wanted = await self._sorted_out(found, model)
            await self._keep(index, path, embedder, known)
            size += sum(len(text.encode()) for text in wanted)
        if size:
            embedder.afford(size)

    async def _fill(self, index: Index, path: str, found: Sequence[Passage], embedder: Embedder) -> None:
        """Give chunks their vectors: from the cache, or by embedding them a few at a time, kept at once."""
        known, wanted = await self._sorted_out(found, embedder.model)
        await self._keep(index, path, embedder, known)
        texts = list(wanted)
        for start in range(0, len(texts), embedder.batch):
            await self._step_aside()
            bite = texts[start : start + embedder.batch]
            made = zip(bite, await self._timed(bite, embedder), strict=True)
            kept = [Filled(one, key(embedder.model, text), vector) for text, vector in made for one in wanted[text]]
            await self._keep(index, path, embedder, kept)

    async def _sorted_out(
        self, found: Sequence[Passage], model: Model
    ) -> tuple[list[Filled], dict[str, list[Passage]]]:
        """Return the passages whose vectors the cache has, and by their text those that must be embedded."""
        of: dict[str, list[Passage]] = {}
        for one in found:
            of.setdefault(passage(one), []).append(one)
        keys = {text: key(model, text) for text in of}
        have = await self._cache.have(list(keys.values()))
        known = [Filled(one, keys[text]) for text in of if keys[text] in have for one in of[text]]
        return known, {text: passages for text, passages in of.items() if keys[text] not in have}

    async def _keep(self, index: Index, path: str, embedder: Embedder, filled: Sequence[Filled]) -> None:
        if filled:
            name = embedder.model.name
            await self._write(index, path, lambda connection: filling.keep(connection, name, filled, self._cache))

    async def _timed(self, texts: Sequence[str], embedder: Embedder) -> list[Vector]:
        """Embed a few texts and take note of the time. Raises EmbedFailed."""
        began = time.monotonic()
        found = await self._bitten(texts, embedder)
        self.rate.add(len(texts), time.monotonic() - began)
        self.embedded += len(texts)
        self.trouble = None
        return found

    async def _bitten(self, texts: Sequence[str], embedder: Embedder) -> list[Vector]:
        """Embed a few texts; one that the model fails at again and again has no direction in the end."""
        try:
            return await embedder.embed(texts, query=False)
        except EmbedFailed as failed:
            if failed.final or embedder.model.remote or not self.embedded:
                raise
        found: list[Vector] = []
        for text in texts:
            try:
                found += await embedder.embed([text], query=False)
            except EmbedFailed as failed:
                self._failures[text] += 1
                if self._failures[text] < _ATTEMPTS:
                    raise
                log.warning("vectors: a text is left without one: %s", failed.message)
                found.append(bytes(embedder.model.dimensions))
        return found

    async def _step_aside(self) -> None:
        """Wait while somebody waits for an answer, for a while."""
        for _ in range(_GLANCES):
            if not self._busy():
                return
            await asyncio.sleep(_GLANCE_S)

    async def _write(self, index: Index, path: str, job: Callable[[WriterConnection], object]) -> None:
        """Run a job on the file, unless it was closed or another one took its place: nothing may open it again."""
        if index.index_path == path and any(one is index for one in self._indexes()):
            await self._submit(path, job)

    async def _submit(self, path: str, job: Callable[[WriterConnection], object]) -> None:
        await asyncio.wrap_future(self._writer.submit(path, job, urgent=False))


def _slice(snapshot: Snapshot, files: Sequence[int], longest_bytes: int) -> tuple[list[Passage], list[int]]:
    """Return the passages of the first files, about a slice of them, and the files that are left."""
    found: list[Passage] = []
    for place, file in enumerate(files):
        found += filling.passages(snapshot, file, longest_bytes)
        if len(found) >= SLICE:
            return found, list(files[place + 1 :])
    return found, []
