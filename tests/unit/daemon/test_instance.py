"""One daemon per state directory, and its socket."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ctxd.instance import AlreadyRunning, Instance, notify, passed_socket


@pytest.fixture
def state(tmp_path: Path) -> str:
    return str(tmp_path / "s")


def test_the_lock_is_held_for_life_and_by_one(state: str) -> None:
    """B051, B055: a second start finds the first, whatever happens to files in the directory."""
    first = Instance(state)
    for name in os.listdir(state):
        os.unlink(os.path.join(state, name))
    with pytest.raises(AlreadyRunning):
        Instance(state)
    first.release()
    Instance(state).release()


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_socket_and_directory_are_private_from_the_first_instant(state: str, umask: int) -> None:
    """Whatever umask the starter had; nothing is opened up and closed again afterwards."""
    before = os.umask(umask)
    try:
        instance = Instance(state)
        listener, passed = instance.listen({})
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(os.lstat(path).st_mode) for path in (state, instance.socket_path)]
    listener.close()
    instance.release()
    assert (modes, passed) == ([0o700, 0o600], False)


def test_a_dead_daemons_socket_is_taken_over(state: str) -> None:
    """The lock is ours, so whoever bound it is gone."""
    first = Instance(state)
    first.listen({})[0].close()
    first.release()
    second = Instance(state)
    listener, _ = second.listen({})
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(second.socket_path)
    second.unbind()
    assert not os.path.exists(second.socket_path)
    listener.close()
    second.release()


def test_a_long_path_leaves_nothing_in_the_short_place(tmp_path: Path) -> None:
    """The directory that a long path's socket has to itself goes with it."""
    instance = Instance(str(tmp_path / ("d" * 120)))
    listener, _ = instance.listen({})
    short = os.path.dirname(instance.socket_path)
    assert short != instance.state_directory and os.path.isdir(short)
    instance.unbind()
    assert not os.path.exists(short)
    listener.close()
    instance.release()


def test_what_is_no_socket_is_not_removed(state: str) -> None:
    """A file of the user at our path is left alone and named."""
    instance = Instance(state)
    Path(instance.socket_path).write_text("mine")
    with pytest.raises(FileExistsError):
        instance.listen({})
    assert Path(instance.socket_path).read_text() == "mine"
    instance.release()


def test_a_successors_socket_is_never_unlinked(state: str) -> None:
    """B051: somebody else's socket at our path is noticed and left."""
    instance = Instance(state)
    listener, _ = instance.listen({})
    assert not instance.socket_lost()
    os.unlink(instance.socket_path)
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(instance.socket_path)
        assert instance.socket_lost()
        instance.unbind()
        assert os.path.exists(instance.socket_path)
    listener.close()
    instance.release()


def test_a_replaced_state_directory_is_noticed(state: str) -> None:
    """Its lock means nothing any more: the daemon has to go."""
    instance = Instance(state)
    assert not instance.directory_lost()
    os.rename(state, state + "2")
    os.mkdir(state)
    assert instance.directory_lost()
    instance.release()


def test_a_passed_socket_counts_only_for_the_process_it_names(state: str) -> None:
    """LISTEN_FDS of a parent that leaked its environment is not ours."""
    assert passed_socket({}) is None
    assert passed_socket({"LISTEN_PID": "1", "LISTEN_FDS": "1"}) is None
    assert passed_socket({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "no"}) is None


def test_a_passed_descriptor_that_does_not_listen_is_refused(tmp_path: Path) -> None:
    """A misconfigured unit is told, not served."""
    script = (
        "import os, socket; from ctxd.instance import passed_socket\n"
        "pair = socket.socketpair(); os.dup2(pair[0].fileno(), 3)\n"
        "try: passed_socket({'LISTEN_PID': str(os.getpid()), 'LISTEN_FDS': '1'})\n"
        "except OSError as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "descriptor 3 from LISTEN_FDS is not a listening Unix socket\n"


@pytest.mark.parametrize("abstract", [False, True])
def test_readiness_goes_to_the_service_manager(tmp_path: Path, abstract: bool) -> None:
    """Both forms of NOTIFY_SOCKET."""
    address = f"@ctx-test-{os.getpid()}" if abstract else str(tmp_path / "n")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
        manager.bind("\0" + address[1:] if abstract else address)
        notify({"NOTIFY_SOCKET": address}, "READY=1")
        assert manager.recv(64) == b"READY=1"
    notify({}, "READY=1")


def test_a_service_manager_that_is_gone_is_no_fault(tmp_path: Path) -> None:
    """A sandbox inside a service inherits the variable and cannot reach the socket."""
    notify({"NOTIFY_SOCKET": str(tmp_path / "gone")}, "READY=1")
