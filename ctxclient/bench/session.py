"""One conversation with the daemon, kept open over thousands of questions. Runs in the client process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from types import TracebackType

import msgspec

from ctxclient import client, transport
from ctxclient.bench.answers import Text, parsed
from ctxclient.bench.datasets import Span
from ctxprotocol import endpoint
from ctxprotocol.errors import DaemonUnreachable
from ctxprotocol.messages import (
    Answer,
    AnyRequest,
    DaemonStatus,
    Features,
    Find,
    Forget,
    Init,
    Query,
    Status,
    Symbols,
    Tokens,
    Update,
)

# A first index of the largest repositories takes minutes.
INDEX_MS = 3_600_000
# How often it is asked how far vectors are: who asks holds them up.
VECTORS_S = 1.0


class Row(msgspec.Struct, frozen=True):
    """What of a result in JSON counts here."""

    file: str
    line_start: int
    line_end: int
    name: str = ""
    summary: str = ""


class Stats(msgspec.Struct, frozen=True):
    """What of the figures of an answer counts here."""

    search_ms: float = 0.0
    tokens: int = 0


class Found(msgspec.Struct, frozen=True):
    """An answer in JSON."""

    results: tuple[Row, ...] = ()
    stats: Stats = Stats()

    @property
    def places(self) -> tuple[Span, ...]:
        """The results as places."""
        return tuple(Span(row.file, row.line_start, row.line_end) for row in self.results)


class Indexed(msgspec.Struct, frozen=True):
    """What an index holds after `init` or `update`; `changed` files were taken in, `took_ms` it lasted."""

    root: str
    files: int = 0
    chunks: int = 0
    changed: int = 0
    took_ms: float = 0.0


class Vectors(msgspec.Struct, frozen=True):
    """What of `vectors` of a status counts here."""

    state: str = "off"
    model: str = ""
    chunks: int = 0
    done: int = 0
    per_s: float | None = None
    reason: str = ""
    hint: str = ""


class _Status(msgspec.Struct, frozen=True):
    vectors: Vectors = Vectors()


class _Uptime(msgspec.Struct, frozen=True):
    uptime_s: float


class Session:
    """Asks the daemon, one question after the other. Owns the connection; closed by `with`.

    A worktree is named by its root, so that no repository around the cache is meant.
    """

    def __init__(self, without: Sequence[str] = ()) -> None:
        self.without = tuple(without)
        # As `--semantic` and `--no-semantic`; None leaves it to the daemon.
        self.semantic: bool | None = None
        self._connection: client.Connection | None = None

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._close()

    def init(self, root: str) -> Indexed:
        """Attach exactly `root`, wait until it is indexed and say what there is."""
        return self._indexed(Init(directory=os.fsencode(root), output="json", timeout_ms=INDEX_MS))

    def update(self, directory: str) -> Indexed:
        """Bring the worktree around a directory up to date and say what there is."""
        return self._indexed(Update(directory=os.fsencode(directory), chosen=True, output="json", timeout_ms=INDEX_MS))

    def forget(self, root: str) -> None:
        """Detach a worktree and delete its index."""
        self.ask(Forget(directory=os.fsencode(root)))

    def find(self, root: str, text: str, limit: int) -> Found:
        """Return the ranked places for a text."""
        place = os.fsencode(root)
        request = Find(
            directory=place,
            root=place,
            text=text,
            limit=limit,
            output="json",
            without=self.without,
            semantic=self.semantic,
        )
        return msgspec.json.decode(self.ask(request).out, type=Found)

    def query(self, root: str, text: str, budget: int) -> Text:
        """Return the compiled text for a question, as an agent gets it."""
        place = os.fsencode(root)
        request = Query(
            directory=place, root=place, text=text, budget=budget, without=self.without, semantic=self.semantic
        )
        return parsed(self.ask(request).out)

    def vectors(self, root: str, report: Callable[[int, int], None]) -> Vectors:
        """Wait until every chunk has its vector, or until something is in the way; return how far they are."""
        while True:
            place = os.fsencode(root)
            answer = self.ask(Status(directory=place, root=place, output="json"))
            found = msgspec.json.decode(answer.out, type=_Status).vectors
            report(found.done, found.chunks)
            if found.state != "partial" or found.reason:
                return found
            time.sleep(VECTORS_S)

    def symbols(self, root: str, limit: int) -> Found:
        """Return the definitions of a worktree."""
        place = os.fsencode(root)
        request = Symbols(directory=place, root=place, limit=limit, output="json")
        return msgspec.json.decode(self.ask(request).out, type=Found)

    def tokens(self, *texts: str) -> list[int]:
        """Return how many tokens each text has by the daemon's count."""
        return [int(line) for line in self.ask(Tokens(texts=texts)).out.split()]

    def features(self, names: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the parts of a score that `names` mean, all for none. Raises UsageFailed for an unknown one."""
        return tuple(self.ask(Features(names=tuple(names))).out.splitlines())

    def began(self) -> float:
        """Return when the daemon started, in seconds since 1970."""
        answer = self.ask(DaemonStatus(output="json"))
        return time.time() - msgspec.json.decode(answer.out, type=_Uptime).uptime_s

    def ask(self, request: AnyRequest) -> Answer:
        """Return the answer; a daemon is started or replaced as for any command. Raises CtxError."""
        if self._connection is not None:
            try:
                return client.proceed(self._connection, request)
            except client.HungUp:  # it was replaced meanwhile
                self._close()
        return self._begin(request)

    def _indexed(self, request: Init | Update) -> Indexed:
        return msgspec.json.decode(self.ask(request).out, type=Indexed)

    def _begin(self, request: AnyRequest) -> Answer:
        client.ask(DaemonStatus())
        connected = transport.dial(endpoint.socket_path(endpoint.state_directory(os.environ)))
        if connected is None:
            raise DaemonUnreachable("the daemon ended during the run", "its log says why: ctx daemon logs")
        self._connection = client.Connection(connected)
        return client.converse(self._connection, request)

    def _close(self) -> None:
        if self._connection is not None:
            self._connection.__exit__(None, None, None)
            self._connection = None
