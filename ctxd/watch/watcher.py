"""What a watcher promises, whatever the platform. The main loop owns a watcher and reads it; only `add` is called by
the scan thread as well."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import msgspec

from ctxd.model import FileEvent, Overflow


class Drained(msgspec.Struct, frozen=True):
    """Events in the order of arrival, each once. `more`: the queue was not empty yet when the limit was reached."""

    events: tuple[FileEvent | Overflow, ...]
    more: bool


class Watcher(Protocol):
    """The events of one worktree.

    `trusted` says that events prove freshness here; when it is False, `reason` says why and `remedy` what would help,
    where something would; `passing`: it was a limit or a permission, and another watcher may fare better later. All
    may change when a watch cannot be added.
    """

    root: str

    @property
    def trusted(self) -> bool: ...

    @property
    def reason(self) -> str: ...

    @property
    def remedy(self) -> str: ...

    @property
    def passing(self) -> bool: ...

    @property
    def watches(self) -> int: ...

    @property
    def overflows(self) -> int: ...

    def fileno(self) -> int:
        """Return the descriptor to wait on, -1 when there is none."""

    def listen(self, wake: Callable[[], object]) -> None:
        """Where there is no descriptor: call `wake`, from whatever thread, when there is something to drain."""

    def add(self, directory: str) -> bool:
        """Watch a directory of the worktree; call it before listing the directory. Thread-safe. False: not watched."""

    def add_rules(self, path: str) -> None:
        """Watch a file or directory of git's by absolute path; its events have the kind `head` or `rules`."""

    def forget_below(self, directory: str) -> None:
        """Drop the watches of a directory and of all below it."""

    def drain(self, limit: int = 2000) -> Drained:
        """Return what is queued, about `limit` events at most; never wait."""

    def close(self) -> None:
        """Give everything back to the system. Closing twice is fine."""
