"""Answers about the daemon and its worktrees, in the form that was asked for. Pure; runs on the loop."""

from __future__ import annotations

from collections.abc import Sequence

from ctxd.render import daemon as machine
from ctxd.render import worktrees
from ctxd.render.style import Style
from ctxd.state import DaemonState, Outcome, RepoRow
from ctxprotocol.messages import Answer, Request


def outcome(done: Outcome, request: Request) -> Answer:
    """Answer `init`, `update` and `forget`: exit code 1 when there was nothing to index."""
    style = Style(color=request.color)
    out = worktrees.outcome_json(done) if request.output == "json" else worktrees.outcome_text(done, style)
    return Answer(out=out, code=worktrees.outcome_code(done))


def repos(rows: Sequence[RepoRow], request: Request) -> Answer:
    """Answer `repos`: exit code 1 when nothing is attached."""
    style = Style(color=request.color)
    out = worktrees.repos_json(rows) if request.output == "json" else worktrees.repos_text(rows, style)
    return Answer(out=out, code=0 if rows else 1)


def daemon(state: DaemonState, request: Request) -> Answer:
    """Answer `daemon status`."""
    style = Style(color=request.color)
    return Answer(out=machine.daemon_json(state) if request.output == "json" else machine.daemon_text(state, style))
