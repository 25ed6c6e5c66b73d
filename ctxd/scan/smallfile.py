"""Read a small file of which nothing is known but its path. Scan thread."""

from __future__ import annotations

import os
import stat


def read_regular(path: str, max_bytes: int, flags: int = 0) -> bytes | None:
    """Return the bytes of a regular file of at most `max_bytes`; None for anything else. Never waits on a FIFO."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | flags)
    except OSError:
        return None
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode) or found.st_size > max_bytes:
            return None
        return os.read(descriptor, max_bytes)
    except OSError:
        return None
    finally:
        os.close(descriptor)
