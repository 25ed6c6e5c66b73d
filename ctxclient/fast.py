"""Entry point of `ctx`: the hot commands with sys, os and _socket alone; everything else goes to cli.

Runs in the client process, once; plain.py reads the command line for it. Here is only what happens when all is
well: a plain command line, a daemon of this version that listens, an Answer. Whatever this module is not sure of it
leaves to `ctxclient.cli`, which makes the same request through click; the tests demand the same bytes of both.
"""

import _socket
import os
import sys

from ctxclient import msgpack, plain
from ctxprotocol import endpoint

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxclient.msgpack import Value

# Beyond what the daemon allows itself: it says "timed out" better than we can.
GRACE_S = 5
MAX_REPLY_BYTES = 16 << 20


def main() -> int:
    """Run `ctx` with the process's arguments and return its exit code."""
    try:
        code = ask(sys.argv[1:])
        if code is None:
            from ctxclient import cli

            code = cli.run(sys.argv[1:])
        return code
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        from ctxclient import failures

        return failures.unexpected(error, sys.argv[1:])


def ask(argv: "Sequence[str]") -> int | None:
    """Ask the daemon, deliver its answer and return the exit code; None: not sure, let cli do it all."""
    if sys.platform == "win32" or "_CTX_COMPLETE" in os.environ:
        return None
    try:
        parsed = plain.parse(argv, os.environ)
        if parsed is None:
            return None
        request = plain.encode(*parsed)
        connection = _reach(may_start=parsed[0] != "daemon_status")
    except OSError:
        return None  # an unsafe place, no current directory: cli finds out which and says it
    if connection is None:
        return None
    seconds = plain.timeout_ms(parsed[1]) / 1000 + GRACE_S
    try:
        connection.settimeout(seconds)
        connection.sendall(hello() + request)
        reply = _converse(connection)
    except TimeoutError:
        from ctxclient import failures

        return failures.show_timeout(seconds, argv)
    except (OSError, ValueError, KeyError):
        return None
    finally:
        connection.close()
    if reply[b"type"] == b"answer":
        return plain.deliver(_bytes(reply, b"out"), _bytes(reply, b"notes"), int(reply.get(b"code", 0)))
    if reply[b"type"] == b"failure" and reply.get(b"error") != b"replace_daemon":
        from ctxclient import failures

        words = (_bytes(reply, key).decode() for key in (b"error", b"message", b"hint"))
        return failures.show(*words, code=int(reply.get(b"code", 4)), argv=argv)
    return None


def hello() -> bytes:
    """Return the framed Hello of this client."""
    build = endpoint.build()
    fields: list[tuple[str, Value]] = [("protocol", endpoint.PROTOCOL_VERSION), ("version", endpoint.VERSION)]
    return msgpack.frame("hello", 3, [*fields, ("build", build)] if build else fields)


def _reach(*, may_start: bool) -> _socket.socket | None:
    """Return a connection, waiting for a daemon that another client starts; None: it is for us to start one."""
    try:
        return _dial()
    except (FileNotFoundError, ConnectionRefusedError):
        if not may_start or os.environ.get("CTX_NO_START", "0") not in ("", "0"):
            return None
        from ctxclient import turn

        return turn.wait(endpoint.state_directory(os.environ), _dial)


def _dial() -> _socket.socket:
    if sys.platform == "win32":
        raise OSError("a pipe is not dialled here")
    path = endpoint.socket_path(endpoint.state_directory(os.environ))
    endpoint.check_place(path)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(GRACE_S)
        connection.connect(path)
        endpoint.check_peer(connection)
    except OSError:
        connection.close()
        raise
    return connection


def _converse(connection: _socket.socket) -> dict[bytes, bytes | int]:
    """Return the last reply. Raises ValueError or KeyError when this is not a conversation as we know it."""
    buffer = bytearray()
    _check_welcome(_receive(connection, buffer))
    bar = None
    try:
        while (reply := _receive(connection, buffer))[b"type"] == b"progress":
            if bar is None:
                from ctxclient.progress import Bar

                bar = Bar()
            bar.show(_bytes(reply, b"phase").decode(), int(reply.get(b"done", 0)), int(reply.get(b"total", 0)))
    finally:
        if bar is not None:
            bar.clear()
    return reply


def _receive(connection: _socket.socket, buffer: bytearray) -> dict[bytes, bytes | int]:
    """Return the next reply; `buffer` keeps what came after it."""
    while len(buffer) < 4 or len(buffer) < (end := 4 + int.from_bytes(buffer[:4], "big")):
        if len(buffer) >= 4 and end - 4 > MAX_REPLY_BYTES:
            raise ValueError("too large")
        data = connection.recv(1 << 16)
        if not data:
            raise ValueError("hung up")
        buffer += data
    reply = msgpack.read(bytes(buffer[4:end]))
    del buffer[:end]
    return reply


def _check_welcome(welcome: dict[bytes, bytes | int]) -> None:
    """Raise ValueError unless the daemon is of this very version; which is the older one, the daemon knows."""
    if welcome[b"type"] != b"welcome" or welcome[b"protocol"] != endpoint.PROTOCOL_VERSION:
        raise ValueError("another protocol")
    if welcome[b"version"] != endpoint.VERSION.encode():
        raise ValueError("another version")


def _bytes(reply: dict[bytes, bytes | int], key: bytes) -> bytes:
    found = reply.get(key, b"")
    if not isinstance(found, bytes):
        raise ValueError("not a text")
    return found


if __name__ == "__main__":
    sys.exit(main())
