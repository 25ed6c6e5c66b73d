"""One daemon per state directory: the lock, the socket, and what a service manager hands over.

Owned by main, on the main thread. The lock is taken before anything heavy is imported, and only its holder binds or
removes the socket. Needs the standard library alone.
"""

from __future__ import annotations

import contextlib
import os
import socket
import stat
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ctxd.inode import inode, inode_of
from ctxprotocol import windows
from ctxprotocol.endpoint import make_private, socket_path
from ctxprotocol.lock import Flock, daemon_lock

if TYPE_CHECKING:
    from ctxd.namedpipe import PipeListener

# Clients that arrive at one instant wait here while the loop is busy elsewhere.
BACKLOG = 512
# sd_listen_fds(3): the first descriptor that is handed over.
_FIRST_PASSED = 3


class AlreadyRunning(Exception):
    """Another daemon holds this state directory."""


class Instance:
    """The lock on a state directory, held for life, and the listening socket that goes with it.

    The lock is on the directory's own descriptor: a lock file could be unlinked and taken twice.
    """

    def __init__(self, state_directory: str) -> None:
        """Take the lock. Raises AlreadyRunning, or OSError with the path where the directory cannot be ours."""
        make_private(state_directory)
        self.state_directory = state_directory
        self.socket_path = socket_path(state_directory)
        self._lock = daemon_lock(state_directory)
        if not self._lock.take():
            self._lock.close()
            raise AlreadyRunning(state_directory)
        # On Windows it stays where it is while we hold a file in it.
        self._held = inode_of(self._lock.descriptor) if isinstance(self._lock, Flock) else inode(state_directory)
        self._bound: tuple[int, int] | None = None

    def listen(self, environ: Mapping[str, str]) -> tuple[socket.socket | PipeListener, bool]:
        """Return the listening socket, on Windows the pipe, and whether a service manager passed it in."""
        if sys.platform == "win32":
            from ctxd.namedpipe import PipeListener  # late: it loads asyncio

            return PipeListener(self.socket_path, windows.calls()), False
        passed = passed_socket(environ)
        if passed is not None:
            return passed, True
        return self._bind(), False

    def _bind(self) -> socket.socket:
        """Bind the socket; whatever lies there is a dead daemon's, since the lock is ours."""
        if sys.platform == "win32":
            raise NotImplementedError
        directory = os.path.dirname(self.socket_path)
        if directory != self.state_directory:
            make_private(directory)
        self._remove_dead()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            listener.bind(self.socket_path)
        except BaseException:
            listener.close()
            raise
        finally:
            os.umask(before)
        listener.listen(BACKLOG)
        self._bound = inode(self.socket_path, follow=False)
        return listener

    def _remove_dead(self) -> None:
        try:
            found = os.lstat(self.socket_path)
        except FileNotFoundError:
            return
        if not stat.S_ISSOCK(found.st_mode):
            raise FileExistsError(17, "is not a socket, and ctxd will not remove it", self.socket_path)
        os.unlink(self.socket_path)

    def socket_lost(self) -> bool:
        """Say whether the path no longer leads to the socket that we bound."""
        return self._bound is not None and inode(self.socket_path, follow=False) != self._bound

    def directory_lost(self) -> bool:
        """Say whether the state directory's path no longer leads to the directory that we hold."""
        return inode(self.state_directory, follow=False) != self._held

    def unbind(self) -> None:
        """Remove the socket if it is still ours. A passed-in one stays: its manager listens on."""
        if self._bound is not None and not self.socket_lost():
            os.unlink(self.socket_path)
            self._leave_short_place()
        self._bound = None

    def _leave_short_place(self) -> None:
        """Remove the directory that a socket with a long path has to itself."""
        directory = os.path.dirname(self.socket_path)
        if directory != self.state_directory:
            with contextlib.suppress(OSError):
                os.rmdir(directory)

    def release(self) -> None:
        """Give up the lock: the very last thing that a daemon does."""
        self._lock.close()


def passed_socket(environ: Mapping[str, str]) -> socket.socket | None:
    """Return the listening socket that systemd or launchd's wrapper handed over, if it was meant for this process."""
    if sys.platform == "win32":
        return None
    if environ.get("LISTEN_PID") != str(os.getpid()) or not environ.get("LISTEN_FDS", "").isdigit():
        return None
    if int(environ["LISTEN_FDS"]) < 1:
        return None
    os.set_inheritable(_FIRST_PASSED, False)
    listener = socket.socket(fileno=_FIRST_PASSED)
    if listener.family != socket.AF_UNIX or not listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN):
        raise OSError(f"descriptor {_FIRST_PASSED} from LISTEN_FDS is not a listening Unix socket")
    return listener


def notify(environ: Mapping[str, str], message: str) -> None:
    """Tell the service manager, where there is one (sd_notify(3)): READY=1, STOPPING=1. One that is gone is fine."""
    address = environ.get("NOTIFY_SOCKET")
    if sys.platform == "win32" or not address:
        return
    # Python's sockets are never inherited.
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sender:
        sender.sendto(message.encode(), "\0" + address[1:] if address[0] == "@" else address)
