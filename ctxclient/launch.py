"""Start, stop and replace the daemon from the client's side.

Runs in the client process. Clients take turns by the start lock: one spawns, the others wait for its hello. The daemon
must outlive its starter and hold nothing of it: a session of its own, no inherited descriptor, no repository's
environment.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from ctxclient import transport
from ctxclient.client import STOP_WAIT_S, Connection, Garbled, HungUp, is_older
from ctxclient.failures import printable
from ctxprotocol import endpoint, files
from ctxprotocol.errors import CtxError, DaemonUnreachable, EndpointUnsafe, VersionRefused
from ctxprotocol.lock import daemon_lock, file_lock
from ctxprotocol.messages import Progress, Stop, Welcome

# A cold start on a slow disk takes two or three seconds; a registry migration a little more.
START_WAIT_S = 20.0
# Whoever holds the lock may first stop an old daemon and then start the new one.
LOCK_WAIT_S = START_WAIT_S + STOP_WAIT_S
LOG_LINES = 5
# Where what is started is older than the client itself, its every command would end somebody's daemon.
REPLACE_PAUSE_S = 10.0
if sys.platform == "win32":
    # What a session of its own is elsewhere. With a console that nobody sees: without one, each git would open its own.
    _DETACHED = subprocess.CREATE_NO_WINDOW | subprocess.CREATE_NEW_PROCESS_GROUP
else:
    _DETACHED = 0


def start(state_dir: str) -> Welcome:
    """Make sure that a daemon answers, and return its Welcome. Raises DaemonUnreachable, EndpointUnsafe."""
    _refuse_if_forbidden()
    prepare(state_dir)
    with _turn(state_dir):
        return probe(endpoint.socket_path(state_dir)) or _spawn(state_dir)


def ensure(state_dir: str) -> Welcome:
    """Make sure that a daemon of this version answers: start one, or replace an older one."""
    try:
        welcome = start(state_dir)
    except Garbled:
        return replace(state_dir)
    return replace(state_dir) if is_older(welcome) else welcome


def stop(state_dir: str) -> Welcome | None:
    """Stop the daemon, whatever its version, wait until its place is free and return what it was; None: none ran."""
    if not os.path.isdir(state_dir):
        return None
    with _turn(state_dir):
        return _stop(state_dir)


def replace(state_dir: str) -> Welcome:
    """Stop the older daemon, start this client's own and say so on stderr; another client may have done it."""
    _refuse_if_forbidden()
    prepare(state_dir)
    path = endpoint.socket_path(state_dir)
    with _turn(state_dir):
        try:
            found = probe(path)
        except Garbled:
            found = None
        if found is not None and not is_older(found):
            return found
        _refuse_if_just_replaced(state_dir, found)
        _stop(state_dir)
        # Where a service manager holds the socket, the next one is already there.
        welcome = probe(path) or _spawn(state_dir)
    was = f"{found.version} (pid {found.pid})" if found else "of an unknown version"
    print(f"ctx: replaced the daemon {printable(was)} by {welcome.version} (pid {welcome.pid})", file=sys.stderr)
    return welcome


def _refuse_if_just_replaced(state_dir: str, found: Welcome | None) -> None:
    """Note that a daemon is replaced now. Raises VersionRefused when one was within REPLACE_PAUSE_S; lock held."""
    note = endpoint.replaced_path(state_dir)
    try:
        left_s = os.stat(note).st_mtime + REPLACE_PAUSE_S - time.time()
    except FileNotFoundError:
        left_s = 0.0
    if 0.0 < left_s <= REPLACE_PAUSE_S:
        was = f"of version {printable(found.version)}" if found else "of an unknown version"
        raise VersionRefused(
            f"the daemon {was} is older than this client ({endpoint.VERSION}) and was itself started by a replacement",
            f"another may follow in {left_s:.0f} s; see ctx doctor if this goes on",
        )
    os.close(_open_own(note))
    os.utime(note)


def probe(path: str, wait_s: float = START_WAIT_S) -> Welcome | None:
    """Return the Welcome of whoever listens at `path`, None when nobody does. Raises Garbled, DaemonUnreachable."""
    connected = transport.dial(path)
    if connected is None:
        return None
    with Connection(connected) as connection:
        try:
            return connection.greet(None, wait_s)
        except HungUp:
            return None
        except TimeoutError as error:
            raise DaemonUnreachable(f"timed out: the daemon at {path} does not greet", "ctx doctor") from error


def prepare(state_dir: str) -> None:
    """Create the directories of state and socket for this user alone, or verify them."""
    places = [state_dir]
    if sys.platform != "win32":
        places.append(os.path.dirname(endpoint.socket_path(state_dir)))
    for directory in dict.fromkeys(places):
        try:
            endpoint.make_private(directory)
        except endpoint.UnsafePlace as error:
            raise EndpointUnsafe(str(error), "set CTX_HOME to a directory of your own") from error
        except OSError as error:
            raise DaemonUnreachable(
                f"cannot create {error.filename or directory}: {error.strerror}",
                "set CTX_HOME to a directory that you can write",
            ) from error


