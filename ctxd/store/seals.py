"""The seal of a database that was closed in order: its size and checksum, in a file beside it.

Written by the writer thread when it has closed a file, broken by it before it opens one; read in the scan thread.
SQLite has no checksums of its own: without a seal a flipped bit, another file's log or an old copy put in the place
of a database would be believed.
"""

from __future__ import annotations

import contextlib
import os
import time
import zlib

from ctxprotocol import files

SUFFIX = ".seal"
# The end of a daemon does not wait longer for one file: what has no seal is checked page by page when it is next used.
SEAL_S = 0.5
_READ_BYTES = 4 << 20


def seal(path: str) -> None:
    """Seal a file that is closed; leave it without a seal where that fails or takes too long."""
    with contextlib.suppress(OSError):
        if os.path.exists(path + "-wal") and os.stat(path + "-wal").st_size:
            return  # somebody else has it open, and what is in the log belongs to it
        mark = _mark(path, time.monotonic() + SEAL_S)
        if mark is not None:
            draft = path + SUFFIX + ".new"
            with open(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | files.OWN, 0o600), "wb") as file:
                file.write(mark)
            os.replace(draft, path + SUFFIX)


def unseal(path: str) -> None:
    """Break the seal of a file that is about to be written. Raises OSError: then it must not be."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path + SUFFIX)


def is_sealed(path: str) -> bool:
    """Say whether the file has a seal, right or not."""
    return os.path.exists(path + SUFFIX)


def fits(path: str) -> bool:
    """Say whether a file is what its seal says. Raises OSError."""
    with open(path + SUFFIX, "rb") as file:
        return file.read(64) == _mark(path, None)


def _mark(path: str, until: float | None) -> bytes | None:
    """Return what the seal of the file as it is would hold; None when it is past `until`."""
    checksum, size = 0, 0
    with open(path, "rb", buffering=0) as file:
        while part := file.read(_READ_BYTES):
            if until is not None and time.monotonic() > until:
                return None
            checksum, size = zlib.crc32(part, checksum), size + len(part)
    return b"%08x %d\n" % (checksum, size)
