"""The daemon's pipe on Windows as the client sees it: dial, check who serves, read and write with a deadline.

Runs in the client process. What Windows does is in ctxprotocol/win32.py; here is what its answers come to.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

from ctxprotocol import windows
from ctxprotocol.errors import Busy, DaemonUnreachable, EndpointUnsafe
from ctxprotocol.windows import Calls, Pending

# One wait for a free instance; between two waits the pipe may have gone, or the deadline have passed.
WAIT_MS = 200


class PipeConnection:
    """What is needed of a socket, on a pipe. `settimeout` bounds the silence within each call, as a socket's does."""

    def __init__(self, handle: int, asked: Calls) -> None:
        self._handle = handle
        self._asked = asked
        self._wait_ms = -1
        self._reading: Pending | None = None
        self._closed = False

    def settimeout(self, wait_s: float | None) -> None:
        """Bound each wait from now on; None: wait for ever."""
        self._wait_ms = -1 if wait_s is None else max(1, int(wait_s * 1e3))

    def sendall(self, data: bytes) -> None:
        """Write all of it. Raises TimeoutError, BrokenPipeError when the other end has closed."""
        rest = memoryview(data)
        while rest:
            writing = self._begin(partial(self._asked.write, self._handle, bytes(rest)))
            if writing is None:
                raise BrokenPipeError("the daemon closed its pipe")
            if not writing.wait(self._wait_ms):
                writing.cancel()
                raise TimeoutError("the daemon takes nothing")
            try:
                rest = rest[writing.count() :]
            except OSError as error:
                raise _told(error) from error

    def recv(self, size: int) -> bytes:
        """Return what came, at most `size` bytes, b"" at the end. Raises TimeoutError; what comes later is kept."""
        if not self._await(size, self._wait_ms):
            raise TimeoutError("the daemon is silent")
        reading, self._reading = self._reading, None
        if reading is None:
            return b""
        try:
            return reading.data()
        except OSError as error:
            if windows.code(error) in windows.HUNG_UP:
                return b""
            raise

    def await_data(self) -> None:
        """Wait, for days if need be, until there is something to receive."""
        self._await(1 << 16, -1)

    def close(self) -> None:
        """Close it. Closing twice is fine."""
        if not self._closed:
            self._closed = True
            if self._reading is not None:
                self._reading.cancel()
                self._reading = None
            self._asked.close(self._handle)

    def _await(self, size: int, wait_ms: int) -> bool:
        """Read on until something came or the other end closed (then nothing is being read); False: neither."""
        if self._reading is None:
            self._reading = self._begin(partial(self._asked.read, self._handle, size))
        return self._reading is None or self._reading.wait(wait_ms)

    def _begin(self, start: Callable[[], Pending]) -> Pending | None:
        """Begin to read or write; None when the other end has closed."""
        try:
            return start()
        except OSError as error:
            if windows.code(error) in windows.HUNG_UP:
                return None
            raise


def _told(error: OSError) -> OSError:
    return BrokenPipeError("the daemon closed its pipe") if windows.code(error) in windows.HUNG_UP else error


def dial(name: str, wait_s: float, asked: Calls) -> PipeConnection | None:
    """Return a connection to the daemon whose pipe is `name`, None when there is no such pipe.

    Raises EndpointUnsafe when somebody else serves it, Busy when no instance is free within `wait_s` seconds,
    DaemonUnreachable when the system forbids to connect.
    """
    deadline = time.monotonic() + wait_s
    while True:
        try:
            handle = asked.open_file(name, *windows.DIAL)
        except OSError as error:
            match windows.code(error):
                case windows.FILE_NOT_FOUND:
                    return None
                case windows.PIPE_BUSY if (left_s := deadline - time.monotonic()) > 0:
                    # 0 would be the pipe's own default.
                    asked.wait_pipe(name, max(1, min(WAIT_MS, int(left_s * 1e3))))
                case windows.PIPE_BUSY:
                    raise Busy(f"the daemon at {name} accepts no connection: it has too many") from error
                case _:
                    raise _refused(name, error) from error
        else:
            return _checked(handle, name, asked)


def _checked(handle: int, name: str, asked: Calls) -> PipeConnection:
    """Return the connection if the process that serves it is ours: anybody may have made a pipe of that name first."""
    try:
        whose, ours = asked.process_sid(asked.server_pid(handle)), asked.own_sid()
    except OSError as error:
        asked.close(handle)
        raise EndpointUnsafe(f"not connected: whose process serves {name} is not told: {error.strerror}") from error
    if whose != ours:
        asked.close(handle)
        raise EndpointUnsafe(f"not connected: the process at {name} runs as {whose}, not as you ({ours})")
    return PipeConnection(handle, asked)


def _refused(name: str, error: OSError) -> DaemonUnreachable:
    if windows.code(error) == windows.ACCESS_DENIED:
        return DaemonUnreachable(
            f"not permitted to connect to {name}: {error.strerror}",
            "the daemon may run as administrator, or the pipe be somebody else's: ctx doctor",
        )
    return DaemonUnreachable(f"cannot connect to {name}: {error.strerror or error}")
