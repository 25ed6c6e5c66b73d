"""`ctx callers`: the references that mean a definition, and how sure each is. On a reader thread, in one snapshot.

Every reference of the name is looked at, and every one is counted: what could not be resolved is said to be so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ctxd.model import View
from ctxd.search import absence, filters
from ctxd.search.edges.graph import Graph
from ctxd.search.edges.modules import Modules
from ctxd.search.edges.resolver import Resolver, Verdict
from ctxd.search.listing import references, scope, targets
from ctxd.search.listing.references import Resolved
from ctxd.search.listing.targets import Asked
from ctxd.store import relations
from ctxd.store.relations import Definition, Site
from ctxd.store.schema import BEHIND
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Callers

# Looked at for one answer, in the order of its rows: the first, and more only while fewer are sure than there are rows
# to show. About 60 ms for 1,000 of a method that every class has.
_FIRST_SITES = 500
_MORE_SITES = 250
_MAX_SITES = 1_000
_SITES_PER_ROW = 10
_MAX_NAMES = 50
# References of a name that something was imported under; beyond that only those in files that do so.
_MAX_RENAMED = 1_000
_CONSTRUCTORS = frozenset({"__init__", "__new__", "constructor", "__construct"})
_RANK = {"sure": 0, "ambiguous": 1, "unresolved": 2}


def callers(snapshot: Snapshot, request: Callers, view: View, asked: Asked) -> Answer:
    """Answer with the references of a name. Raises FileNotIndexed, UsageFailed."""
    graph = Graph(snapshot)
    wanted = targets.find(graph, asked)
    names = list(dict.fromkeys(one.name for one in wanted))[:_MAX_NAMES] or [targets.last(asked.name)]
    accept = graph.taken(filters.takes(request))
    gathered, others = _gather(graph, wanted, names)
    found = [site for site in gathered if not request.kind or site.kind == request.kind]
    inside = [site for site in found if accept(site.file)]
    if not inside and not wanted:
        return absence.answer(snapshot, request, view, request.name, removed=len(found), strategies=("symbol",))
    judged, looked = _looked(graph, wanted, inside, scope.limit(request))
    judged = [(site, verdict) for site, verdict in judged if verdict is not None or site.name not in others]
    rows = [(site, verdict) for site, verdict in judged if verdict is not None]
    rows.sort(key=lambda row: _RANK[row[1].confidence])
    resolved = Resolved(
        verb="callers",
        targets=wanted,
        rows=rows,
        verdicts=[verdict for _, verdict in judged],
        unseen=len(inside) - looked,
        removed=len(found) - len(inside),
    )
    return references.answer(graph, request, view, resolved)


def _looked(
    graph: Graph, wanted: Sequence[Definition], sites: Sequence[Site], rows: int
) -> tuple[list[tuple[Site, Verdict | None]], int]:
    """Return the verdicts on as many references as an answer of so many rows needs, and how many those are."""
    resolver = Resolver(graph)
    judged: list[tuple[Site, Verdict | None]] = []
    most = min(len(sites), max(_MAX_SITES, rows * _SITES_PER_ROW))
    at, until = 0, min(most, max(_FIRST_SITES, rows * _SITES_PER_ROW))
    while at < until:
        graph.expect_sites(sites[at:until])
        judged += _judged(resolver, wanted, sites[at:until])
        sure = sum(verdict is not None and verdict.confidence == "sure" for _, verdict in judged)
        at, until = until, until if sure >= rows else min(most, until + _MORE_SITES)
    return judged, at


def _gather(graph: Graph, wanted: Sequence[Definition], names: Sequence[str]) -> tuple[list[Site], frozenset[str]]:
    """Return all references that can mean one of these names, in the order of an answer, and their other names.

    What is imported under another name is called by that; where a module passes it on, also elsewhere.
    """
    found = relations.sites(graph.snapshot, names)
    importers = {site.file for site in found if site.kind == "import"}
    graph.expect_imports(importers)
    aliases: dict[str, set[int]] = {}
    for file in importers:
        for alias, bound in graph.bindings(file).named.items():
            if alias not in names and any(name in names for _, name in bound):
                aliases.setdefault(alias, set()).add(file)
    _default_imports(graph, wanted, aliases)
    if aliases:
        renamed = relations.sites(graph.snapshot, aliases)
        crowd = Counter(site.name for site in renamed)
        found += [site for site in renamed if crowd[site.name] <= _MAX_RENAMED or site.file in aliases[site.name]]
    owners = {targets.last(one.parent) for one in wanted if one.name in _CONSTRUCTORS and one.parent}
    if owners:
        found += [site for site in relations.sites(graph.snapshot, owners) if site.kind == "call"]
    sources = (graph.sources[file] for file in {site.file for site in found})
    order = {one.id: (bool(one.facts & BEHIND), one.path) for one in sources}
    found.sort(key=lambda site: (order[site.file], site.line, site.place))
    return found, frozenset(aliases).union(owners)


def _default_imports(graph: Graph, wanted: Sequence[Definition], aliases: dict[str, set[int]]) -> None:
    """Add the names that ES modules give to what one of the wanted files exports as its default."""
    files = {one.file for one in wanted if not one.parent and graph.family(one.file).closing}
    if not files:
        return
    names = {one.name for one in wanted}
    modules = Modules(graph)
    for one in relations.imports_like(graph.snapshot, ['"default"']):
        for name, alias in one.names:
            if name == "default" and alias not in names and set(modules.files(one.file, one.module)) & files:
                aliases.setdefault(alias, set()).add(one.file)


def _is_open(verdict: Verdict) -> bool:
    """Whether a reference of the name could mean anything."""
    return verdict.confidence == "unresolved" and not verdict.outside and not verdict.targets


def _judged(
    resolver: Resolver, wanted: Sequence[Definition], sites: Sequence[Site]
) -> Iterator[tuple[Site, Verdict | None]]:
    """Give each reference with its verdict; None = it means something else."""
    ids, names = {one.id for one in wanted}, {one.name for one in wanted}
    constructed = {one.parent: one for one in wanted if one.name in _CONSTRUCTORS}
    for site in sites:
        verdict = resolver.resolve(site)
        if not wanted:
            yield site, verdict
            continue
        mine = any(one.id in ids for one in verdict.targets)
        made = next((constructed[o.qualified_name] for o in verdict.targets if o.qualified_name in constructed), None)
        if made is not None and not mine and verdict.confidence == "sure":
            same = any(one.file == made.file for one in verdict.targets)
            yield site, Verdict("sure", f"{verdict.rule}, constructor", (made,), 1) if same else None
        elif mine or (site.name in names and _is_open(verdict)):
            yield site, verdict
        else:
            yield site, None
