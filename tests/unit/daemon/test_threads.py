"""Threads for the file system: fair, few at a time, and never all held up by what hangs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, Future

import pytest

from ctxd import threads
from ctxd.threads import Threads
from tests import processes

SOON_S = 10.0


@pytest.fixture
def go() -> Iterator[threading.Event]:
    """What jobs of a test wait for; set at the end."""
    event = threading.Event()
    yield event
    event.set()


@pytest.fixture
def pool(go: threading.Event) -> Iterator[Threads]:
    """One place, given up after a moment, and three threads."""
    pool = Threads("ctxd-scan", places=1, slow_s=0.01, most=3)
    yield pool
    go.set()
    pool.shutdown()


def test_a_slow_root_holds_up_no_other(pool: Threads, go: threading.Event) -> None:
    """The job behind one that hangs is done all the same."""
    hanging = pool.submit(go.wait)
    assert pool.submit(int, "7").result(SOON_S) == 7
    assert not hanging.done()


def test_jobs_are_served_in_their_order(pool: Threads) -> None:
    """Nobody overtakes: with one place they are done one after the other."""
    done: list[int] = []
    for job in [pool.submit(done.append, number) for number in range(50)]:
        job.result(SOON_S)
    assert done == list(range(50))


def test_no_more_work_than_there_are_places(go: threading.Event) -> None:
    """Each thread that computes delays the loop: the second job waits while the first is not slow."""
    patient = Threads("ctxd-scan", places=1, slow_s=3600, most=3)
    began = threading.Event()
    first = patient.submit(lambda: (began.set(), go.wait()))
    assert began.wait(SOON_S)
    second: Future[object] = patient.submit(object)
    assert second.cancel()
    go.set()
    first.result(SOON_S)
    patient.shutdown()


def test_threads_are_bounded(pool: Threads, go: threading.Event) -> None:
    """When as many roots hang as there are threads, the next job waits; those too many end when they are idle."""
    hanging = [pool.submit(go.wait) for _ in range(3)]
    waiting = pool.submit(int, "7")
    go.set()
    assert waiting.result(SOON_S) == 7 and all(job.result(SOON_S) for job in hanging)
    processes.wait_until(lambda: len(pool._threads) == 1, SOON_S, "one thread is left")
    assert pool.submit(int, "8").result(SOON_S) == 8


def test_an_error_belongs_to_who_waits(pool: Threads) -> None:
    """And the thread goes on."""
    with pytest.raises(ValueError, match="seven"):
        pool.submit(int, "seven").result(SOON_S)
    assert pool.submit(int, "7").result(SOON_S) == 7


def test_the_end_does_not_wait_for_what_hangs(
    pool: Threads, go: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead file system must not keep the daemon from ending; what is queued is cancelled."""
    monkeypatch.setattr(threads, "JOIN_S", 0.01)
    narrow = Threads("ctxd-scan", places=1, slow_s=3600, most=1)
    began = threading.Event()
    narrow.submit(lambda: (began.set(), go.wait()))
    assert began.wait(SOON_S)
    queued: Future[object] = narrow.submit(object)
    narrow.shutdown(cancel_futures=True)
    with pytest.raises(CancelledError):
        queued.result(SOON_S)
    with pytest.raises(RuntimeError):
        narrow.submit(object)
    go.set()
    narrow._threads[0].join(SOON_S)
