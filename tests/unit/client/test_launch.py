"""Starting, replacing and stopping a daemon, against daemons that are a few lines of Python."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from ctxclient import client, launch
from ctxprotocol import endpoint
from ctxprotocol.errors import DaemonUnreachable, EndpointUnsafe, VersionRefused
from ctxprotocol.messages import Answer, Failure, Find, Stop, Welcome

Run = Callable[..., subprocess.CompletedProcess[str]]

# A daemon as it is started: says how, listens, greets and answers until it is stopped. The lock as the real one's.
DAEMON = """
import fcntl, json, os, socket, sys
sys.path[:0] = PATHS
from ctxprotocol import endpoint, framing
from ctxprotocol.messages import Answer, Stop, Welcome
home = os.environ["CTX_HOME"]
lock = os.open(home, os.O_RDONLY)
try:
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    sys.exit(1)
with open(home + "/started", "a") as file:
    links = [f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd")]
    fds = [os.readlink(link) for link in links if os.path.lexists(link)]
    facts = {"cwd": os.getcwd(), "env": dict(os.environ), "session": os.getsid(0) == os.getpid(), "fds": sorted(fds)}
    print(json.dumps(facts), file=file)
listener = socket.socket(socket.AF_UNIX)
listener.bind(endpoint.socket_path(home))
listener.listen(64)
while True:
    peer, _ = listener.accept()
    with peer:
        frames = framing.FrameDecoder(1 << 20).feed(peer.recv(1 << 16))
        request = framing.decode_request(frames[1]) if len(frames) > 1 else None
        if isinstance(request, Stop):
            listener.close()
            os.unlink(endpoint.socket_path(home))
        hello = Welcome(protocol=1, version=endpoint.VERSION, build=endpoint.build(), pid=os.getpid())
        answer = Answer(out=f"from {os.getpid()}\\n")
        peer.sendall(framing.pack(hello) + (framing.pack(answer) if request else b""))
        if isinstance(request, Stop):
            break
"""
FIND = Find(directory=b"/", text="x")


@pytest.fixture
def startable(state: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """`python -m ctxd` leads to a script of this test; returns the script, which DAEMON fills."""
    monkeypatch.delenv("CTX_NO_START")
    script = tmp_path / "daemon.py"
    script.write_text(DAEMON.replace("PATHS", repr([path for path in sys.path if path])))
    real = subprocess.Popen

    def popen(command: list[str], **more: object) -> subprocess.Popen[bytes]:
        assert command[1:] == ["-E", "-P", "-X", "utf8", "-m", "ctxd", "start", "--client"]
        return real([*command[:3], str(script)], **more)  # type: ignore[call-overload,no-any-return]

    monkeypatch.setattr(launch.subprocess, "Popen", popen)
    return script


def reap() -> None:
    """Collect the daemons that have ended; in a real client the system's first process does."""
    for child in psutil.Process().children():
        child.wait(10)


def test_the_first_request_starts_a_daemon(startable: Path, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens: one is started, in a session of its own, holding nothing of ours."""
    monkeypatch.setenv("GIT_DIR", "/x")
    monkeypatch.setenv("PYTHONSTARTUP", "/x")
    monkeypatch.setenv("CTX_SEARCH_LIMIT", "3")
    held = os.open("/dev/null", os.O_RDONLY)
    os.set_inheritable(held, True)
    try:
        answer = client.ask(FIND)
    finally:
        os.close(held)
        launch.stop(state)
        reap()

    started = json.loads(Path(f"{state}/started").read_text())
    assert answer.out.startswith("from ")
    assert started["cwd"] == "/" and started["session"]
    assert not [name for name in started["env"] if name.startswith(("GIT_", "PYTHON"))]
    assert [name for name in started["env"] if name.startswith("CTX_")] == ["CTX_HOME"]
    assert set(started["fds"]) == {"/dev/null", state, f"{state}/started", f"{state}/start.log"}
    assert started["fds"].count("/dev/null") == 2


def test_a_relative_home_is_made_absolute(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The daemon runs in `/`: a relative CTX_HOME would lead elsewhere there."""
    monkeypatch.chdir(tmp_path)

    ours = {"NOTIFY_SOCKET": "/run/n", "WATCHDOG_USEC": "1", "LISTEN_PID": "1", "LISTEN_FDS": "1"}
    assert launch.daemon_environment({"CTX_HOME": "h", "A": "b", **ours}) == {"A": "b", "CTX_HOME": f"{tmp_path}/h"}


def test_clients_that_come_at_once_start_one(startable: Path, state: str) -> None:
    """Ten at one instant: one daemon is spawned and answers all of them."""
    answers: list[str] = []
    clients = [threading.Thread(target=lambda: answers.append(client.ask(FIND).out)) for _ in range(10)]
    for each in clients:
        each.start()
    for each in clients:
        each.join(30)
    launch.stop(state)
    reap()

    assert len(answers) == 10 and len(set(answers)) == 1
    assert len(Path(f"{state}/started").read_text().splitlines()) == 1


def test_a_daemon_that_ends_at_once_is_reported_with_its_words(startable: Path, state: str) -> None:
    """The last lines that it wrote say why."""
    startable.write_text("import sys; print('one\\ntwo', file=sys.stderr); sys.exit(4)")

    with pytest.raises(DaemonUnreachable) as raised:
        client.ask(FIND)

    assert raised.value.message == "the daemon ended at once (exit 4)"
    assert raised.value.hint == f"one\ntwo\nmore in {state}/start.log and {state}/ctxd.log"


def test_an_older_daemon_is_replaced(fake, startable: Path, state: str, capfd) -> None:
    """B056: it says so itself: it is stopped, ours is started, asked, and one line says what happened."""
    fake.welcome = Welcome(protocol=1, version="0.0.1", pid=7)
    older = Failure(error="replace_daemon", message="older", code=3)
    fake.script = lambda peer: peer.say(fake.welcome, older)

    try:
        answer = client.ask(FIND)
    finally:
        launch.stop(state)
        reap()

    assert answer.out.startswith("from ") and fake.stopped
    pid = answer.out.split()[1]
    assert capfd.readouterr().err == f"ctx: replaced the daemon 0.0.1 (pid 7) by {endpoint.VERSION} (pid {pid})\n"


def test_what_was_just_replaced_is_not_replaced_again(
    fake, startable: Path, state: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What this client starts is older again: told, not restarted by each command; later it may be tried again."""
    fake.welcome = Welcome(protocol=1, version="0.0.1", pid=7)
    note = Path(endpoint.replaced_path(state))
    note.touch()

    with pytest.raises(VersionRefused) as raised:
        launch.replace(state)
    os.utime(note, (0, 0))
    try:
        replaced = launch.replace(state)
    finally:
        launch.stop(state)
        reap()

    assert "0.0.1" in raised.value.message and raised.value.code == 3
    assert replaced.version == endpoint.VERSION and note.stat().st_mtime > 0


def test_status_and_forbidden_starts_replace_nothing(fake, run: Run) -> None:
    """`ctx daemon status` and CTX_NO_START leave an older daemon alone and say what runs."""
    fake.script = lambda peer: peer.say(
        Welcome(protocol=1, version="0.0.1", pid=7), Failure(error="replace_daemon", message="older", code=3)
    )

    status, find = run("daemon", "status"), run("find", "x")

    assert status.stderr.startswith("ctx: the running daemon is of version 0.0.1 (pid 7), this client is ")
    assert "CTX_NO_START" in find.stderr
    assert (status.returncode, find.returncode, fake.stopped) == (3, 3, False)


def test_stop_waits_for_the_lock(fake, state: str) -> None:
    """A daemon that has let go of its socket may still be writing: it is gone when its lock is."""
    lock = os.open(state, os.O_RDONLY)
    fcntl.flock(lock, fcntl.LOCK_EX)
    stopped = threading.Thread(target=launch.stop, args=(state,))
    stopped.start()
    fake._thread.join(10)
    stopped.join(0.2)
    waited = stopped.is_alive()
    os.close(lock)
    stopped.join(10)

    assert waited and not stopped.is_alive()
    assert isinstance(fake.requests[-1], Stop)


def test_stop_and_start_are_told(fake, run: Run) -> None:
    """The daemon group says what it did, as text and as JSON."""
    assert run("daemon", "start", env={**os.environ, "CTX_NO_START": ""}).stdout == (
        f"ctxd {endpoint.VERSION} (pid {os.getpid()}) is running\n"
    )
    stopped = json.loads(run("daemon", "stop", "--json").stdout)
    again = json.loads(run("daemon", "stop", "--json").stdout)

    assert stopped == {"schema": 1, "state": "stopped", "version": endpoint.VERSION, "pid": os.getpid()}
    assert again == {"schema": 1, "state": "not running"}


def test_a_daemon_that_was_just_ending_is_asked_again(fake) -> None:
    """It hangs up without a greeting: one more try."""
    replies = [[], [Welcome(protocol=1, version="9"), Answer(out="second")]]
    fake.script = lambda peer: peer.say(*replies.pop(0))

    assert client.ask(FIND).out == "second"


def test_a_forbidden_socket_is_said_so(fake, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sandbox that forbids to connect is not "no daemon"."""
    from ctxclient import transport

    class Refusing(transport.socket.socket):
        def connect(self, address: object) -> None:
            raise PermissionError(1, "Operation not permitted")

    with monkeypatch.context() as sandbox:
        sandbox.setattr(transport.socket, "socket", Refusing)
        with pytest.raises(DaemonUnreachable, match=f"not permitted to connect to {fake.home}/ctxd.sock"):
            client.ask(FIND)


def test_an_unsafe_short_place_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A long home whose place in /tmp lets others in: nothing is started."""
    state = f"{tmp_path}/{'d' * 100}"
    place = os.path.dirname(endpoint.socket_path(state))
    os.mkdir(place)
    os.chmod(place, 0o777)
    try:
        with pytest.raises(EndpointUnsafe, match="lets other users in"):
            launch.start(state)
    finally:
        os.rmdir(place)


def test_a_home_that_cannot_be_written_is_named(state: str, run: Run) -> None:
    """Exit 3, the path, no traceback."""
    done = run("find", "x", env={**os.environ, "CTX_HOME": "/proc/nowhere", "CTX_NO_START": ""})

    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith("ctx: cannot create /proc/nowhere: ")
