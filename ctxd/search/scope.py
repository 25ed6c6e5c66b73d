"""A request's filters and limit, as the lists apply them: before anything is cut off. Runs on a reader
thread.
"""

from __future__ import annotations

import time

from ctxd.model import Stats, View
from ctxd.search import globs
from ctxd.state import FileRow
from ctxd.store import catalog
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Filtered

# What a list shows when the request does not say how many.
LISTED = 50


def scope(snapshot: Snapshot, request: Filtered) -> str | None:
    """Return the files that the filters leave, as catalog takes them; None when all. Raises UsageFailed."""
    accept = globs.paths(request.paths, request.excludes)
    if accept is None and not request.languages and request.content == "all":
        return None

    def wanted(row: FileRow) -> bool:
        return (
            (not request.languages or row.language in request.languages)
            and (request.content == "all" or row.content == request.content)
            and (accept is None or accept(row.path))
        )

    return catalog.scope(snapshot, wanted)


def narrow(request: Filtered) -> bool:
    """Return whether the request has a filter at all."""
    return bool(request.languages or request.paths or request.excludes or request.kind or request.content != "all")


def limit(request: Filtered) -> int:
    """Return how many rows to show."""
    return request.limit or LISTED


def stats(view: View, *, omitted: int = 0, files_indexed: int = 0) -> Stats:
    """Return the figures of a list that was read until now."""
    spent = (time.perf_counter_ns() - view.started_ns) / 1e6
    return Stats(
        search_ms=spent,
        total_ms=spent,
        strategies_used=("symbol",),
        files_indexed=files_indexed,
        files_pending=view.freshness.pending,
        omitted=omitted,
    )
