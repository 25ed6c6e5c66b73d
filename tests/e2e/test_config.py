"""The configuration file of a running daemon."""

from __future__ import annotations

from pathlib import Path

from tests.home import Home
from tests.processes import wait_until
from tests.tree import Tree


def test_a_changed_file_counts_without_a_restart(ctx: Home, repo: Tree) -> None:
    """Other rules from the next question on, other chunks once the rebuild is done, a fault until it is mended."""
    repo.write("gen/g.py", "def made(): pass\n")
    repo.write("long.py", "def long():\n" + "    call(1, 2, 3)\n" * 60)
    assert ctx.run("symbols", "made", cwd=repo.root).returncode == 0
    pid, file = ctx.pid, Path(ctx.path, "config.toml")

    file.write_text('index.ignore = ["gen/"]\n')
    assert ctx.run("symbols", "made", cwd=repo.root).returncode == 1
    whole = ctx.json("chunk", "long.py:5", cwd=repo.root)["results"][0]
    file.write_text("index.max_chunk_tokens = 60\n")
    assert ctx.run("symbols", "made", cwd=repo.root).returncode == 0
    wait_until(lambda: ctx.json("chunk", "long.py:5", cwd=repo.root)["results"][0] != whole, 20, "other chunks")
    file.write_text("index.max_chunk_token = 60\n")
    failed = ctx.run("symbols", "made", cwd=repo.root)

    assert failed.returncode == 4 and "did you mean index.max_chunk_tokens?" in failed.stderr
    assert ctx.pid == pid
