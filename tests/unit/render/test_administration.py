"""What `daemon status`, `repos`, `init`, `update` and `forget` print: whole outputs."""

from __future__ import annotations

import json

from ctxd.model import Freshness
from ctxd.render import administration
from ctxd.state import DaemonState, Outcome, RepoRow, WorktreeState
from ctxprotocol.messages import DaemonStatus, Repos, Update

DAEMON = DaemonState(
    version="0.1.0",
    pid=4711,
    uptime_s=11_530.0,
    socket="/home/ada/.local/share/ctx/ctxd.sock",
    state_dir="/home/ada/.local/share/ctx",
    log="/home/ada/.local/share/ctx/ctxd.log",
    worktrees=(
        WorktreeState(root="/home/ada/shop", phase="ready", generation=42, watching="trusted", watches=312),
        WorktreeState(
            root="/mnt/team files",
            phase="indexing",
            freshness=Freshness(False, "indexing", 120),
            watching="scanning",
            watch_reason="file system nfs",
            pending=120,
        ),
        WorktreeState(root="/home/ada/old"),
    ),
    queue=1,
    queries=0,
    requests=1_204,
    p50_ms=3.1,
    p99_ms=12.4,
    rss_bytes=63_000_000,
    watches=312,
    connections=2,
    workers=1,
    worker_restarts=1,
    last_progress="/home/ada/shop",
    last_progress_s=12.0,
)


def test_the_daemon_says_how_it_is() -> None:
    """All that one asks a daemon that seems stuck: who, where, how busy, what was the last it did."""
    assert administration.daemon(DAEMON, DaemonStatus()).out == (
        "ctxd 0.1.0 · pid 4711 · up 3 h 12 min\n"
        "socket: /home/ada/.local/share/ctx/ctxd.sock\n"
        "state: /home/ada/.local/share/ctx\n"
        "log: /home/ada/.local/share/ctx/ctxd.log\n"
        "memory: 63.0 MB · 2 connections · 312 watches · 1 parse worker, restarted 1×\n"
        "queue: 1 write, 0 questions · 1,204 requests · p50 3 ms · p99 12 ms\n"
        "last progress: /home/ada/shop (12 s ago)\n"
        "last error: none\n"
        "worktrees: 3\n"
        "  /home/ada/shop · ready · generation 42 · fresh · watching: 312 directories\n"
        '  "/mnt/team files" · indexing · generation 0 · not fresh: indexing, 120 files pending'
        " · watching: by scan (file system nfs) · 120 pending\n"
        "  /home/ada/old · closed\n"
    )


def test_the_daemon_in_json_has_its_pid_at_the_top() -> None:
    """And every figure under its own name."""
    data = json.loads(administration.daemon(DAEMON, DaemonStatus(output="json")).out)

    assert (data["schema"], data["pid"], data["last_progress_s"], data["last_error"]) == (1, 4711, 12.0, None)
    assert [row["phase"] for row in data["worktrees"]] == ["ready", "indexing", "closed"]
    assert data["worktrees"][1]["watching"]["reason"] == "file system nfs"


def test_repos_are_listed_one_a_line() -> None:
    """With what is known of each."""
    rows = (
        RepoRow(
            root="/home/ada/shop",
            phase="ready",
            files=812,
            chunks=5_120,
            generation=42,
            freshness=Freshness(True),
            index_bytes=8_100_000,
        ),
        RepoRow(root="/home/ada/old"),
    )

    answer = administration.repos(rows, Repos())
    data = json.loads(administration.repos(rows, Repos(output="json")).out)

    assert answer.out == (
        "/home/ada/shop  812 files  5,120 chunks  generation 42  fresh  8.1 MB\n/home/ada/old  closed\n"
    )
    assert (data["results"][0]["files"], data["results"][1]["files"], answer.code) == (812, None, 0)


def test_no_repos_says_how_to_attach_one() -> None:
    """Exit 1."""
    answer = administration.repos((), Repos())

    assert answer.out.startswith("no worktree is attached: ctx query in a repository") and answer.code == 1


def test_an_update_says_what_is_indexed_now() -> None:
    """One line with counts, time and freshness."""
    done = Outcome(
        verb="updated",
        root="/home/ada/shop",
        files=812,
        chunks=5_120,
        symbols=9_876,
        skipped=3,
        changed=12,
        generation=43,
        took_ms=340.2,
    )

    answer = administration.outcome(done, Update(directory=b"/home/ada/shop"))

    assert answer.out == (
        "updated /home/ada/shop: 812 files, 5,120 chunks, 9,876 symbols"
        " · 12 changed · 3 skipped · 340 ms · fresh · generation 43\n"
    )
    assert answer.code == 0


def test_nothing_to_index_is_exit_1_with_the_reason() -> None:
    """In text and in JSON."""
    done = Outcome(verb="attached", root="/r", ignored=1, ignored_by=".gitignore:1", generation=1)

    answer = administration.outcome(done, Update(directory=b"/r"))
    data = administration.outcome(done, Update(directory=b"/r", output="json"))

    assert answer.out.startswith("attached /r: 0 files indexed, 1 ignored by .gitignore:1 · ")
    assert (answer.code, data.code) == (1, 1)
    assert json.loads(data.out)["ignored_by"] == ".gitignore:1"


def test_forgetting_says_what_is_gone() -> None:
    """Exit 0: there is nothing left to index, and that was the wish."""
    answer = administration.outcome(Outcome(verb="forgotten", root="/r"), Update(directory=b"/r"))

    assert (answer.out, answer.code) == ("forgotten /r: detached, its index deleted\n", 0)
