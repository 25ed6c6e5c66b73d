"""The daemon's housekeeping: it goes on whatever it meets."""

from __future__ import annotations

import asyncio
import logging
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from ctxd import daemon
from ctxd.config import ConfigFile
from ctxd.instance import Instance


class Listening:
    """Takes the place of the server; counts the sockets that it was given."""

    last_request = float("inf")
    answered = 0

    def __init__(self) -> None:
        self.given = asyncio.Event()

    async def listen(self, listener) -> None:
        listener.close()
        self.given.set()

    def stop_accepting(self) -> None:
        """There is nothing to stop."""

    def running(self) -> int:
        return 0


class Nothing:
    """Worktrees of which none is open, a pool that has parsed nothing, and readers of which some have closed."""

    closed = 0

    def __init__(self) -> None:
        pool = SimpleNamespace(stats=lambda: SimpleNamespace(parsed=0))
        self.machinery = SimpleNamespace(pool=pool, readers=SimpleNamespace(released=lambda: self.closed))

    async def close_unasked(self, before_ns: int) -> None:
        assert before_ns > 0


def test_a_place_that_cannot_be_bound_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Someone put a directory where the socket was: once that is gone, the daemon listens again."""
    monkeypatch.setattr(daemon, "BEAT_S", 0.01)
    instance = Instance(str(tmp_path / "s"))

    async def main() -> None:
        house = daemon._Daemon.__new__(daemon._Daemon)
        config = ConfigFile(str(tmp_path / "none.toml"))
        vars(house).update(_instance=instance, _server=(server := Listening()), _config=config)
        vars(house).update(_idle_exit=False, _stopping=asyncio.Event(), _worktrees=Nothing(), _done=0)
        vars(house).update(_applied=config.last_good(), _place="")
        instance.listen({})[0].close()
        os.unlink(instance.socket_path)
        os.mkdir(instance.socket_path)
        keeping = asyncio.create_task(house._keep_house())
        done, _ = await asyncio.wait({keeping}, timeout=0.1)
        assert not done
        os.rmdir(instance.socket_path)
        await asyncio.wait_for(server.given.wait(), 5)
        keeping.cancel()

    asyncio.run(main())
    assert os.path.exists(instance.socket_path)
    instance.release()


def test_memory_is_given_back_once_after_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not while somebody asks, and not again when nothing was done since."""
    given: list[int] = []
    monkeypatch.setattr(daemon.heap, "give_back", lambda: given.append(1))
    house = daemon._Daemon.__new__(daemon._Daemon)
    server = SimpleNamespace(answered=3, running=lambda: 0, last_request=time.monotonic())
    vars(house).update(_server=server, _worktrees=Nothing(), _done=0)

    house._give_back()
    while_asked = len(given)
    server.last_request -= 2 * daemon.CALM_S
    house._give_back()
    house._give_back()

    assert (while_asked, len(given)) == (0, 1)


def test_memory_is_given_back_again_when_the_readers_have_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their caches are freed half a minute after the last question, between what was given back before."""
    given: list[int] = []
    monkeypatch.setattr(daemon.heap, "give_back", lambda: given.append(1))
    house = daemon._Daemon.__new__(daemon._Daemon)
    server = SimpleNamespace(answered=3, running=lambda: 0, last_request=time.monotonic() - 2 * daemon.CALM_S)
    vars(house).update(_server=server, _worktrees=(worktrees := Nothing()), _done=0)

    house._give_back()
    worktrees.closed = 1
    house._give_back()
    house._give_back()

    assert len(given) == 2


def test_level_and_cache_size_count_when_the_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody need restart the daemon to see more in its log."""
    root, bounds = logging.getLogger(), list[int]()
    monkeypatch.setattr(root, "level", logging.INFO)
    file = tmp_path / "c.toml"
    config = ConfigFile(str(file))
    house = daemon._Daemon.__new__(daemon._Daemon)
    machinery = SimpleNamespace(cache=SimpleNamespace(bound=bounds.append))
    worktrees = SimpleNamespace(machinery=machinery, open={})
    vars(house).update(_config=config, _applied=config.last_good(), _worktrees=worktrees, _errands=set())

    file.write_text('daemon.log_level = "debug"\ndaemon.cache_bytes = 5000000\n')
    house._look_at_configuration()

    assert (root.level, bounds) == (logging.DEBUG, [5_000_000])


def test_the_log_rotates_and_stays_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few files of bounded size, for this user alone, whatever is logged."""
    monkeypatch.setattr(daemon, "LOG_BYTES", 10_000)
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    umask = os.umask(0o077)
    try:
        daemon._log_to(str(tmp_path / "ctxd.log"), "info")
        for number in range(2_000):
            logging.getLogger("ctxd").info("line %d", number)
        root.handlers[0].close()
    finally:
        root.handlers[:], root.level = before, level
        os.umask(umask)

    found = {path.name: path.stat() for path in tmp_path.iterdir()}
    assert sorted(found) == ["ctxd.log", "ctxd.log.1", "ctxd.log.2"]
    assert all(each.st_size <= 10_000 and each.st_mode & 0o077 == 0 for each in found.values())
    assert "line 1999" in (tmp_path / "ctxd.log").read_text()
