"""`ctx status` -> text and JSON: what is indexed of one worktree, what is not and why, how fresh it is.

Pure; runs on the reader threads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from ctxd.model import Freshness
from ctxd.render import escape, json, nothing, text, titles, vectors
from ctxd.render.style import Style, count, size
from ctxd.render.vectors import Vectors
from ctxd.state import Audited, Counts, FileRow, LanguageCount, ReasonCount, VectorsFilled, WorktreeState


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ctx status` before it is rendered. `listed` are the skipped files, None when not asked for.

    `filled`: how many chunks have a vector, None where there is no model.
    """

    state: WorktreeState
    counts: Counts
    freshness: Freshness
    generation: int
    index_bytes: int = 0
    listed: tuple[FileRow, ...] | None = None
    filled: VectorsFilled | None = None


class Watch(msgspec.Struct, frozen=True, kw_only=True):
    """How changes are noticed."""

    state: str
    reason: str
    remedy: str
    directories: int
    overflows: int


class SkippedResult(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `results` of `ctx status --skipped`."""

    file: str
    language: str
    reason: str


class StatusReply(msgspec.Struct, frozen=True, kw_only=True):
    """The object of `ctx status --json`. `notes` are the lines that a person reads."""

    schema: int = json.SCHEMA
    root: str
    index: str
    index_bytes: int
    fresh: bool
    fresh_reason: str
    generation: int
    files: int
    files_pending: int
    chunks: int
    symbols: int
    source_bytes: int
    languages: tuple[LanguageCount, ...]
    skipped: tuple[ReasonCount, ...]
    parse_notes: tuple[ReasonCount, ...]
    decoded_with_replacement: int
    not_utf8: int
    nested: tuple[str, ...]
    linked_worktrees: tuple[str, ...]
    not_checked_out: int
    git: str
    ignored: int
    ignored_by: str
    watching: Watch
    audit: Audited
    vectors: Vectors
    rebuilds: int
    last_error: str | None
    notes: list[str]
    results: list[SkippedResult]


def status_text(status: Status, style: Style) -> str:
    """Return the text for people."""
    counts = status.counts
    lines = [
        style.bold(escape.path(escape.root(status.state.root))),
        f"{text.freshness(status.freshness)} · generation {status.generation:,}",
        f"{_held(counts)} · {size(counts.source_bytes)} of source" if counts.files else "",
        *(f"  {titles.title(one.language)}: {_held_of(one)}" for one in counts.languages),
        *notes(status),
    ]
    if status.state.index_path:
        lines.append(style.dim(f"index: {size(status.index_bytes)} in {_own(status.state.index_path)}"))
    if status.listed is not None:
        lines += [f"  {style.path(row.path)}  {escape.line(row.reason)}" for row in status.listed]
    return "\n".join(filter(None, lines)) + "\n"


def status_json(status: Status) -> str:
    """Return the same as JSON."""
    state, counts = status.state, status.counts
    return json.line(
        StatusReply(
            root=escape.root(state.root),
            index=escape.root(state.index_path),
            index_bytes=status.index_bytes,
            fresh=status.freshness.fresh,
            fresh_reason=status.freshness.reason,
            generation=status.generation,
            files=counts.files,
            files_pending=max(status.freshness.pending, state.pending),
            chunks=counts.chunks,
            symbols=counts.symbols,
            source_bytes=counts.source_bytes,
            languages=counts.languages,
            skipped=counts.skipped,
            parse_notes=counts.noted,
            decoded_with_replacement=counts.replaced,
            not_utf8=state.not_utf8,
            nested=state.nested,
            linked_worktrees=state.linked,
            not_checked_out=state.sparse,
            git=state.git_note,
            ignored=state.ignored,
            ignored_by=state.ignored_by,
            watching=watch(state),
            audit=state.audited,
            vectors=vectors.reply(state.vectors, status.filled),
            rebuilds=state.rebuilds,
            last_error=state.last_error or None,
            notes=notes(status),
            results=[
                SkippedResult(file=escape.root(row.path), language=row.language, reason=row.reason)
                for row in status.listed or ()
            ],
        )
    )


def notes(status: Status) -> list[str]:
    """Return what is worth a line each: what is missing from the index and why, and what went wrong."""
    state, counts = status.state, status.counts
    lines: Iterable[str] = (
        "" if counts.files else nothing.empty(state.ignored, state.ignored_by),
        _reasons("skipped", counts.skipped, "" if status.listed is not None else "ctx status --skipped"),
        f"names that are not UTF-8: {state.not_utf8:,}" if state.not_utf8 else "",
        f"decoded with replacement: {counts.replaced:,}" if counts.replaced else "",
        _reasons("parsed with trouble", counts.noted, ""),
        f"ignored: {state.ignored:,}{_most(state.ignored_by)}" if counts.files and state.ignored else "",
        f"nested repos: {len(state.nested):,}" if state.nested else "",
        f"linked worktrees, left out: {len(state.linked):,}" if state.linked else "",
        f"not checked out (sparse checkout): {state.sparse:,}" if state.sparse else "",
        f"{escape.line(state.git_note)}: ignore rules were applied without git" if state.git_note else "",
        watching(state),
        vectors.line(state.vectors, status.filled),
        f"audit: {count(state.audited.found, 'file')} differed from what events said" if state.audited.found else "",
        f"must be checked by content: {escape.line(state.lost)}" if state.lost else "",
        f"index rebuilt after damage: {state.rebuilds}" if state.rebuilds else "",
        f"last error: {escape.line(state.last_error)}" if state.last_error else "",
    )
    return [line for line in lines if line]


def watching(state: WorktreeState) -> str:
    """Return how changes in a worktree are noticed, why not by events, and what would help."""
    reason, remedy = escape.line(state.watch_reason), escape.line(state.watch_remedy)
    lost = f", events lost {state.overflows}×" if state.overflows else ""
    match state.watching:
        case "trusted":
            said = "watching: " + ("1 directory" if state.watches == 1 else f"{state.watches:,} directories")
        case "degraded":
            said = f"watching: degraded ({reason or 'limit reached'})"
        case "scanning":
            said = f"watching: by scan ({reason or 'no event queue that could be trusted'})"
        case "off":
            said = "watching: off"
    return said + lost + (f"; {remedy}" if remedy else "")


def watch(state: WorktreeState) -> Watch:
    """Return the same as a value of JSON."""
    return Watch(
        state=state.watching,
        reason=state.watch_reason,
        remedy=state.watch_remedy,
        directories=state.watches,
        overflows=state.overflows,
    )


def _held(counts: Counts) -> str:
    return f"{count(counts.files, 'file')} · {count(counts.chunks, 'chunk')} · {count(counts.symbols, 'symbol')}"


def _held_of(one: LanguageCount) -> str:
    return f"{count(one.files, 'file')}, {count(one.chunks, 'chunk')}, {count(one.symbols, 'symbol')}"


def _reasons(what: str, reasons: Sequence[ReasonCount], more: str) -> str:
    if not reasons:
        return ""
    each = ", ".join(f"{escape.line(one.reason)} {one.files:,}" for one in reasons)
    return f"{what}: {sum(one.files for one in reasons):,} ({each}{f'; {more}' if more else ''})"


def _most(rule: str) -> str:
    return f", most by {escape.line(rule)}" if rule else ""


def _own(path: str) -> str:
    return escape.path(escape.root(path))
