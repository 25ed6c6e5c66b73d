"""What a daemon holds: descriptors, memory, threads, processor time; before and after."""

from __future__ import annotations

import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import psutil

from ctxd.store.readers import THREADS
from ctxprotocol.messages import DaemonStatus
from tests.faults.lab import Lab
from tests.home import Home
from tests.link import Link
from tests.processes import wait_until

FD_SLACK = 2
SETTLED_WITHIN_S = 5.0
# Held by each reader thread, and by the writer.
_INDEX = re.compile(r"/index-\d+-\d+\.db$")


def open_readers(lab: Lab) -> None:
    """Ask from many at one time until every reader thread has the index open: it keeps that, and only for itself."""
    process, deadline = psutil.Process(lab.home.pid), time.monotonic() + SETTLED_WITHIN_S
    links = [Link(lab.home.path) for _ in range(2 * THREADS)]
    try:
        with ThreadPoolExecutor(len(links)) as pool:
            while len([one for one in process.open_files() if _INDEX.search(one.path)]) < THREADS + 1:
                assert time.monotonic() < deadline, "some reader thread never took a question"
                list(pool.map(lambda link: link.symbols(lab.tree.root, "*"), links))
    finally:
        for link in links:
            link.close()
    # What was closed here the daemon holds until its loop comes to it; measured now, it would count as held for good.
    wait_until(lambda: _connections(lab) <= 1, SETTLED_WITHIN_S, "the daemon has seen its clients go")


def _connections(lab: Lab) -> int:
    """Return how many connections the daemon holds, that of the lab included."""
    answer = json.loads(lab.link.ask(DaemonStatus(output="json")).out)
    assert isinstance(answer["connections"], int)
    return answer["connections"]


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
