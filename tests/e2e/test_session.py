"""`ctx query --session`: the daemon remembers what it sent, for as long as it lives."""

from __future__ import annotations

from tests.home import Home
from tests.tree import Tree


def test_a_session_lives_in_the_daemon(ctx: Home, repo: Tree) -> None:
    """The second answer has a line instead of code; a changed file and a new daemon send it again."""
    repo.write("pool.py", "def create_pool(size):\n    return [None] * size\n")
    ask = ("query", "create_pool", "--session", "agent 7")

    assert "[None]" in ctx.run(*ask, cwd=repo.root).stdout
    again = ctx.run(*ask, cwd=repo.root)
    assert again.stdout.startswith("create_pool — pool.py:1-2 (sent before)\n")
    assert again.returncode == 0

    repo.write("pool.py", "def create_pool(size):\n    return [0] * size\n")
    assert "[0]" in ctx.run(*ask, cwd=repo.root).stdout
    assert "[0]" not in ctx.run(*ask, cwd=repo.root).stdout

    assert ctx.run("daemon", "restart", cwd=repo.root).returncode == 0
    assert "[0]" in ctx.run(*ask, cwd=repo.root).stdout
