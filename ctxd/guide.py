"""What a language model makes of a question, and of what was found: values that search and steering share.

A guide only says what else to look for; a verdict only drops a place that was found, or says a line about it. Nothing
here can name a file to open or a thing to run.
"""

from __future__ import annotations

from typing import Literal

import msgspec

Strategy = Literal["words", "symbol", "path", "meaning"]


class SubQuery(msgspec.Struct, frozen=True):
    """One more question; `weight` is what it counts beside the user's own, which counts 1."""

    text: str
    strategy: Strategy
    weight: float


class Guide(msgspec.Struct, frozen=True):
    """How to search: sub-queries, names and globs of definitions, globs of paths, how many results (0 = as usual)."""

    queries: tuple[SubQuery, ...] = ()
    symbols: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    count: int = 0


class Shown(msgspec.Struct, frozen=True):
    """A place as the model is shown it. `id` and `line_start` know it again; `lines` are some of its stored lines."""

    id: str
    path: str
    line_start: int
    line_end: int
    type: str
    name: str
    signature: str
    lines: tuple[str, ...]


class Verdict(msgspec.Struct, frozen=True):
    """What the model says of a place: whether it belongs to the answer, and one line on what it is and why."""

    id: str
    line_start: int
    keep: bool
    said: str


class Steered(msgspec.Struct, frozen=True, kw_only=True):
    """What steering came to. `by` is the model, "" when none answered; `warning` what went wrong, "" for nothing.

    `cost_usd` is None where a price is not known.
    """

    guide: Guide | None = None
    verdicts: tuple[Verdict, ...] = ()
    by: str = ""
    cost_usd: float | None = 0.0
    took_ms: float = 0.0
    warning: str = ""


UNSTEERED = Steered()
