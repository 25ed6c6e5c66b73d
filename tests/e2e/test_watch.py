"""`ctx watch`: a person sees what the daemon does, as it does it; the daemon forgets a watcher that went."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tests.home import BIN, Home
from tests.processes import wait_until
from tests.tree import Tree


class Watching:
    """A running `ctx watch --json`; its lines are read as they come."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process

    def until(self, right: Callable[[dict], bool]) -> dict:
        """Return the first object for which `right` holds; the test's own time limit ends a wait for ever."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if right(found := json.loads(line)):
                return found
        raise AssertionError(f"ended: exit {self.process.wait(10)}")

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal; return the exit code and what came on stderr."""
        self.process.send_signal(number)
        _, errors = self.process.communicate(timeout=20)
        return self.process.returncode, errors


@contextmanager
def watching(ctx: Home, repo: Tree, *more: str) -> Iterator[Watching]:
    process = subprocess.Popen(
        [str(BIN / "ctx"), "watch", "--json", *more],
        cwd=repo.root,
        env=ctx.env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell's background job, which the tests may be, has it ignored, and so would the child.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  (no threads here)
    )
    try:
        yield Watching(process)
    finally:
        process.kill()
        process.communicate()


def connections(ctx: Home) -> int:
    return int(json.loads(ctx.run("daemon", "status", "--json", cwd="/").stdout)["connections"])


def has(event: str) -> Callable[[dict], bool]:
    return lambda found: found["event"] == event


def test_an_edit_is_seen_as_a_line(ctx: Home, repo: Tree) -> None:
    """It attaches the worktree; each save and each removal shows its path and its time; Ctrl-C ends it quietly."""
    repo.write("a.py", "def a(): pass\n")
    with watching(ctx, repo) as live:
        first = live.until(lambda _: True)
        live.until(lambda found: has("committed")(found) and found["changed"] == ["a.py"])
        live.until(lambda found: has("freshness")(found) and found["fresh"])
        repo.write("b.py", "def b(): pass\n")
        added = live.until(has("committed"))
        os.unlink(repo.path("a.py"))
        removed = live.until(has("committed"))

        assert (first["event"], first["root"]) == ("standing", str(repo.root))
        assert (added["changed"], added["removed"]) == (["b.py"], [])
        assert (removed["changed"], removed["removed"]) == ([], ["a.py"])
        assert 0 < added["took_ms"] < 20_000 and removed["generation"] > added["generation"]
        assert live.end(signal.SIGINT) == (130, "")


def test_a_rebuild_and_a_comparison_are_seen(ctx: Home, repo: Tree) -> None:
    """What a person asks for elsewhere shows here, too."""
    repo.write("a.py", "def a(): pass\n")
    assert ctx.run("update", cwd=repo.root).returncode == 0
    with watching(ctx, repo) as live:
        live.until(has("standing"))
        assert ctx.run("update", "--full", cwd=repo.root).returncode == 0

        live.until(has("rebuilding"))
        assert live.until(has("rebuilt"))["took_ms"] > 0
        assert live.until(has("compared"))["count"] == 0


def test_a_killed_watcher_is_dropped(ctx: Home, repo: Tree) -> None:
    """Its connection goes at once, and nothing is gathered for it any more."""
    repo.write("a.py", "def a(): pass\n")
    with watching(ctx, repo) as live:
        live.until(has("standing"))
        with_it = connections(ctx)
        live.process.kill()
        live.process.wait(10)
        wait_until(lambda: connections(ctx) == with_it - 1, 10, "the daemon drops the killed watcher")


def test_a_watcher_whose_reader_went_ends(ctx: Home, repo: Tree) -> None:
    """`ctx watch | head -1` is over after one line, though nothing else happens."""
    repo.write("a.py", "def a(): pass\n")
    assert ctx.run("update", cwd=repo.root).returncode == 0

    done = subprocess.run(
        ["sh", "-c", f"'{BIN}/ctx' watch | head -1"],
        cwd=repo.root,
        env=ctx.env,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )

    assert done.stdout.startswith(f"{repo.root} · generation ") and done.stderr == ""


def test_the_end_of_daemon_and_worktree_end_it(ctx: Home, repo: Tree) -> None:
    """A stopped daemon: exit 3 and why, without holding up the stop; a forgotten worktree: exit 0."""
    repo.write("a.py", "def a(): pass\n")
    with watching(ctx, repo) as live:
        live.until(has("standing"))
        assert ctx.run("forget", ".", cwd=repo.root).returncode == 0
        live.until(has("forgotten"))
        assert live.process.wait(10) == 0
    with watching(ctx, repo) as live:
        live.until(has("standing"))
        assert ctx.run("daemon", "stop", cwd="/", timeout=10).returncode == 0
        out, _ = live.process.communicate(timeout=10)

        assert live.process.returncode == 3
        assert json.loads(out.splitlines()[-1])["error"]["message"] == "the daemon has ended"
