"""What answers that are lists have in common, as text and as JSON. Pure; runs on the reader threads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from ctxd.model import Freshness, Stats
from ctxd.render import escape, json, text
from ctxd.render.style import milliseconds

_UNSET = msgspec.UNSET


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """A list before it is rendered: where it was read, how fresh, how long it took."""

    root: str
    stats: Stats
    freshness: Freshness
    generation: int


class ListReply(msgspec.Struct, frozen=True, kw_only=True):
    """The object of a command that lists; a key that is UNSET is left out."""

    schema: int = json.SCHEMA
    query: str | msgspec.UnsetType = _UNSET
    root: str
    targets: Sequence[msgspec.Struct] | msgspec.UnsetType = _UNSET
    results: Sequence[msgspec.Struct]
    counts: msgspec.Struct | msgspec.UnsetType = _UNSET
    not_looked_at: int | msgspec.UnsetType = _UNSET
    stats: json.Figures
    fresh: bool
    fresh_reason: str | msgspec.UnsetType = _UNSET
    generation: int
    warnings: tuple[str, ...] = ()
    hint: str | None = None


def reply(
    answer: Listing,
    results: Sequence[msgspec.Struct],
    *,
    query: str | msgspec.UnsetType = _UNSET,
    targets: Sequence[msgspec.Struct] | msgspec.UnsetType = _UNSET,
    counts: msgspec.Struct | msgspec.UnsetType = _UNSET,
    not_looked_at: int | msgspec.UnsetType = _UNSET,
    hint: str | None = None,
) -> str:
    """Return a list as one line of JSON."""
    return json.line(
        ListReply(
            query=query,
            root=escape.root(answer.root),
            targets=targets,
            results=results,
            counts=counts,
            not_looked_at=not_looked_at,
            stats=json.figures(answer.stats),
            fresh=answer.freshness.fresh,
            fresh_reason=answer.freshness.reason or _UNSET,
            generation=answer.generation,
            hint=hint,
        )
    )


def closing(answer: Listing) -> Iterator[str]:
    """Give what a list's last line says: left out, time, freshness."""
    if answer.stats.omitted:
        yield f"{answer.stats.omitted:,} left out"
    yield f"{milliseconds(answer.stats.search_ms)} search"
    yield text.freshness(answer.freshness)
