"""The watcher of one worktree: read by the loop, renewed after a loss, tried again where it could not be had.

Owned by the worktree; runs on the loop.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable

from ctxd.model import FileEvent, Overflow
from ctxd.survey import Watch
from ctxd.watch.watcher import Watcher

OpenWatcher = Callable[[str], Watcher]
TakeIn = Callable[[FileEvent | Overflow], None]

# Events that one turn of the loop takes in: about 10 ms, then requests get theirs.
DRAIN_EVENTS = 2_000
# A limit may be raised and a permission given: a new watcher is tried so long after the last one failed, each time
# after twice as long. A try costs what watching all directories costs, 20,000 of them half a second.
RETRY_S, LONGEST_RETRY_S = 60.0, 3_600.0


class Lookout:
    """See the module. Events go to `take_in`; who renews or retries has the tree compared afterwards."""

    def __init__(self, root: str, open_watcher: OpenWatcher, take_in: TakeIn) -> None:
        self._root = root
        self._open_watcher = open_watcher
        self._take_in = take_in
        self._loop = asyncio.get_running_loop()
        self._pause_s = RETRY_S
        self._retry_at: float | None = None
        # A new watcher after one that proved nothing: where it fails likewise nothing is lost, for scans decided.
        self._on_trial = False
        self.watcher = open_watcher(root)
        self._read()

    def watch(self) -> Watch:
        """Return how a survey has directories and rule files watched."""
        return Watch(self.watcher.add, self.watcher.add_rules)

    async def drain(self) -> None:
        """Take in all that the kernel has queued."""
        while self._drain_slice():  # noqa: ASYNC110  (other requests get their turn between slices)
            await asyncio.sleep(0)

    def renew(self) -> None:
        """Begin with a new event queue: after a loss nothing ties the old watches to their paths any more."""
        if self.watcher.trusted:
            self._replace()

    def retry(self) -> bool:
        """Try a new watcher where the old one met a limit, after a pause; True: the tree has to be compared with it."""
        if self.watcher.trusted or not self.watcher.passing:
            return False
        now = time.monotonic()
        if self._retry_at is None:
            self._retry_at = now + self._pause_s
        if now < self._retry_at:
            return False
        self._retry_at, self._pause_s = None, min(2 * self._pause_s, LONGEST_RETRY_S)
        self._on_trial = True
        self._replace()
        return True

    def proved(self, watcher: Watcher) -> None:
        """The tree was compared, `watcher` being told of every directory before it was listed: its trial is over."""
        if watcher is self.watcher and watcher.trusted:
            self._on_trial = False
            self._pause_s, self._retry_at = RETRY_S, None

    def close(self) -> None:
        """Stop watching."""
        if self.watcher.fileno() >= 0:
            self._loop.remove_reader(self.watcher.fileno())
        self.watcher.close()

    def _replace(self) -> None:
        self.close()
        self.watcher = self._open_watcher(self._root)
        self._read()

    def _read(self) -> None:
        if self.watcher.fileno() >= 0:
            self._loop.add_reader(self.watcher.fileno(), self._drain_slice)
        else:
            self.watcher.listen(self._woken)

    def _woken(self) -> None:
        """Have events taken in soon; called by a watcher's own thread, which may outlive the loop by a moment."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._drain_slice)

    def _drain_slice(self) -> bool:
        """Take in one slice of events; say whether there are more."""
        drained = self.watcher.drain(DRAIN_EVENTS)
        for event in drained.events:
            if not (self._on_trial and isinstance(event, Overflow) and not self.watcher.trusted):
                self._take_in(event)
        return drained.more
