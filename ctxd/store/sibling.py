"""An index file that begins as a copy of another: of a sibling's, or of one whose log is pinned. Scan thread.

A sibling is another worktree of the same repository. The copy of its index believes of no file that it is the one that
was hashed, so the first comparison reads every file and keeps the rows of all that are the same. It is not complete
until then.
"""

from __future__ import annotations

import os

import apsw

from ctxd.store.driver import make_private_directory, open_reader, open_writer, remove, uri
from ctxd.store.schema import SCHEMA_VERSION
from ctxprotocol import files
from ctxprotocol.errors import IndexUnusable

# A row whose stat is like no file's: the size of nothing, changed after it was hashed.
_FORGET = """
BEGIN IMMEDIATE;
UPDATE files SET size_bytes=-1, mtime_ns=0, ctime_ns=0, inode=0, hashed_ns=0;
DELETE FROM meta WHERE key IN ('complete', 'vectored');
UPDATE meta SET value=0 WHERE key='generation';
COMMIT
"""


def copy_index(source: str, target: str, maker: str, *, same_worktree: bool = False) -> bool:
    """Make a new index file at `target` from the sibling's at `source`; False: that one is of no use, or went.

    One of the same worktree is copied as it is, generation and all; nobody may write it meanwhile.

    The copy is one snapshot of a file that may be in use. It is private from the first byte, and either absent or
    whole. Raises FileExistsError: names of index files are never used twice.
    """
    if os.path.lexists(target):
        raise FileExistsError(target)
    draft = target + ".new"
    try:
        make_private_directory(os.path.dirname(target))
        remove(draft)
        if not _is_use(source, maker):
            return False
        # SQLite fills an empty file as it would make one, and leaves its mode alone.
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | files.OWN, 0o600))
        _vacuum(source, draft)
        connection = open_writer(draft)
        try:
            if not same_worktree:
                connection.execute(_FORGET)
            # Closing would do it, too, and pass over what fails: half a file would get the name.
            connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
        finally:
            connection.close()
        remove(target)  # a log that was left behind would be read into the new file
        os.rename(draft, target)
    except (apsw.Error, IndexUnusable, OSError):
        remove(draft)
        return False
    return True


def _is_use(source: str, maker: str) -> bool:
    connection = open_reader(source)
    try:
        if connection.pragma("user_version") != SCHEMA_VERSION:
            return False
        found = connection.execute("SELECT value FROM meta WHERE key='maker'").get
        return found == maker and connection.execute("SELECT 1 FROM meta WHERE key='complete'").get is not None
    finally:
        connection.close()


def _vacuum(source: str, draft: str) -> None:
    # A connection of its own: those of readers may not write anywhere, and end at a deadline.
    connection = apsw.Connection(uri(source, "ro"), flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
    try:
        connection.execute("VACUUM INTO ?", (draft,))
    finally:
        connection.close()
