"""The C library's heap under all threads of the daemon: how it is shared, and that what is free goes back.

Owned by daemon; called on the main thread. glibc's own affair: elsewhere both functions do nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc

# mallopt(3)
_M_ARENA_MAX = -8


def share() -> None:
    """Let all threads use two arenas. To be called before there are any.

    By default each thread has its own: 64 MB of addresses each, and what one thread frees is of no use to the others.
    Python's lock has most of them wait for each other anyway.
    """
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mallopt(_M_ARENA_MAX, 2)


def give_back() -> None:
    """Return free pages to the system: some milliseconds, and after a bulk of parsing half of what was held."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
