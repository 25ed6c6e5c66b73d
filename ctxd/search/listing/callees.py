"""`ctx callees`: what a definition refers to, and where each of it is. On a reader thread, in one snapshot."""

from __future__ import annotations

from ctxd.model import View
from ctxd.search import absence, filters
from ctxd.search.edges.graph import Graph
from ctxd.search.edges.resolver import Resolver
from ctxd.search.listing import references, targets
from ctxd.search.listing.references import Resolved
from ctxd.search.listing.targets import Asked
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
    accept = graph.taken(filters.takes(request))
    wanted = [one for one in named if accept(one.file)]
    if not wanted:
        return absence.answer(snapshot, request, view, request.name, removed=len(named), strategies=("symbol",))
    inside = [site for one in _outermost(wanted) for site in _inside(graph, one, request.kind)]
    looked = inside[:_MAX_SITES]
    graph.expect_sites(looked)
    resolver = Resolver(graph)
    rows = [(site, resolver.resolve(site)) for site in looked]
    found = Resolved(
        verb="callees",
        targets=wanted,
        rows=sorted(rows, key=lambda row: row[1].confidence == "unresolved"),
        verdicts=[verdict for _, verdict in rows],
        unseen=len(inside) - len(looked),
        removed=len(named) - len(wanted),
    )
    return references.answer(graph, request, view, found)


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
