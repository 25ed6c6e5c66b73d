"""`ctx daemon status` -> text and JSON. Pure; runs on the loop, so it does no more than join a few lines."""

from __future__ import annotations

import msgspec

from ctxd.render import escape, json, status, text
from ctxd.render.style import PLAIN, Style, count, duration, milliseconds, size
from ctxd.state import Audited, DaemonState, WorktreeState


class WorktreeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One attached worktree in `ctx daemon status --json`."""

    root: str
    index: str
    phase: str
    generation: int
    fresh: bool
    fresh_reason: str
    files_pending: int
    watching: status.Watch
    audit: Audited
    rebuilds: int
    last_error: str | None


class DaemonReply(msgspec.Struct, frozen=True, kw_only=True):
    """The object of `ctx daemon status --json`; times in the units that the names say."""

    schema: int = json.SCHEMA
    pid: int
    version: str
    uptime_s: float
    socket: str
    state_dir: str
    log: str
    queue: int
    queries: int
    requests: int
    p50_ms: float
    p99_ms: float
    rss_bytes: int
    watches: int
    connections: int
    workers: int
    worker_restarts: int
    files_parsed: int
    last_progress: str | None
    last_progress_s: float | None
    last_error: str | None
    worktrees: list[WorktreeResult]


def daemon_text(state: DaemonState, style: Style = PLAIN) -> str:
    """Return the text for people."""
    progress = escape.line(state.last_progress) or "none yet"
    if state.last_progress_s >= 0:
        progress += f" ({duration(state.last_progress_s)} ago)"
    lines = [
        style.bold(f"ctxd {escape.line(state.version)} · pid {state.pid} · up {duration(state.uptime_s)}"),
        f"socket: {_own(state.socket)}",
        f"state: {_own(state.state_dir)}",
        f"log: {_own(state.log)}" if state.log else "",
        f"memory: {size(state.rss_bytes)} · {count(state.connections, 'connection')} · {_watches(state.watches)}"
        f" · {count(state.workers, 'parse worker')}"
        + (f", restarted {state.worker_restarts}×" if state.worker_restarts else ""),
        f"queue: {count(state.queue, 'write')}, {count(state.queries, 'question')} · {count(state.requests, 'request')}"
        f" · p50 {milliseconds(state.p50_ms)} · p99 {milliseconds(state.p99_ms)}",
        f"last progress: {progress}",
        f"last error: {escape.line(state.last_error) or 'none'}",
        f"worktrees: {len(state.worktrees)}",
        *(f"  {_worktree(one, style)}" for one in state.worktrees),
    ]
    return "\n".join(filter(None, lines)) + "\n"


def daemon_json(state: DaemonState) -> str:
    """Return the same as JSON, `pid` at top level."""
    return json.line(
        DaemonReply(
            pid=state.pid,
            version=state.version,
            uptime_s=round(state.uptime_s, 1),
            socket=escape.root(state.socket),
            state_dir=escape.root(state.state_dir),
            log=escape.root(state.log),
            queue=state.queue,
            queries=state.queries,
            requests=state.requests,
            p50_ms=round(state.p50_ms, 2),
            p99_ms=round(state.p99_ms, 2),
            rss_bytes=state.rss_bytes,
            watches=state.watches,
            connections=state.connections,
            workers=state.workers,
            worker_restarts=state.worker_restarts,
            files_parsed=state.files_parsed,
            last_progress=state.last_progress or None,
            last_progress_s=round(state.last_progress_s, 1) if state.last_progress_s >= 0 else None,
            last_error=state.last_error or None,
            worktrees=[_result(one) for one in state.worktrees],
        )
    )


def _result(state: WorktreeState) -> WorktreeResult:
    return WorktreeResult(
        root=escape.root(state.root),
        index=escape.root(state.index_path),
        phase=state.phase,
        generation=state.generation,
        fresh=state.freshness.fresh,
        fresh_reason=state.freshness.reason,
        files_pending=max(state.pending, state.freshness.pending),
        watching=status.watch(state),
        audit=state.audited,
        rebuilds=state.rebuilds,
        last_error=state.last_error or None,
    )


def _worktree(state: WorktreeState, style: Style) -> str:
    parts = [style.bold(_own(state.root)), state.phase]
    if state.phase != "closed":
        parts += [f"generation {state.generation:,}", text.freshness(state.freshness), status.watching(state)]
    if state.pending:
        parts.append(f"{state.pending:,} pending")
    if state.last_error:
        parts.append(f"last error: {escape.line(state.last_error)}")
    return " · ".join(parts)


def _watches(number: int) -> str:
    return "1 watch" if number == 1 else f"{number:,} watches"


def _own(path: str) -> str:
    return escape.path(escape.root(path))
