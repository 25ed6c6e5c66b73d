"""Dial the daemon: one function per platform, each with its own proof of who owns the other end.

Runs in the client process. A refusal by the system is told apart from nobody listening: only the second may lead to
starting a daemon.
"""

from __future__ import annotations

import os
import socket
import sys
import time

from ctxprotocol import endpoint
from ctxprotocol.errors import Busy, DaemonUnreachable, EndpointUnsafe

if sys.platform == "win32":
    from ctxclient import namedpipe
    from ctxprotocol import windows

    Stream = namedpipe.PipeConnection
else:
    Stream = socket.socket

# A daemon that accepts nothing for this long has more to do than it can.
CONNECT_WAIT_S = 5.0


def dial(path: str, wait_s: float = CONNECT_WAIT_S) -> Stream | None:
    """Return a connection to the daemon at `path`, None when nobody listens there.

    Raises EndpointUnsafe when the place or the peer is not this user's, Busy when it does not accept within `wait_s`
    seconds, DaemonUnreachable when the system forbids to connect.
    """
    if sys.platform == "win32":
        return namedpipe.dial(path, wait_s, windows.calls())
    return _dial_unix(path, wait_s)


def _dial_unix(path: str, wait_s: float) -> socket.socket | None:
    if sys.platform == "win32":
        return None
    try:
        endpoint.check_place(path)
    except endpoint.UnsafePlace as error:
        raise EndpointUnsafe(f"the daemon's socket is in an unsafe place: {error}") from error
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise _refused(path, error) from error
    deadline = time.monotonic() + wait_s
    while True:
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            connection.settimeout(wait_s)
            connection.connect(path)
            endpoint.check_peer(connection)
            return connection
        except (FileNotFoundError, ConnectionRefusedError):
            connection.close()
            return None
        except BlockingIOError as error:  # its queue of connections is full
            connection.close()
            if time.monotonic() > deadline:
                raise Busy(f"the daemon at {path} accepts no connection: it has too many") from error
            time.sleep(0.01)
        except endpoint.UnsafePlace as error:
            connection.close()
            raise EndpointUnsafe(f"not connected: {error}") from error
        except OSError as error:
            connection.close()
            raise _refused(path, error) from error


def _refused(path: str, error: OSError) -> DaemonUnreachable:
    if isinstance(error, PermissionError):
        return DaemonUnreachable(
            f"not permitted to connect to {path}: {os.strerror(error.errno or 0)}",
            "a sandbox may forbid it: allow this socket, or run ctx outside",
        )
    return DaemonUnreachable(f"cannot connect to {path}: {error.strerror or error}")
