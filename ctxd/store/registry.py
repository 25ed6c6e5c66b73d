"""registry.db: which worktrees are attached and which index file of each is current. It alone has migrations.

Read once by `open`, before the loop runs; afterwards its entries live on the event loop, and changes go
through the writer thread.
"""

from __future__ import annotations

import msgspec

from ctxd.store.writer import Writer


class Entry(msgspec.Struct, frozen=True):
    """One attached worktree. `root` may hold surrogate escapes; `index_file` is relative to the state
    directory.

    `explicit`: named by `ctx init`. Times are wall clock in nanoseconds.
    """

    root: str
    identity: str
    index_file: str
    explicit: bool
    attached_ns: int
    last_used_ns: int


class Registry:
    """The attached worktrees of one state directory; event loop only, but for open()."""

    @classmethod
    def open(cls, state_dir: str, writer: Writer) -> Registry:
        """Read the registry, made or migrated where needed, and remove index files that no entry names;
        blocks.

        Raises IndexUnusable for a registry of a newer version, before anything is written.
        """
        raise NotImplementedError

    def entries(self) -> tuple[Entry, ...]:
        """Return the entries, last used first."""
        raise NotImplementedError

    def get(self, root: str) -> Entry | None:
        """Return the entry of exactly this root."""
        raise NotImplementedError

    def index_path(self, entry: Entry) -> str:
        """Return the absolute path of the entry's current index file; "" when it has none yet."""
        raise NotImplementedError

    def next_index_file(self, root: str) -> str:
        """Return a name (relative to the state directory) that no index file of this root has had."""
        raise NotImplementedError

    async def attach(self, root: str, identity: str, *, explicit: bool) -> Entry:
        """Record a worktree, or update what is known of it (an explicit one stays so)."""
        raise NotImplementedError

    async def set_index(self, root: str, index_file: str) -> Entry:
        """Move the pointer to another index file; committed when it returns."""
        raise NotImplementedError

    async def touch(self, root: str) -> None:
        """Note that the worktree was used now; written at most every ten minutes."""
        raise NotImplementedError

    async def forget(self, root: str) -> None:
        """Remove the entry; its files go with remove_index or at the next start."""
        raise NotImplementedError
