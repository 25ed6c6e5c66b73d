"""Standard output of a command that goes on until it is stopped: `watch`, `logs -f`.

Runs in the client process. Each line is out at once, and a reader that went away ends the command, also while there
is nothing to write.
"""

from __future__ import annotations

import os
import select
import sys
import time

# Windows: how soon whoever waits for ever looks again.
LOOK_S = 0.5


class ReaderGone(Exception):
    """Nobody reads our standard output any more."""


def say(line: str) -> None:
    """Write a line to standard output, whole. Raises ReaderGone, OSError."""
    view = memoryview(line.encode("utf-8", "backslashreplace"))
    while view:
        try:
            view = view[os.write(1, view) :]
        except BrokenPipeError:
            raise ReaderGone from None
        except BlockingIOError:
            select.select([], [1], [])


def wait(descriptor: int = -1, wait_ms: int | None = None) -> None:
    """Wait until `descriptor` can be read or `wait_ms` have passed (None: as long as it takes). Raises ReaderGone."""
    if sys.platform == "win32":
        # Nothing tells there that the reader of a pipe went; the next line that is written will.
        time.sleep(wait_ms / 1e3 if wait_ms is not None else LOOK_S)
        return
    poll = select.poll()
    poll.register(1, 0)  # a pipe whose reader went says so unasked
    if descriptor >= 0:
        poll.register(descriptor, select.POLLIN)
    if any(ready == 1 for ready, _ in poll.poll(wait_ms)):
        raise ReaderGone
