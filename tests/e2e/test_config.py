"""The configuration file of a running daemon."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
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


def test_a_file_that_changes_during_the_first_index_fails_nobody(ctx: Home, repo: Tree) -> None:
    """The index is finished by the workers that began it, and built anew by the others."""
    for number in range(600):
        repo.write(f"m{number}.py", "".join(f"def f{number}_{n}(a):\n    return a + {n}\n" for n in range(30)))

    with ThreadPoolExecutor(1) as waiting:
        asked = waiting.submit(ctx.run, "update", cwd=repo.root)
        wait_until(lambda: ctx.run("daemon", "status", cwd="/").returncode == 0, 10, "a daemon")
        wait_until(lambda: "indexing" in ctx.run("daemon", "status", "--json", cwd="/").stdout, 10, "a first index")
        Path(ctx.path, "config.toml").write_text("index.max_chunk_tokens = 60\n")
        ctx.run("daemon", "status", cwd="/")

    assert asked.result().returncode == 0, asked.result().stderr
    assert ctx.run("symbols", "f599_29", cwd=repo.root).returncode == 0
