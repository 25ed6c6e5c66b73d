"""What happens in a worktree -> a line for people, or one JSON object a line. Pure; runs on the loop."""

from __future__ import annotations

import time

import msgspec

from ctxd.render import escape, json, status, text
from ctxd.render.style import Style, count, milliseconds
from ctxd.state import Happening, WorktreeState
from ctxprotocol.messages import Output

# Paths that a line for people names; JSON has as many as the feed keeps.
SHOWN_PATHS = 4


class HappeningResult(msgspec.Struct, frozen=True, kw_only=True):
    """One line of `ctx watch --json`; a key that says nothing about this event is left out."""

    schema: int = json.SCHEMA
    event: str
    root: str
    at_s: float
    reason: str | msgspec.UnsetType = msgspec.UNSET
    took_ms: float | msgspec.UnsetType = msgspec.UNSET
    count: int | msgspec.UnsetType = msgspec.UNSET
    changed: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    removed: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    changed_files: int | msgspec.UnsetType = msgspec.UNSET
    removed_files: int | msgspec.UnsetType = msgspec.UNSET
    generation: int | msgspec.UnsetType = msgspec.UNSET
    phase: str | msgspec.UnsetType = msgspec.UNSET
    watching: status.Watch | msgspec.UnsetType = msgspec.UNSET
    fresh: bool | msgspec.UnsetType = msgspec.UNSET
    fresh_reason: str | msgspec.UnsetType = msgspec.UNSET
    files_pending: int | msgspec.UnsetType = msgspec.UNSET


def standing(state: WorktreeState, output: Output, style: Style) -> str:
    """Return the first line: which worktree this is, and how it stands."""
    if output == "json":
        return json.line(
            HappeningResult(
                event="standing",
                root=escape.root(state.root),
                at_s=round(time.time(), 3),
                phase=state.phase,
                generation=state.generation,
                watching=status.watch(state),
                fresh=state.freshness.fresh,
                fresh_reason=state.freshness.reason,
                files_pending=state.freshness.pending,
            )
        )
    parts = [
        style.bold(escape.path(escape.root(state.root))),
        f"generation {state.generation:,}",
        text.freshness(state.freshness),
        status.watching(state),
    ]
    return " · ".join(parts) + "\n"


def line(happening: Happening, output: Output, style: Style) -> str:
    """Return the line for one happening."""
    if output == "json":
        return json.line(_result(happening))
    clock = time.strftime("%H:%M:%S", time.localtime(happening.at_s))
    return f"{style.dim(clock)}  {_said(happening, style)}\n"


def _said(happening: Happening, style: Style) -> str:
    took = milliseconds(happening.took_ms)
    because = f": {escape.line(happening.reason)}" if happening.reason else ""
    match happening.kind:
        case "committed":
            return _committed(happening, style)
        case "compared":
            found = f"{count(happening.count, 'file')} differed" if happening.count else "nothing differed"
            return f"compared the whole tree: {found} · {took}"
        case "audited":
            return f"audit: {count(happening.count, 'file')} differed from what events said"
        case "rebuilt":
            return f"rebuilt the index · {took}"
        case "freshness":
            return text.freshness(happening.freshness)
        case "missed":
            return f"{count(happening.count, 'line')} left out: they came faster than they were read"
        case "lost":
            return f"events were lost{because}; comparing the whole tree by content"
        case "failed":
            return f"failed{because}; it is tried again"
        case "damaged":
            return f"the index is damaged{because}; building it anew"
        case "rebuilding":
            return "rebuilding the index beside the old one"
        case "forgotten":
            return "forgotten: detached, its index deleted"
        case "attached" | "opened" as kind:
            return kind


def _committed(happening: Happening, style: Style) -> str:
    parts = [
        _named("changed", happening.changed, happening.changed_files, style),
        _named("removed", happening.removed, happening.removed_files, style),
        milliseconds(happening.took_ms),
        f"generation {happening.generation:,}",
    ]
    return " · ".join(filter(None, parts))


def _named(verb: str, paths: tuple[str, ...], files: int, style: Style) -> str:
    if not files:
        return ""
    shown = ", ".join(style.bold(style.path(path)) for path in paths[:SHOWN_PATHS])
    more = files - min(len(paths), SHOWN_PATHS)
    return f"{verb} {shown}{f' and {more:,} more' if more else ''}"


def _result(happening: Happening) -> HappeningResult:
    result = HappeningResult(
        event=happening.kind,
        root=escape.root(happening.root),
        at_s=round(happening.at_s, 3),
        reason=happening.reason or msgspec.UNSET,
    )
    change = msgspec.structs.replace
    match happening.kind:
        case "committed":
            return change(
                result,
                took_ms=round(happening.took_ms, 2),
                changed=happening.changed,
                removed=happening.removed,
                changed_files=happening.changed_files,
                removed_files=happening.removed_files,
                generation=happening.generation,
            )
        case "compared":
            return change(result, took_ms=round(happening.took_ms, 2), count=happening.count)
        case "rebuilt":
            return change(result, took_ms=round(happening.took_ms, 2))
        case "missed" | "audited":
            return change(result, count=happening.count)
        case "freshness":
            fresh = happening.freshness
            return change(result, fresh=fresh.fresh, fresh_reason=fresh.reason, files_pending=fresh.pending)
    return result
