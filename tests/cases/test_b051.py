"""One daemon, whoever starts how many: the loser's end takes nothing from the winner."""

from __future__ import annotations

import os
import signal
import subprocess

from ctxprotocol import endpoint
from tests.home import Home
from tests.tree import Tree

STARTS, CLIENTS = 4, 20


def test_a_displaced_daemon_leaves_the_socket_to_the_one_that_runs(ctx: Home, repo: Tree) -> None:
    """Daemons and clients start at one instant; losers are ended by SIGTERM; all clients are answered by one pid."""
    repo.write("a.py", "def only_one(): pass\n")
    own = {"env": ctx.env, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    daemons = [subprocess.Popen([ctx.bin / "ctxd", "start"], cwd="/", **own) for _ in range(STARTS)]
    clients = [subprocess.Popen([ctx.bin / "ctx", "find", "only_one"], cwd=repo.root, **own) for _ in range(CLIENTS)]
    try:
        answers = [client.communicate(timeout=60) for client in clients]
        pid = ctx.pid
        for loser in daemons:
            if loser.pid != pid and loser.poll() is None:
                loser.send_signal(signal.SIGTERM)
        after = ctx.run("find", "only_one", cwd=repo.root)

        assert [client.returncode for client in clients] == [0] * CLIENTS, [err for _, err in answers if err]
        assert all("a.py" in out for out, _ in answers)
        assert after.returncode == 0 and ctx.pid == pid
        assert os.path.exists(endpoint.socket_path(ctx.path))
    finally:
        for daemon in daemons:
            daemon.terminate()
            daemon.communicate(timeout=20)
