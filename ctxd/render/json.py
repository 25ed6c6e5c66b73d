"""Found -> JSON for programs: one compact UTF-8 object of schema 1 and a line break. Pure; runs on the
reader threads.

Content goes out byte for byte inside JSON strings; nothing is escaped beyond what JSON itself asks for. Keys
may be added; none changes its meaning within a schema number.
"""

from __future__ import annotations

import hashlib
from urllib.parse import quote

import msgspec

from ctxd.model import Found, Hit, Stats
from ctxd.render import escape
from ctxprotocol.errors import CtxError

SCHEMA = 1
# Characters of a path that may stand in a URI's path as they are (RFC 3986 pchar and `/`); all else is
# percent-encoded.
_PCHAR = "/-._~!$&'()*+,;=:@"

_encoder = msgspec.json.Encoder()


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `results`; a key that is UNSET is left out. `summary_by`: the summary is that model's words."""

    file: str
    line_start: int
    line_end: int
    type: str
    name: str
    qualified_name: str
    parent: str
    definition_line: int
    exported: bool
    uri: str
    id: str | msgspec.UnsetType = msgspec.UNSET
    language: str
    score: float | msgspec.UnsetType = msgspec.UNSET
    render: str | msgspec.UnsetType = msgspec.UNSET
    summary: str
    summary_by: str | msgspec.UnsetType = msgspec.UNSET
    signature: str
    code: str | msgspec.UnsetType = msgspec.UNSET
    lines: tuple[int, ...] | msgspec.UnsetType = msgspec.UNSET
    show_line: int | msgspec.UnsetType = msgspec.UNSET
    verified: bool | msgspec.UnsetType = msgspec.UNSET
    via: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    why: str | msgspec.UnsetType = msgspec.UNSET
    explain: list[Part] | msgspec.UnsetType = msgspec.UNSET
    sent_before: bool | msgspec.UnsetType = msgspec.UNSET


class Part(msgspec.Struct, frozen=True):
    """One named feature of a score with its share."""

    feature: str
    value: float


class Figures(msgspec.Struct, frozen=True, kw_only=True):
    """The `stats` of a reply; times in milliseconds."""

    search_ms: float
    steering_ms: float = 0
    total_ms: float
    tokens: int
    cost_usd: float | None = 0
    strategies_used: tuple[str, ...]
    files_indexed: int
    files_pending: int
    omitted: int
    steered_by: str | msgspec.UnsetType = msgspec.UNSET
    dropped: int | msgspec.UnsetType = msgspec.UNSET


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """The object of every answer with results."""

    schema: int = SCHEMA
    query: str
    root: str
    results: list[Result]
    stats: Figures
    fresh: bool
    fresh_reason: str | msgspec.UnsetType = msgspec.UNSET
    generation: int
    warnings: tuple[str, ...]
    hint: str | None


class ErrorBody(msgspec.Struct, frozen=True):
    """What went wrong, as data."""

    code: str
    message: str
    hint: str | None


class ErrorReply(msgspec.Struct, frozen=True, kw_only=True):
    """The object of an answer that is an error."""

    schema: int = SCHEMA
    error: ErrorBody


def found(answer: Found, *, explain: bool = False) -> str:
    """Return an answer as JSON; `explain` adds the parts of each score."""
    return _reply(answer, [_ranked(hit, explain, answer.stats.steered_by) for hit in answer.hits])


def definitions(answer: Found) -> str:
    """Return rows of `symbols` and `outline`: places and facts, without score and rendering."""
    return _reply(answer, [_place(hit) for hit in answer.hits])


def error(failed: CtxError) -> str:
    """Return an error as JSON."""
    return line(ErrorReply(error=ErrorBody(failed.error, failed.message, failed.hint or None)))


def line(value: msgspec.Struct) -> str:
    """Return a Struct as one compact line of JSON."""
    return _encoder.encode(value).decode() + "\n"


def uri(file: str, line_start: int, line_end: int) -> str:
    """Return the URI of lines of a file: `file:src/pool.py#L8-L45`."""
    lines = f"L{line_start}-L{line_end}" if line_end != line_start else f"L{line_start}"
    return f"file:{quote(file, safe=_PCHAR)}#{lines}"


def identity(file: str, text: str) -> str:
    """Return the id of a result: the same for the same path and text, wherever in the file it stands."""
    return hashlib.sha256(f"{file}\0{text}".encode()).hexdigest()[:16]


def figures(stats: Stats) -> Figures:
    """Return the `stats` of a reply."""
    return Figures(
        search_ms=round(stats.search_ms, 2),
        total_ms=round(stats.total_ms, 2),
        tokens=stats.tokens,
        strategies_used=stats.strategies_used,
        files_indexed=stats.files_indexed,
        files_pending=stats.files_pending,
        omitted=stats.omitted,
        steering_ms=round(stats.steering_ms, 2) if stats.steering_ms else 0,
        cost_usd=round(stats.cost_usd, 8) if stats.cost_usd else None if stats.cost_usd is None else 0,
        steered_by=stats.steered_by or msgspec.UNSET,
        dropped=stats.dropped if stats.steered_by else msgspec.UNSET,
    )


def _reply(answer: Found, results: list[Result]) -> str:
    reply = Reply(
        query=answer.query,
        root=escape.root(answer.root),
        results=results,
        stats=figures(answer.stats),
        fresh=answer.freshness.fresh,
        fresh_reason=answer.freshness.reason or msgspec.UNSET,
        generation=answer.generation,
        warnings=answer.warnings,
        hint=answer.hint or None,
    )
    return line(reply)


def _place(hit: Hit) -> Result:
    return Result(
        file=hit.file,
        line_start=hit.line_start,
        line_end=hit.line_end,
        type=hit.type,
        name=hit.name,
        qualified_name=hit.qualified_name or hit.name,
        parent=hit.parent,
        definition_line=hit.definition_line or hit.line_start,
        exported=hit.exported,
        uri=uri(hit.file, hit.line_start, hit.line_end),
        id=hit.id or msgspec.UNSET,
        language=hit.language,
        summary=hit.summary or hit.signature,
        signature=hit.signature,
    )


def _ranked(hit: Hit, explain: bool, model: str) -> Result:
    unset = msgspec.UNSET
    return msgspec.structs.replace(
        _place(hit),
        id=hit.id or identity(hit.file, hit.code if hit.code is not None else f"{hit.name}\0{hit.signature}"),
        score=round(hit.score, 4),
        render=hit.render,
        code=unset if hit.code is None else hit.code,
        lines=hit.lines or unset,
        show_line=hit.show_line or unset,
        verified=hit.verified,
        via=hit.via,
        why=hit.why or unset,
        explain=[Part(name, round(value, 6)) for name, value in hit.parts] if explain else unset,
        sent_before=hit.sent_before or unset,
        summary=hit.said or hit.summary or hit.signature,
        summary_by=model if hit.said else unset,
    )
