"""What an agent's session was already sent, so that it is not sent again. Owned by the handlers' services.

Kept in memory only: digests of lines, never their text. Used by reader threads, so everything is under one lock.
What was sent is known again by the text of its lines, wherever they stand in the file now; changed text is new.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Iterable, Iterator

from ctxd.model import Hit
from ctxprotocol.errors import UsageFailed

# Sessions that are remembered, and of each: runs of lines, and bytes of their digests. 128 KiB are 16,000 lines, more
# than an agent's context holds; all together 4 MiB. The longest unused goes first.
MAX_SESSIONS = 32
MAX_RUNS = 2_000
MAX_BYTES = 128 * 1024
# A name of a session that is longer is no name.
MAX_NAME = 200

_DIGEST = 8  # bytes of a line's digest: by chance alike in one of 10^11 answers


class Session:
    """What one session has of one worktree: for each file the runs of lines that were sent, the newest last."""

    def __init__(self) -> None:
        self._runs: OrderedDict[tuple[str, bytes], None] = OrderedDict()
        self._by_file: dict[str, list[bytes]] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def knows(self, hit: Hit) -> bool:
        """Return whether all lines that a hit shows were sent as they are now."""
        runs = list(_runs(hit))
        with self._lock:
            sent = self._by_file.get(hit.file, [])
            return bool(runs) and all(any(_holds(whole, run) for whole in sent) for run in runs)

    def add(self, hits: Iterable[Hit]) -> None:
        """Remember what was sent now."""
        with self._lock:
            for hit in hits:
                for run in _runs(hit):
                    self._add(hit.file, run)
            while self._runs and (len(self._runs) > MAX_RUNS or self._bytes > MAX_BYTES):
                self._forget()

    def _add(self, file: str, run: bytes) -> None:
        key = (file, run)
        if key in self._runs:
            self._runs.move_to_end(key)
            return
        self._runs[key] = None
        self._by_file.setdefault(file, []).append(run)
        self._bytes += len(run) + len(file)

    def _forget(self) -> None:
        (file, run), _ = self._runs.popitem(last=False)
        self._by_file[file].remove(run)
        if not self._by_file[file]:
            del self._by_file[file]
        self._bytes -= len(run) + len(file)


class Sessions:
    """All sessions, by worktree and name, the longest unused first."""

    def __init__(self) -> None:
        self._sessions: OrderedDict[tuple[str, str], Session] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, root: str, name: str) -> Session | None:
        """Return a session of a worktree, a new one where it is not known; None without a name. Raises UsageFailed."""
        if not name:
            return None
        if len(name) > MAX_NAME:
            raise UsageFailed(f"the name of a session has at most {MAX_NAME} characters, not {len(name)}")
        with self._lock:
            found = self._sessions.setdefault((root, name), Session())
            self._sessions.move_to_end((root, name))
            while len(self._sessions) > MAX_SESSIONS:
                self._sessions.popitem(last=False)
            return found


def _holds(whole: bytes, run: bytes) -> bool:
    """Whether a run of lines stands in another one."""
    at = whole.find(run)
    while at >= 0 and at % _DIGEST:
        at = whole.find(run, at + 1)
    return at >= 0


def _runs(hit: Hit) -> Iterator[bytes]:
    """Give the digests of each run of lines that a hit shows."""
    if hit.code is None:
        return
    lines = hit.code.split("\n")
    numbers = hit.lines or range(hit.line_start, hit.line_start + len(lines))
    run, last = b"", None
    for number, text in zip(numbers, lines, strict=False):
        if last is not None and number != last + 1:
            yield run
            run = b""
        run += hashlib.blake2b(text.removesuffix("\r").encode("utf-8", "surrogatepass"), digest_size=_DIGEST).digest()
        last = number
    if run:
        yield run
