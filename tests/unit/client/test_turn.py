"""Clients that find no daemon: one goes on to start it, the others wait with nothing loaded."""

from __future__ import annotations

import fcntl
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctxclient import turn


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A state directory; whatever turn was taken in it is given back."""
    monkeypatch.setenv("CTX_HOME", str(tmp_path / "s"))
    yield str(tmp_path / "s")
    if turn._held >= 0:
        os.close(turn._held)
        turn._held = -1


def take(state: str) -> int:
    os.makedirs(state, mode=0o700, exist_ok=True)
    descriptor = os.open(f"{state}/turn.lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return descriptor


def refuse() -> socket.socket:
    raise ConnectionRefusedError


def test_the_first_keeps_the_turn_until_it_ends(state: str) -> None:
    """Nobody else gets it while the daemon is being started."""
    assert turn.wait(state, refuse) is None

    descriptor = os.open(f"{state}/turn.lock", os.O_RDWR)
    with pytest.raises(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(descriptor)


def test_the_others_get_the_daemon_that_the_first_starts(state: str) -> None:
    """They look again and again, and take what answers."""
    held, ends, looks = take(state), socket.socketpair(), []

    def dial() -> socket.socket:
        looks.append(1)
        if len(looks) < 3:
            raise FileNotFoundError
        return ends[0]

    assert turn.wait(state, dial) is ends[0]
    assert len(looks) == 3
    for each in ends:
        each.close()
    os.close(held)


def test_a_turn_that_comes_back_without_a_daemon_is_taken(state: str) -> None:
    """The first one failed or was killed: the next one tries, and says why it fails."""
    held, looks = take(state), []

    def dial() -> socket.socket:
        looks.append(1)
        if len(looks) == 2:
            os.close(held)
        raise FileNotFoundError

    assert turn.wait(state, dial) is None
    assert turn._held >= 0


def test_the_turn_ends_when_a_daemon_answers(state: str) -> None:
    """A client that lives for days must not keep the others waiting when the daemon has to be started again."""
    assert turn.wait(state, refuse) is None

    turn.end()
    turn.end()

    os.close(take(state))


def test_asking_for_the_daemons_status_waits_for_nobody(state: str) -> None:
    """It never starts a daemon, so it has no turn to wait for."""
    held = take(state)
    done = subprocess.run(
        [sys.executable, "-m", "ctxclient.fast", "daemon", "status"], check=False, capture_output=True, timeout=10
    )
    os.close(held)

    assert done.returncode == 3
