"""Clients that find no daemon take turns before they load anything: the first goes on to start one, the others wait.

Runs in the client process, late on the hot path. Fifty agents that begin at one instant would else load click, msgspec
and subprocess fifty times, on the same cores as the daemon that they wait for. launch.py has the lock that counts;
this one only keeps the others out of its way.
"""

from __future__ import annotations

import _socket
import os
import sys
import time
from collections.abc import Callable

from ctxprotocol import endpoint

# As long as launch.py waits for its lock; then the client looks for itself and says what is wrong.
WAIT_S = 40.0
PAUSE_S = 0.01

# Held until the daemon answers or this process ends.
_held = -1


def wait(state_dir: str, dial: Callable[[], _socket.socket]) -> _socket.socket | None:
    """Return a connection to the daemon that another client starts, or None when the turn is ours.

    Raises OSError where the lock cannot be had at all.
    """
    global _held  # noqa: PLW0603  (the descriptor is the lock: it must stay open, and nobody else needs it)
    if sys.platform == "win32":
        return None
    import fcntl

    endpoint.make_private(state_dir)
    path = os.path.join(state_dir, "turn.lock")
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + WAIT_S
    while time.monotonic() < deadline:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            ours = False
        else:
            ours = True
        # After the lock, so that a daemon whose starter has just gone is seen.
        try:
            connection = dial()
        except (FileNotFoundError, ConnectionRefusedError):
            if ours:
                _held = descriptor
                return None
            time.sleep(PAUSE_S)
        else:
            os.close(descriptor)
            return connection
    os.close(descriptor)
    return None


def end() -> None:
    """Let go of the turn: a daemon answers. A client that lives for days would else keep it as long."""
    global _held  # noqa: PLW0603  (as above)
    if _held >= 0:
        os.close(_held)
        _held = -1
