"""What a daemon holds: descriptors, memory, threads, processor time; before and after."""

from __future__ import annotations

import time

import psutil

from tests.home import Home

# Two, and what two of the four reader threads open when they are first needed: a leak grows with every trial instead.
FD_SLACK = 8
SETTLED_WITHIN_S = 5.0


class Meter:
    """The daemon of a home as it is when this is made. Ask it for the growth since."""

    def __init__(self, home: Home) -> None:
        self.process = psutil.Process(home.pid)
        self.fds = self.process.num_fds()
        self.rss = self.process.memory_info().rss
        self.threads = self.process.num_threads()

    def grown(self, home: Home, bytes_more: int) -> str:
        """Say what has grown beyond its measure, or that the daemon is another one; "" when nothing has."""
        if home.daemons != [self.process.pid]:
            return f"pid {self.process.pid} became {home.daemons}"
        deadline = time.monotonic() + SETTLED_WITHIN_S
        # Connections that their clients have left end when the loop comes to them.
        while abs(self.process.num_fds() - self.fds) > FD_SLACK and time.monotonic() < deadline:
            time.sleep(0.05)
        now = Meter(home)
        if abs(now.fds - self.fds) > FD_SLACK:
            return f"descriptors: {self.fds}, then {now.fds}"
        if now.rss - self.rss > bytes_more:
            return f"memory: {self.rss >> 20} MB, then {now.rss >> 20} MB"
        return ""

    def busy(self, span_s: float) -> float:
        """Return which part of one core the daemon uses during the next `span_s` seconds."""
        before = self.process.cpu_times()
        time.sleep(span_s)
        after = self.process.cpu_times()
        return (after.user + after.system - before.user - before.system) / span_s
