"""What the daemon and its children ask of the system for their own process, and how each platform does it.

A leaf: the children load it, and they load no loop. What Windows does here no machine has run.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio

if sys.platform == "win32":
    # Nothing there ends a process by the processor time it took; the daemon's own clock does.
    ALARM_EXIT: int | None = None
else:
    ALARM_EXIT = -signal.SIGPROF


def on_end(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> None:
    """Have `call` called on the loop when the process is asked to end: by a signal, or by Ctrl-C and Ctrl-Break."""
    if sys.platform == "win32":
        for number in (signal.SIGINT, signal.SIGBREAK, signal.SIGTERM):
            signal.signal(number, lambda *_: loop.call_soon_threadsafe(call))
    else:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, call)


def be_nice(by: int) -> None:
    """Give way to others from now on."""
    if sys.platform == "win32":
        import psutil

        psutil.Process().nice(psutil.BELOW_NORMAL_PRIORITY_CLASS)
    else:
        os.nice(by)


def set_alarm(cpu_s: float) -> None:
    """End this process once it has taken so much processor time from now, also when nobody is left to end it."""
    if sys.platform != "win32":
        # Not caught on purpose: a handler would wait for the parser to return.
        signal.setitimer(signal.ITIMER_PROF, cpu_s)


def bound_memory(size_bytes: int) -> None:
    """Make an allocation beyond `size_bytes` of address space fail; not on Windows, and on macOS where it can be."""
    if sys.platform != "win32":
        import resource

        _, hard = resource.getrlimit(resource.RLIMIT_AS)
        if hard != resource.RLIM_INFINITY:
            size_bytes = min(size_bytes, hard)
        try:
            resource.setrlimit(resource.RLIMIT_AS, (size_bytes, hard))
        except (ValueError, OSError):
            # Some versions of macOS take no such limit; a worker without it is better than none.
            if sys.platform == "linux":
                raise


def no_core_dumps() -> None:
    """Leave no core file: it would hold source text and whatever stood in it. Windows leaves none unasked."""
    if sys.platform != "win32":
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))


def home() -> str:
    """Return this user's home by the user database, "" for none: the environment's comes with each request."""
    if sys.platform == "win32":
        return os.path.expanduser("~")
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:
        return ""
