"""Read a small file of which nothing is known but its path. Scan thread."""

from __future__ import annotations

import os
import stat

from ctxprotocol.files import open_to_read


def read_regular(path: str, max_bytes: int, *, follow: bool = True) -> bytes | None:
    """Return the bytes of a regular file of at most `max_bytes`; None for anything else.

    Nothing else is opened, for that alone makes some devices act; what takes its place just then is not waited for.
    """
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return None
        descriptor = open_to_read(path, follow=follow)
    except (OSError, ValueError):
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
