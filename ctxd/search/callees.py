"""`ctx callees`: what a definition refers to, and where each of it is. On a reader thread, in one snapshot."""

from __future__ import annotations

from ctxd.model import View
from ctxd.render import edges
from ctxd.render.edges import Edges
from ctxd.render.style import style
from ctxd.search import absence, scope, targets
from ctxd.search.callers import counted, edge, place, prepare, taken
from ctxd.search.graph import Graph
from ctxd.search.resolver import Resolver
from ctxd.search.targets import Asked
from ctxd.store import relations
from ctxd.store.relations import Definition, Site
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Callees

# Looked at for one answer, in the order of the definitions: beyond that they are counted only.
_MAX_SITES = 2_000
# Definitions of one name that are looked into.
_MAX_DEFINITIONS = 50


def callees(snapshot: Snapshot, request: Callees, view: View, asked: Asked) -> Answer:
    """Answer with the references inside of a definition. Raises FileNotIndexed, UsageFailed."""
    graph = Graph(snapshot)
    named = targets.find(graph, asked)
    accept = taken(graph, request)
    wanted = [one for one in named if accept(one.file)]
    if not wanted:
        return absence.answer(snapshot, request, view, request.name, removed=len(named), strategies=("symbol",))
    inside = [site for one in _outermost(wanted) for site in _inside(graph, one, request.kind)]
    looked = inside[:_MAX_SITES]
    prepare(graph, looked)
    resolver = Resolver(graph)
    rows = [(site, resolver.resolve(site)) for site in looked]
    ordered = sorted(rows, key=lambda row: row[1].confidence == "unresolved")
    shown = ordered[: scope.limit(request)]
    answer = Edges(
        verb="callees",
        query=request.name,
        root=view.root,
        targets=tuple(place(graph, one) for one in wanted),
        rows=tuple(edge(graph, site, verdict) for site, verdict in shown),
        counted=counted(verdict for _, verdict in rows),
        unseen=len(inside) - len(looked),
        removed=len(named) - len(wanted),
        filters=absence.filters(request),
        stats=scope.stats(view, omitted=len(rows) - len(shown), files_indexed=len(graph.sources)),
        freshness=view.freshness,
        generation=snapshot.generation,
    )
    code = 0 if rows else 1
    if request.output == "json":
        return Answer(out=edges.edges_json(answer), code=code)
    return Answer(out=edges.callees(answer, style(request, view)), code=code)


def _outermost(wanted: list[Definition]) -> list[Definition]:
    """Leave out what stands inside of another one: its references are there already."""
    kept: list[Definition] = []
    for one in wanted[:_MAX_DEFINITIONS]:
        if not any(o.file == one.file and o.line_start <= one.line_start and one.line_end <= o.line_end for o in kept):
            kept.append(one)
    return kept


def _inside(graph: Graph, one: Definition, kind: str) -> list[Site]:
    """Return the references in a definition, also in what stands inside of it; imports only where asked for."""
    found = relations.sites_inside(graph.snapshot, one.file, one.line_start, one.line_end)
    kept = [site for site in found if (site.kind == kind if kind else site.kind != "import")]
    return [site for site in kept if any(o.id == one.id for o in graph.around(site.symbol))]
