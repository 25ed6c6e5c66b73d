"""`ctx repos`, `init`, `update`, `forget` -> text and JSON. Pure; runs on the loop."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ctxd.render import escape, json, nothing, text
from ctxd.render.style import PLAIN, Style, count, milliseconds, size
from ctxd.state import Outcome, RepoRow


class RepoResult(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `results` of `ctx repos`; a figure of an index that is not open is null."""

    root: str
    phase: str
    files: int | None
    chunks: int | None
    generation: int | None
    fresh: bool | None
    fresh_reason: str | None
    index_bytes: int


class ReposReply(msgspec.Struct, frozen=True, kw_only=True):
    """The object of `ctx repos --json`."""

    schema: int = json.SCHEMA
    results: list[RepoResult]
    warnings: tuple[str, ...] = ()
    hint: str | None = None


class OutcomeReply(msgspec.Struct, frozen=True, kw_only=True):
    """The object of `init`, `update` and `forget` with `--json`."""

    schema: int = json.SCHEMA
    done: str
    root: str
    files: int
    chunks: int
    symbols: int
    skipped: int
    changed: int
    generation: int
    fresh: bool
    fresh_reason: str
    ignored: int
    ignored_by: str
    took_ms: float


_NONE = "ctx query in a repository, or ctx init DIR, attaches one"


def repos_text(rows: Sequence[RepoRow], style: Style = PLAIN) -> str:
    """Return the attached worktrees, one a line."""
    if not rows:
        return f"no worktree is attached: {_NONE}\n"
    return "".join(f"{_repo(row, style)}\n" for row in rows)


def repos_json(rows: Sequence[RepoRow]) -> str:
    """Return the same as JSON."""
    return json.line(ReposReply(results=[_result(row) for row in rows], hint=None if rows else _NONE))


def outcome_text(outcome: Outcome, style: Style = PLAIN) -> str:
    """Return one line: what was done, what is indexed now, how fresh that is."""
    root = style.bold(escape.path(escape.root(outcome.root)))
    if outcome.verb == "forgotten":
        return f"forgotten {root}: detached, its index deleted\n"
    if outcome.files:
        held = ", ".join(
            (count(outcome.files, "file"), count(outcome.chunks, "chunk"), count(outcome.symbols, "symbol"))
        )
    else:
        held = nothing.empty(outcome.ignored, outcome.ignored_by)
    parts = [
        f"{outcome.verb} {root}: {held}",
        f"{outcome.changed:,} changed",
        f"{outcome.skipped:,} skipped" if outcome.skipped else "",
        milliseconds(outcome.took_ms),
        text.freshness(outcome.freshness),
        f"generation {outcome.generation:,}",
    ]
    return " · ".join(filter(None, parts)) + "\n"


def outcome_json(outcome: Outcome) -> str:
    """Return the same as JSON."""
    return json.line(
        OutcomeReply(
            done=outcome.verb,
            root=escape.root(outcome.root),
            files=outcome.files,
            chunks=outcome.chunks,
            symbols=outcome.symbols,
            skipped=outcome.skipped,
            changed=outcome.changed,
            generation=outcome.generation,
            fresh=outcome.freshness.fresh,
            fresh_reason=outcome.freshness.reason,
            ignored=outcome.ignored,
            ignored_by=outcome.ignored_by,
            took_ms=round(outcome.took_ms, 1),
        )
    )


def outcome_code(outcome: Outcome) -> int:
    """Return the exit code: 1 when there was nothing to index."""
    return 0 if outcome.files or outcome.verb == "forgotten" else 1


def _repo(row: RepoRow, style: Style) -> str:
    parts = [
        style.bold(escape.path(escape.root(row.root))),
        "" if row.phase == "ready" else row.phase,
        count(row.files, "file") if row.files >= 0 else "",
        count(row.chunks, "chunk") if row.chunks >= 0 else "",
        f"generation {row.generation:,}" if row.generation >= 0 else "",
        text.freshness(row.freshness) if row.freshness else "",
        size(row.index_bytes) if row.index_bytes else "",
    ]
    return "  ".join(filter(None, parts))


def _result(row: RepoRow) -> RepoResult:
    return RepoResult(
        root=escape.root(row.root),
        phase=row.phase,
        files=row.files if row.files >= 0 else None,
        chunks=row.chunks if row.chunks >= 0 else None,
        generation=row.generation if row.generation >= 0 else None,
        fresh=row.freshness.fresh if row.freshness else None,
        fresh_reason=row.freshness.reason if row.freshness else None,
        index_bytes=row.index_bytes,
    )
