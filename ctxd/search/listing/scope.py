"""A request's filters and limit, as the lists apply them: before anything is cut off. Runs on a reader
thread.
"""

from __future__ import annotations

import time

from ctxd.model import Stats, View
from ctxd.search.filters import takes
from ctxd.store import catalog
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Filtered

# What a list shows when the request does not say how many.
LISTED = 50


def scope(snapshot: Snapshot, request: Filtered) -> str | None:
    """Return the files that the filters leave, as catalog takes them; None when all. Raises UsageFailed."""
    accept = takes(request)
    return None if accept is None else catalog.scope(snapshot, accept)


def narrow(request: Filtered) -> bool:
    """Return whether the request has a filter at all."""
    return bool(request.languages or request.paths or request.excludes or request.kind or request.content != "all")


def limit(request: Filtered) -> int:
    """Return how many rows to show."""
    return request.limit or LISTED


def stats(view: View, *, files_indexed: int, omitted: int = 0, strategies: tuple[str, ...] = ()) -> Stats:
    """Return the figures of a list that was read until now."""
    now_ns = time.perf_counter_ns()
    return Stats(
        search_ms=(now_ns - view.search_began_ns) / 1e6,
        total_ms=(now_ns - view.started_ns) / 1e6,
        strategies_used=strategies,
        files_indexed=files_indexed,
        files_pending=view.freshness.pending,
        omitted=omitted,
    )
