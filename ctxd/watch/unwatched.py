"""The watcher of a place without events: it sees nothing and says so. Owned by the worktree; the main loop."""

from __future__ import annotations

from collections.abc import Callable

from ctxd.watch.watcher import Drained


class Unwatched:
    """A watcher that has no descriptor and proves nothing; `reason` says why there is no other here, `remedy` what
    would help; `passing`: another try may do."""

    trusted = False
    watches = 0
    overflows = 0

    def __init__(self, root: str, reason: str, remedy: str = "", *, passing: bool = False) -> None:
        self.root = root
        self.reason = reason
        self.remedy = remedy
        self.passing = passing

    def fileno(self) -> int:
        """Return -1: there is nothing to wait on."""
        return -1

    def listen(self, wake: Callable[[], object]) -> None:
        """Do nothing: there never is anything to drain."""

    def add(self, directory: str) -> bool:  # noqa: ARG002
        """Return False: nothing is watched."""
        return False

    def add_rules(self, path: str) -> None:
        """Do nothing."""

    def forget_below(self, directory: str) -> None:
        """Do nothing."""

    def drain(self, limit: int = 2000) -> Drained:  # noqa: ARG002
        """Return no events."""
        return Drained((), more=False)

    def close(self) -> None:
        """Do nothing."""
