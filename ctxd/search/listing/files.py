"""`ctx files`: the indexed paths. Runs on a reader thread, in one snapshot."""

from __future__ import annotations

from ctxd.model import View
from ctxd.render import listing
from ctxd.render.listing import Listed
from ctxd.render.style import style
from ctxd.search import absence, filters
from ctxd.search.listing import scope
from ctxd.store import catalog
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Files


def files(snapshot: Snapshot, request: Files, view: View) -> Answer:
    """Answer with the indexed paths that the filters leave. Raises UsageFailed for a bad pattern."""
    accept = filters.takes(request)
    known = list(catalog.files(snapshot))
    found = [row for row in known if accept(row.path, row.language, row.content)] if accept is not None else known
    if not found:
        return absence.answer(snapshot, request, view, "", removed=len(known) if scope.narrow(request) else 0)
    shown = found[: scope.limit(request)]
    answer = Listed(
        root=view.root,
        rows=tuple(shown),
        stats=scope.stats(view, omitted=len(found) - len(shown), files_indexed=len(known)),
        freshness=view.freshness,
        generation=snapshot.generation,
    )
    if request.output == "json":
        return Answer(out=listing.files_json(answer))
    out, notes = listing.files(answer, style(request, view))
    return Answer(out=out, notes=notes)