def _refuse_if_forbidden() -> None:
    if os.environ.get("CTX_NO_START", "0") not in ("", "0"):
        raise DaemonUnreachable("no daemon of this version is running, and CTX_NO_START forbids to start one")


@contextmanager
def _turn(state_dir: str) -> Iterator[None]:
    """Hold the start lock. Raises DaemonUnreachable when another client keeps it for too long."""
    path = endpoint.start_lock_path(state_dir)
    try:
        turn = file_lock(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    try:
        _wait(turn.take, LOCK_WAIT_S, "another client is still starting the daemon")
        yield
    finally:
        turn.close()


def _open_own(path: str) -> int:
    """Open a file of ours in the state directory, made when it is missing. Raises DaemonUnreachable."""
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT | files.NO_FOLLOW | files.OWN, 0o600)
    except OSError as error:
        raise _unwritable(path, error) from error


def _unwritable(path: str, error: OSError) -> DaemonUnreachable:
    return DaemonUnreachable(f"cannot write {path}: {error.strerror}", "set CTX_HOME to a directory that you can write")


def _wait(done: Callable[[], bool], wait_s: float, complaint: str) -> None:
    deadline = time.monotonic() + wait_s
    pause = 0.002
    while not done():
        if time.monotonic() > deadline:
            raise DaemonUnreachable(f"{complaint} (waited {wait_s:g} s)", "ctx doctor")
        time.sleep(pause)
        pause = min(pause * 1.5, 0.05)


def _stop(state_dir: str) -> Welcome | None:
    path = endpoint.socket_path(state_dir)
    connected = transport.dial(path)
    if connected is None:
        return None
    found = None
    with Connection(connected) as connection:
        try:
            found = connection.greet(Stop())
            while isinstance(connection.receive(STOP_WAIT_S), Progress):
                pass
        except (HungUp, Garbled, TimeoutError, CtxError):
            pass  # whether it ends is seen below
    _wait(lambda: _is_gone(state_dir, path, found), STOP_WAIT_S, "the daemon did not stop")
    return found or Welcome(protocol=0, version="")


def _is_gone(state_dir: str, path: str, was: Welcome | None) -> bool:
    """Say whether the daemon let go of its lock and its socket; another one may listen by then."""
    if not _is_free(state_dir):
        return False
    try:
        now = probe(path, 1.0)
    except (Garbled, CtxError):
        return False
    return now is None or (was is not None and now.pid != was.pid)


def _is_free(state_dir: str) -> bool:
    """Say whether no daemon holds the lock on its state directory."""
    lock = daemon_lock(state_dir)
    try:
        return lock.take(shared=True)
    finally:
        lock.close()


def _spawn(state_dir: str) -> Welcome:
    """Start `ctxd` and wait until it greets."""
    if not sys.executable:
        raise DaemonUnreachable("cannot start the daemon: this Python does not know its own program")
    errors = os.open(
        endpoint.start_log_path(state_dir), os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | files.NO_FOLLOW, 0o600
    )
    try:
        child = subprocess.Popen(
            [sys.executable, "-E", "-P", "-X", "utf8", "-m", "ctxd", "start", "--client"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=errors,
            close_fds=True,
            cwd=os.path.abspath(os.sep),
            env=daemon_environment(os.environ),
            start_new_session=True,
            creationflags=_DETACHED,
        )
    finally:
        os.close(errors)
    try:
        return _await_hello(child, state_dir)
    finally:
        child.returncode = child.returncode or 0  # it outlives us on purpose: no ResourceWarning


def _await_hello(child: subprocess.Popen[bytes], state_dir: str) -> Welcome:
    path = endpoint.socket_path(state_dir)
    found: list[Welcome] = []

    def answers() -> bool:
        ended = child.poll() is not None
        welcome = probe(path)
        if welcome is not None:
            found.append(welcome)
        elif ended and _is_free(state_dir):
            raise DaemonUnreachable(f"the daemon ended at once (exit {child.returncode})", _why(state_dir))
        return bool(found)  # while another daemon holds the lock, ours lost the race: that one will greet

    _wait(answers, START_WAIT_S, "the daemon was started but does not answer")
    return found[0]


def daemon_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a daemon that we start; CTX_HOME stays.

    Nothing of git, Python or this request, and nothing by which it would take our service manager for its own.
    """
    dropped = ("GIT_", "PYTHON", "CTX_", "LISTEN_", "NOTIFY_", "WATCHDOG_")
    kept = {name: value for name, value in environ.items() if not name.startswith(dropped)}
    if environ.get("CTX_HOME"):
        kept["CTX_HOME"] = os.path.abspath(environ["CTX_HOME"])
    return kept


def _why(state_dir: str) -> str:
    """Return the last lines that the daemon wrote to stderr before it ended."""
    path = endpoint.start_log_path(state_dir)
    with open(path, "rb") as lines:
        said = lines.read().decode("utf-8", "replace").splitlines()
    return "\n".join([*said[-LOG_LINES:], f"more in {path} and {endpoint.log_path(state_dir)}"])
