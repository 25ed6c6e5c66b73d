"""What a stranger sees first: no set-up, an answer, and nothing left anywhere it should not be."""

from __future__ import annotations

import os
import pty
import subprocess
from pathlib import Path

from tests.home import BIN, Home
from tests.tree import Tree

POOL = '''"""Connections to the database."""


def create_pool(cfg, size=20):
    """Create the connection pool with a retry for each connection."""
    return [connect(cfg) for _ in range(size)]


def connect(cfg):
    """Open one connection."""
    return cfg
'''


def test_first_query_in_an_empty_home_and_a_path_with_a_space(ctx: Home, tmp_path: Path) -> None:
    """No CTX_HOME, an empty home directory: one command starts, indexes, answers; state is in one place."""
    repo = Tree(tmp_path / "a stranger's clone")
    repo.write("src/pool.py", POOL)
    repo.commit()
    env = {key: value for key, value in ctx.env.items() if key != "CTX_HOME"}
    run = {"cwd": repo.root, "env": env, "capture_output": True, "text": True, "timeout": 60}

    try:
        done = subprocess.run([BIN / "ctx", "query", "where is the connection pool created"], check=False, **run)
    finally:
        stopped = subprocess.run([BIN / "ctx", "daemon", "stop"], check=False, **run)

    assert (done.returncode, stopped.returncode) == (0, 0), done.stderr + stopped.stderr
    assert "src/pool.py" in done.stdout and "create_pool" in done.stdout
    assert done.stderr == ""
    assert files_below(ctx.user_home) and all(
        path.startswith(".local/share/ctx/") for path in files_below(ctx.user_home)
    )
    assert repo.git("status", "--porcelain", "--ignored") == ""


def files_below(top: str) -> list[str]:
    """Return all files below `top`, relative to it."""
    return [os.path.relpath(os.path.join(folder, name), top) for folder, _, names in os.walk(top) for name in names]


def test_first_index_shows_progress_on_a_terminal_only(ctx: Home, repo: Tree) -> None:
    """With a terminal on stderr the first command draws something there, and data still goes to stdout."""
    for number in range(300):
        repo.write(f"m{number}.py", f"def name_{number}():\n    return {number}\n" * 20)
    master, slave = pty.openpty()
    try:
        done = subprocess.run(
            [BIN / "ctx", "find", "name_7"],
            cwd=repo.root,
            env=ctx.env | {"TERM": "xterm"},
            check=False,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=slave,
            text=True,
            timeout=60,
        )
        os.set_blocking(master, False)
        drawn = os.read(master, 65536)
    except BlockingIOError:
        drawn = b""
    finally:
        os.close(slave)
        os.close(master)

    assert done.returncode == 0 and "m7.py" in done.stdout
    assert drawn


def test_first_index_that_takes_longer_answers_with_what_there_is(ctx: Home, repo: Tree) -> None:
    """Not on a terminal: with --index-wait 0 the answer comes at once and says that it is not complete."""
    for number in range(2000):
        repo.write(f"p{number % 20}/m{number}.py", f"def name_{number}():\n    return {number}\n" * 30)

    early = ctx.json("find", "--index-wait", "0", "name_7", cwd=repo.root)
    late = ctx.json("find", "--index-wait", "60", "name_7", cwd=repo.root)

    assert (early["fresh"], late["fresh"]) == (False, True)
    assert early["stats"]["files_pending"] > 0 and late["stats"]["files_pending"] == 0
    assert late["results"][0]["file"] == "p7/m7.py"


def test_init_indexes_a_plain_folder_and_forget_deletes_its_data(ctx: Home, tmp_path: Path) -> None:
    """A directory without git is attached by init, listed by repos, and gone after forget."""
    plain = Tree(tmp_path / "plain", git=False)
    plain.write("a.py", "def in_a_plain_folder(): pass\n")

    assert ctx.run("init", cwd=plain.root).returncode == 0
    listed = ctx.json("repos", cwd="/")["results"]
    found = ctx.json("symbols", "in_a_plain_folder", cwd=plain.root)["results"]
    forgotten = ctx.run("forget", str(plain.root), cwd="/")

    assert [row["file"] for row in found] == ["a.py"]
    assert str(plain.root) in str(listed)
    assert forgotten.returncode == 0, forgotten.stderr
    assert ctx.json("repos", cwd="/")["results"] == []
    assert not [path for path in files_below(ctx.path) if path.startswith("indexes/")]


def test_a_home_directory_is_not_indexed_unless_init_names_it(ctx: Home) -> None:
    """Exit 4 with what to do, also when the home is a git worktree; init makes it legal."""
    Tree(ctx.user_home).write("a.py", "def in_my_home(): pass\n")

    refused = ctx.run("find", "in_my_home", cwd=ctx.user_home)
    named = ctx.run("init", cwd=ctx.user_home)

    assert refused.returncode == 4 and "ctx init" in refused.stderr, refused
    assert named.returncode == 0, named.stderr
    assert ctx.run("find", "in_my_home", cwd=ctx.user_home).returncode == 0


def test_the_file_system_root_is_refused(ctx: Home) -> None:
    """Nobody means all of / by asking from there."""
    assert ctx.run("find", "x", cwd="/").returncode == 4


def test_an_empty_repository_says_that_there_is_nothing_to_index(ctx: Home, repo: Tree) -> None:
    """Exit 1 with the reason."""
    done = ctx.run("find", "anything", cwd=repo.root)

    assert done.returncode == 1
    assert "nothing found" in done.stdout + done.stderr


def test_rules_that_exclude_everything_are_named(ctx: Home, repo: Tree) -> None:
    """A repository whose own rules hide all of it says so instead of just finding nothing."""
    repo.write(".gitignore", "*\n")
    repo.write("a.py", "def hidden(): pass\n")

    done = ctx.run("find", "hidden", cwd=repo.root)

    assert done.returncode == 1
    assert "ignore" in done.stdout + done.stderr
