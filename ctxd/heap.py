"""The C library's heap under all threads of the daemon: how it is shared, and that what is free goes back.

Owned by daemon; called on the main thread. glibc's own affair: elsewhere both functions do nothing.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc

# mallopt(3)
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD, _M_ARENA_MAX = -1, -3, -8
# Larger blocks are maps of their own, which go back when they are freed; and no more stays free at an arena's end.
_LARGE_BYTES = 1 << 20


def share() -> None:
    """Let all threads use two arenas, and keep little at their ends. To be called before there are any.

    By default each thread has its own: 64 MB of addresses each, and what one thread frees is of no use to the others.
    Python's lock has most of them wait for each other anyway. And by default, once a block of 24 MB was freed, smaller
    ones come from the arenas, and up to 48 MB stay free at the end of each: malloc_trim passes over that of the second
    (10 MB after two rebuilds of 5,000 files).
    """
    with contextlib.suppress(OSError, AttributeError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_ARENA_MAX, 2)
        mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _LARGE_BYTES)


def give_back() -> None:
    """Return free pages to the system: some milliseconds, and after a bulk of parsing half of what was held."""
    gc.collect()
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
