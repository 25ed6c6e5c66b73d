"""The heap after heavy work, in a process of its own: what was freed is the system's again."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ctxd import heap

# A thread frees a large block, then as many small ones as SQLite has pages: all lie at the end of the second arena.
WORK = """
import ctypes, threading
from ctxd import heap

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.free.argtypes = ctypes.c_void_p, [ctypes.c_void_p]

def resident():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon:"))

def work():
    libc.free(libc.malloc(24 << 20))
    blocks = [libc.malloc(4368) for _ in range(4_000)]
    for block in blocks:
        libc.memset(ctypes.c_void_p(block), 1, 4368)
    print(resident() - before)
    for block in blocks:
        libc.free(block)

heap.share()
before = resident()
thread = threading.Thread(target=work)
thread.start()
thread.join()
heap.give_back()
print(resident() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the heap of glibc")
def test_what_a_thread_has_freed_is_given_back() -> None:
    """All but the little that may stay at an arena's end."""
    done = subprocess.run([sys.executable, "-c", WORK], check=True, capture_output=True, text=True)
    used, left = (int(line) << 10 for line in done.stdout.split())

    assert used > 16 << 20
    assert left < 2 * heap._LARGE_BYTES
