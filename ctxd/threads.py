"""Threads that ask the file system, first come, first served. Owned by whoever makes them.

Few work at a time: Python lets only one of them run anyway, and each more would delay the loop. One that has been at
its job for long is waiting for a disk or a network, or walks a tree of 100,000 files; it then gives its place up, so
that a slow root holds up no other. A thread that never comes back keeps the daemon neither from work nor from ending.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

T = TypeVar("T")
P = ParamSpec("P")

# How long the end waits for a job that runs: git is given up after half a minute, a dead file system never.
JOIN_S = 2.0


class Threads(Executor):
    """The threads; they start when they are needed. As many as there are places stay.

    `places` work at a time; one does not count any more after `slow_s`; `most` may hang at once.
    """

    def __init__(self, name: str, *, places: int, slow_s: float, most: int) -> None:
        self._name = name
        self._places = places
        self._slow_s = slow_s
        self._most = most
        self._condition = threading.Condition()
        self._jobs: deque[tuple[Future[Any], Callable[[], Any]]] = deque()
        self._began: dict[threading.Thread, float] = {}
        self._threads: list[threading.Thread] = []
        self._number = itertools.count()
        self._waiting = 0
        self._ended = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a job. Raises RuntimeError after the end, as executors do."""
        future: Future[T] = Future()
        with self._condition:
            if self._ended:
                raise RuntimeError(f"the threads {self._name} have ended")
            self._jobs.append((future, lambda: fn(*args, **kwargs)))
            while len(self._threads) < self._places:
                self._start()
            if self._waiting < len(self._jobs) and len(self._threads) < self._most:
                self._start()
            self._condition.notify_all()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the threads once their jobs are done, those in the queue too unless they are to be cancelled."""
        with self._condition:
            self._ended = True
            if cancel_futures:
                while self._jobs:
                    self._jobs.popleft()[0].cancel()
            self._condition.notify_all()
        ends = time.monotonic() + JOIN_S
        for thread in tuple(self._threads) if wait else ():
            thread.join(max(0.0, ends - time.monotonic()))

    def _start(self) -> None:
        thread = threading.Thread(target=self._work, name=f"{self._name}-{next(self._number)}", daemon=True)
        self._threads.append(thread)
        # Counted as waiting from here on, or each of some quick jobs would start one more.
        self._waiting += 1
        thread.start()

    def _work(self) -> None:
        me = threading.current_thread()
        with self._condition:
            self._waiting -= 1  # `_next` counts from now on
        while (job := self._next(me)) is not None:
            future, run = job
            try:
                if future.set_running_or_notify_cancel():
                    future.set_result(run())
            except BaseException as error:  # every outcome belongs to whoever waits
                future.set_exception(error)
            finally:
                del job, future, run
                with self._condition:
                    del self._began[me]
                    self._condition.notify_all()

    def _next(self, me: threading.Thread) -> tuple[Future[Any], Callable[[], Any]] | None:
        """Wait for a job and a place; None when this thread is to end."""
        with self._condition:
            self._waiting += 1
            try:
                while not (self._jobs and self._has_place()):
                    if not self._jobs and (self._ended or len(self._threads) > self._places):
                        self._threads.remove(me)
                        return None
                    self._condition.wait(self._until_slow() if self._jobs else None)
            finally:
                self._waiting -= 1
            self._began[me] = time.monotonic()
            return self._jobs.popleft()

    def _has_place(self) -> bool:
        latest = time.monotonic() - self._slow_s
        return sum(began > latest for began in self._began.values()) < self._places

    def _until_slow(self) -> float:
        latest = time.monotonic() - self._slow_s
        return min((began - latest for began in self._began.values() if began > latest), default=self._slow_s)
