"""After an upgrade the old daemon is replaced by a call that is valid in every version."""

from __future__ import annotations

import os
import socket
import threading

from ctxprotocol import endpoint, framing
from ctxprotocol.messages import Answer, Stop, Welcome
from tests.home import Home
from tests.tree import Tree


class OldDaemon:
    """Speaks protocol 1 as an early version did: greets, understands Stop, refuses anything else."""

    def __init__(self, home: str) -> None:
        endpoint.make_private(home)
        self.path = endpoint.socket_path(home)
        self.stopped_by: list[str] = []
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(8)
        self._thread = threading.Thread(target=self._serve, name="old daemon")
        self._thread.start()

    def _serve(self) -> None:
        while not self.stopped_by:
            connected, _ = self._listener.accept()
            with connected:
                frames = framing.FrameDecoder(framing.MAX_REQUEST_BYTES)
                payloads = frames.feed(connected.recv(1 << 16))
                if not payloads:
                    continue
                connected.sendall(framing.pack(Welcome(protocol=1, version="0.0.1", pid=4_000_000)))
                if len(payloads) > 1 and isinstance(framing.decode_request(payloads[1]), Stop):
                    os.unlink(self.path)
                    self.stopped_by.append(framing.decode_hello(payloads[0]).version)
                    connected.sendall(framing.pack(Answer()))
        self._listener.close()

    def join(self) -> None:
        self._thread.join(10)


def test_an_old_daemon_is_stopped_and_replaced(ctx: Home, repo: Tree) -> None:
    """The answer is the new daemon's; one line on stderr says what happened."""
    repo.write("a.py", "def upgraded(): pass\n")
    old = OldDaemon(ctx.path)

    done = ctx.run("find", "upgraded", cwd=repo.root)
    old.join()

    assert done.returncode == 0 and "a.py" in done.stdout
    assert old.stopped_by == [endpoint.VERSION]
    replaced = f"ctx: replaced the daemon 0.0.1 (pid 4000000) by {endpoint.VERSION} (pid {ctx.pid})\n"
    assert done.stderr == replaced
