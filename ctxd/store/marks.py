"""What an index file says of itself beside its rows: whether the first index ever came to its end."""

from __future__ import annotations

import apsw

from ctxd.store.snapshot import Snapshot


def mark_complete(connection: apsw.Connection) -> None:
    """Note that every file of the worktree has been taken in once; in the writer thread."""
    connection.execute("INSERT OR REPLACE INTO meta VALUES ('complete', 1)")


def is_complete(snapshot: Snapshot) -> bool:
    """Say whether the first index came to its end; a file without the mark is half an index."""
    return snapshot.connection.execute("SELECT 1 FROM meta WHERE key = 'complete'").get is not None
