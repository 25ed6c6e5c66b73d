"""The parse cache at a bound that is far too small: entries go while others are promised, and every answer is right."""

from __future__ import annotations

import random
from pathlib import Path

import apsw

from tests.home import Home
from tests.link import Link
from tests.tree import Tree

BOUND = 1_000_000
FILES, SWITCHES = 40, 4


def fill(repo: Tree, branch: str) -> None:
    """Write files of one branch; random words, so that each takes some 30 KB of the cache."""
    words = random.Random(branch)
    for number in range(FILES):
        lines = "".join(f"    v{words.randrange(10**9)} = {words.randrange(10**9)}\n" for _ in range(1_200))
        repo.write(f"d/f{number}.py", f"def {branch}_{number}(a):\n{lines}")


def entries(home: Home) -> int:
    """Return how many bytes of entries the cache holds."""
    (path,) = Path(home.path).glob("cache-*.db")
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        size = connection.execute("SELECT coalesce(sum(size), 0) FROM parsed").get
        assert isinstance(size, int)
        return size
    finally:
        connection.close()


def test_branches_that_do_not_fit_are_right_at_every_switch(ctx: Home, repo: Tree) -> None:
    """2 x 1.2 MB of results, a bound of 1 MB, two worktrees that share it."""
    assert ctx.run("config", "set", "daemon.cache_bytes", str(BOUND), cwd="/").returncode == 0
    fill(repo, "first")
    repo.commit()
    repo.git("checkout", "-q", "-b", "second")
    fill(repo, "second")
    repo.commit()
    other = f"{repo.root}-other"
    repo.git("worktree", "add", "-q", other, "main")
    assert ctx.run("daemon", "start", cwd="/").returncode == 0
    with Link(ctx.path) as link:
        for number in range(SWITCHES):
            branch = ("first", "second")[number % 2]
            repo.git("checkout", "-q", "--ignore-other-worktrees", {"first": "main"}.get(branch, branch))
            found = link.symbols(repo.root, f"{branch}_*", index_wait_ms=-1, fresh_within_ms=60_000, limit=100)
            beside = link.symbols(other, "first_*", index_wait_ms=-1, fresh_within_ms=60_000, limit=100)

            assert len(found["results"]) == FILES and found["fresh"], branch
            assert len(beside["results"]) == FILES and beside["fresh"]
    ctx.run("daemon", "stop", cwd="/")
    assert 0 < entries(ctx) <= BOUND
