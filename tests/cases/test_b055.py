"""A cleaner removes what an idle daemon stands on: found within 10 s, and never a second writer."""

from __future__ import annotations

import os

from ctxprotocol import endpoint
from tests.home import Home
from tests.processes import wait_until
from tests.tree import Tree


def test_a_removed_socket_and_lock_make_no_second_daemon(ctx: Home, repo: Tree) -> None:
    """Everything at the top of the state directory that is no database goes; the daemon of before answers."""
    repo.write("a.py", "def cleaned(): pass\n")
    assert ctx.run("find", "cleaned", cwd=repo.root).returncode == 0
    pid = ctx.pid

    for name in ("ctxd.sock", "start.lock", "turn.lock"):
        if os.path.lexists(path := f"{ctx.path}/{name}"):
            os.unlink(path)
    second = ctx.run("start", cwd="/", program="ctxd", timeout=20)
    wait_until(lambda: os.path.exists(endpoint.socket_path(ctx.path)), 10, "the socket is bound again")
    asked = ctx.run("find", "cleaned", cwd=repo.root)

    assert second.returncode == 1 and "already runs" in second.stderr
    assert asked.returncode == 0 and ctx.pid == pid
