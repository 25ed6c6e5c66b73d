"""Parse results by the digest of what they were made from, one file per machine, bounded in bytes.

Owned by the writer thread, which reads and writes it while it applies a batch; only `have` is asked on the
event loop and answered by a reader thread. Losing it costs time and nothing else: damage is answered by
starting anew.
"""

from __future__ import annotations

from collections.abc import Sequence

from ctxd.store.readers import Readers

MAX_BYTES = 2 << 30


class Cache:
    """The cache of one state directory."""

    def __init__(self, state_dir: str, readers: Readers, *, max_bytes: int = MAX_BYTES) -> None:
        raise NotImplementedError

    async def have(self, keys: Sequence[bytes]) -> frozenset[bytes]:
        """Return those of `keys` that have an entry now; on the event loop. Never fails: no cache, no
        keys."""
        raise NotImplementedError

    def get(self, key: bytes) -> bytes | None:
        """Return the entry of `key` and mark it used; writer thread."""
        raise NotImplementedError

    def put(self, key: bytes, blob: bytes) -> None:
        """Keep `blob` under `key`, in memory until the next flush; writer thread."""
        raise NotImplementedError

    def flush(self) -> None:
        """Write what was put and drop what is too much; writer thread."""
        raise NotImplementedError

    def close(self) -> None:
        """Flush and close; writer thread."""
        raise NotImplementedError
