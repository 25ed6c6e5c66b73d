"""How a file is opened on this platform: never inherited, never waited for, its bytes as they are.

Both sides use it, any thread. Windows has neither O_NOFOLLOW nor FIFOs to wait for, and opens as text unless told.
"""

from __future__ import annotations

import errno
import os
import sys

if sys.platform == "win32":
    OWN = os.O_NOINHERIT | os.O_BINARY
    NO_FOLLOW = NO_WAIT = 0
else:
    OWN = os.O_CLOEXEC
    NO_FOLLOW, NO_WAIT = os.O_NOFOLLOW, os.O_NONBLOCK


def open_to_read(path: str | bytes, *, follow: bool) -> int:
    """Return a descriptor; what is no regular file may come, too. Raises OSError, ELOOP for a link unless `follow`."""
    if not follow and not NO_FOLLOW and os.path.islink(path):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    return os.open(path, os.O_RDONLY | OWN | NO_WAIT | (0 if follow else NO_FOLLOW))


def read_at(descriptor: int, size: int, offset: int) -> bytes:
    """Return at most `size` bytes from `offset` on. For one thread per descriptor."""
    if sys.platform != "win32":
        return os.pread(descriptor, size, offset)
    os.lseek(descriptor, offset, os.SEEK_SET)
    return os.read(descriptor, size)
