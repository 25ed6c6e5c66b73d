"""A state directory whose socket path is too long for the kernel: both sides come to the same short place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ctxprotocol import endpoint
from tests.home import Home
from tests.tree import Tree


@pytest.mark.parametrize("length", [90, 91, 150])
def test_a_long_home_works_through_a_short_place(ctx: Home, repo: Tree, length: int) -> None:
    """At 100 bytes the socket is in the state directory; beyond, in a private place whose name is a hash."""
    repo.write("a.py", "def far_away(): pass\n")
    home = f"{ctx.path}/".ljust(length - 1, "d") + "e"
    Path(ctx.path).mkdir(0o700)
    env = {"CTX_HOME": home, "XDG_RUNTIME_DIR": "", "TMPDIR": ctx.place}

    found = ctx.run("find", "far_away", cwd=repo.root, env=env)
    status = ctx.run("daemon", "status", cwd="/", env={"CTX_HOME": home})
    path = endpoint.socket_path(home)
    mode = os.lstat(os.path.dirname(path)).st_mode & 0o777
    stopped = ctx.run("daemon", "stop", cwd="/", env={"CTX_HOME": home})

    assert (found.returncode, status.returncode, stopped.returncode) == (0, 0, 0), found.stderr + status.stderr
    assert path in status.stdout and mode == 0o700
    assert path.startswith(f"/tmp/ctx-{os.getuid()}-") is (length > 90)
    assert not os.path.exists(path)
    assert length == 90 or not os.path.exists(os.path.dirname(path))
