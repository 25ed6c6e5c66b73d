"""How far the vectors of a worktree are -> a line for people and a value of JSON. Pure; runs on the reader threads."""

from __future__ import annotations

from typing import Literal

import msgspec

from ctxd.render import escape
from ctxd.render.style import money
from ctxd.state import VectorsFilled, VectorTier


class Vectors(msgspec.Struct, frozen=True, kw_only=True):
    """`vectors` of `ctx status --json`: `ready` vectors are used by themselves, `partial` ones only when asked for.

    `per_s` and `left_s` are null where nothing was embedded yet; `embedded` counts texts since the daemon started.
    `hosts` are where texts go, none where they stay in processes of ctx; `cap_usd` is null where it is free.
    `replaces` is the model of before, while all that it made is made anew.
    """

    state: Literal["ready", "partial", "off"]
    model: str
    remote: bool
    chunks: int
    done: int
    per_s: float | None
    left_s: float | None
    embedded: int
    reason: str
    hint: str
    hosts: tuple[str, ...]
    spent_usd: float
    cap_usd: float | None
    replaces: str


def reply(tier: VectorTier, filled: VectorsFilled | None) -> Vectors:
    """Return the value of JSON."""
    wanted, done = (filled.wanted, filled.done) if filled is not None else (0, 0)
    return Vectors(
        state="off" if filled is None else "ready" if filled.complete else "partial",
        model=tier.model,
        remote=tier.remote,
        chunks=wanted,
        done=done,
        per_s=round(tier.per_s, 1) if tier.per_s else None,
        left_s=round((wanted - done) / tier.per_s, 1) if tier.per_s else None,
        embedded=tier.embedded,
        reason=tier.trouble,
        hint=tier.hint,
        hosts=tier.hosts,
        spent_usd=round(tier.spent_usd, 6),
        cap_usd=tier.cap_usd,
        replaces=filled.replaces if filled is not None else "",
    )


def line(tier: VectorTier, filled: VectorsFilled | None) -> str:
    """Return the line for people: state, progress, rate and time left, and what is in the way."""
    found = reply(tier, filled)
    if found.state == "off":
        return f"vectors: off ({escape.line(found.reason)}); {escape.line(found.hint)}" if found.reason else ""
    going = _going(found)
    if found.state == "ready":
        trouble = f"; {escape.line(found.reason)}{_remedy(found)}" if found.reason and found.remote else ""
        return f"vectors: ready ({found.done:,} chunks, {escape.line(found.model)}{going}){trouble}"
    share = f"{found.done:,} of {found.chunks:,} chunks ({100 * found.done // max(1, found.chunks)} %)"
    if found.replaces:
        share += f" by {escape.line(found.model)}, in place of those by {escape.line(found.replaces)}"
    if found.reason:
        return f"vectors: partial, {share}{going}; stopped: {escape.line(found.reason)}{_remedy(found)}"
    pace = f", {found.per_s:g} a second, {_span(found.left_s or 0.0)} left" if found.per_s else ""
    return f"vectors: partial, {share}{pace}{going}"


def _going(found: Vectors) -> str:
    """Return where texts go and what that has cost, "" where they go nowhere."""
    if not found.remote:
        return ""
    cost = f", {money(found.spent_usd)} of ${found.cap_usd:g} spent" if found.cap_usd is not None else ""
    return f", remote: texts go to {escape.line(' or '.join(found.hosts))}{cost}"


def _remedy(found: Vectors) -> str:
    return f"; {escape.line(found.hint)}" if found.hint else ""


def _span(seconds: float) -> str:
    """Return a time as a person says it."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"
