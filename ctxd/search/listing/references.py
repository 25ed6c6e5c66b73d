"""References with what they mean -> the answer of `ctx callers` or `callees`. On a reader thread, in one snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import msgspec

from ctxd.model import View
from ctxd.render import edges as render
from ctxd.render.edges import Counted, Edge, Edges, Place
from ctxd.render.style import style
from ctxd.search import absence
from ctxd.search.edges.graph import Graph
from ctxd.search.edges.resolver import Verdict
from ctxd.search.listing import scope
from ctxd.store.relations import Definition, Site
from ctxprotocol.messages import Answer, Callees, Callers


class Resolved(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out: the rows in their order, the verdicts of all that was looked at (None = something else is
    meant), how many were not, how many the filters kept out.
    """

    verb: Literal["callers", "callees"]
    targets: Sequence[Definition]
    rows: Sequence[tuple[Site, Verdict]]
    verdicts: Sequence[Verdict | None]
    unseen: int
    removed: int


def answer(graph: Graph, request: Callers | Callees, view: View, found: Resolved) -> Answer:
    """Answer with references, as many as the request wants: exit code 1 where there are none."""
    shown = found.rows[: scope.limit(request)]
    edges = Edges(
        verb=found.verb,
        query=request.name,
        root=view.root,
        targets=tuple(place(graph, one) for one in found.targets),
        rows=tuple(edge(graph, site, verdict) for site, verdict in shown),
        counted=counted(found.verdicts),
        unseen=found.unseen,
        removed=found.removed,
        filters=absence.filters(request),
        stats=scope.stats(view, omitted=len(found.rows) - len(shown), files_indexed=len(graph.sources)),
        freshness=view.freshness,
        generation=graph.snapshot.generation,
    )
    code = 0 if found.rows else 1
    if request.output == "json":
        return Answer(out=render.edges_json(edges), code=code)
    as_text = render.callers if found.verb == "callers" else render.callees
    return Answer(out=as_text(edges, style(request, view)), code=code)


def counted(verdicts: Iterable[Verdict | None]) -> Counted:
    """Return how many references are how sure; None = they mean something else."""
    tally = {"sure": 0, "ambiguous": 0, "unresolved": 0, "": 0}
    for verdict in verdicts:
        tally[verdict.confidence if verdict is not None else ""] += 1
    return Counted(tally["sure"], tally["ambiguous"], tally["unresolved"], tally[""])


def place(graph: Graph, one: Definition) -> Place:
    """Return a definition as an answer shows it."""
    source = graph.sources[one.file]
    return Place(
        file=source.path,
        line_start=one.line_start,
        line_end=one.line_end,
        line=one.definition_line,
        name=one.name,
        qualified_name=one.qualified_name,
        kind=one.kind,
        language=source.language,
    )


def edge(graph: Graph, site: Site, verdict: Verdict) -> Edge:
    """Return a reference as an answer shows it, with its line of code."""
    lines = graph.lines(site.file)
    around = graph.symbol(site.symbol)
    target = verdict.targets[0] if verdict.targets else None
    return Edge(
        file=graph.sources[site.file].path,
        line=site.line,
        name=site.name,
        receiver=site.receiver,
        kind=site.kind,
        code=lines[site.line - 1].strip() if site.line <= len(lines) else "",
        caller=place(graph, around) if around is not None else None,
        callee=place(graph, target) if target is not None and verdict.confidence == "sure" else None,
        confidence=verdict.confidence,
        rule=verdict.rule,
        candidates=verdict.candidates,
        outside=verdict.outside or verdict.file,
        in_repo=bool(verdict.file),
    )
