"""Questions that nobody labelled, for measuring time alone: words of the worktree's own names. Deterministic."""

from __future__ import annotations

import re
from random import Random

from ctxclient.bench.runs import Report, Timed
from ctxclient.bench.session import Session

LENGTHS = (1, 2, 3, 5, 8, 12)
EACH = 40
_SYMBOLS = 5_000
_SEED = 20260101
_WORD = re.compile(r"[A-Za-z][a-z]{2,}|[A-Z]{3,}")


def timed(session: Session, root: str, report: Report) -> list[Timed]:
    """Ask EACH questions of each length about the worktree at `root`."""
    symbols = session.symbols(root, _SYMBOLS).results
    names = sorted({row.name for row in symbols if row.name})
    words = sorted({word for row in symbols for word in _WORD.findall(f"{row.name} {row.summary}")})
    if not names or not words:
        return []
    rng = Random(_SEED)
    found: list[Timed] = []
    for length in LENGTHS:
        for _ in range(EACH):
            report("speed", len(found), EACH * len(LENGTHS))
            text = rng.choice(names) if length == 1 else " ".join(rng.choices(words, k=length))
            answer = session.find(root, text, 10)
            found.append(Timed(length, answer.stats.search_ms))
    return found
