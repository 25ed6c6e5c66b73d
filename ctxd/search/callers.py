"""`ctx callers`: the references that mean a definition, and how sure each is. On a reader thread, in one snapshot.

Every reference of the name is looked at, and every one is counted: what could not be resolved is said to be so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

from ctxd.model import View
from ctxd.render import edges
from ctxd.render.edges import Counted, Edge, Edges, Place
from ctxd.render.style import style
from ctxd.search import absence, scope, targets
from ctxd.search.graph import Graph
from ctxd.search.modules import Modules
from ctxd.search.resolution.chain import parse
from ctxd.search.resolver import Resolver, Verdict
from ctxd.search.targets import Asked
from ctxd.state import FileRow
from ctxd.store import relations
from ctxd.store.read import BESIDE
from ctxd.store.relations import Definition, Site
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Callers, Filtered

# Looked at for one answer, in the order of its rows: about 40 ms. More where more rows are asked for.
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
    accept = taken(graph, request)
    gathered, others = _gather(graph, wanted, names)
    found = [site for site in gathered if not request.kind or site.kind == request.kind]
    inside = [site for site in found if accept(site.file)]
    if not inside and not wanted:
        return absence.answer(snapshot, request, view, request.name, removed=len(found), strategies=("symbol",))
    looked = inside[: max(_MAX_SITES, request.limit * _SITES_PER_ROW)]
    prepare(graph, looked)
    judged = [
        (site, verdict)
        for site, verdict in _judged(graph, wanted, looked)
        if verdict is not None or site.name not in others
    ]
    rows = [(site, verdict) for site, verdict in judged if verdict is not None]
    rows.sort(key=lambda row: _RANK[row[1].confidence])
    shown = rows[: scope.limit(request)]
    answer = Edges(
        verb="callers",
        query=request.name,
        root=view.root,
        targets=tuple(place(graph, one) for one in wanted),
        rows=tuple(edge(graph, site, verdict) for site, verdict in shown),
        counted=counted(verdict for _, verdict in judged),
        unseen=len(inside) - len(looked),
        removed=len(found) - len(inside),
        filters=absence.filters(request),
        stats=scope.stats(view, omitted=len(rows) - len(shown), files_indexed=len(graph.sources)),
        freshness=view.freshness,
        generation=snapshot.generation,
    )
    code = 0 if rows else 1
    if request.output == "json":
        return Answer(out=edges.edges_json(answer), code=code)
    return Answer(out=edges.callers(answer, style(request, view)), code=code)


def taken(graph: Graph, request: Filtered) -> Callable[[int], bool]:
    """Return a test for files: what the filters of the request leave. Raises UsageFailed for a bad pattern."""
    accept = scope.takes(request)
    if accept is None:
        return lambda _: True
    rows = graph.sources.values()
    kept = {one.id for one in rows if accept(FileRow(path=one.path, language=one.language, content="code"))}
    return kept.__contains__


def prepare(graph: Graph, sites: Sequence[Site]) -> None:
    """Read at once what the resolution of these references will ask for one by one."""
    receivers = (parse(receiver) for receiver in {site.receiver for site in sites if site.receiver})
    graph.expect({site.name for site in sites}.union(part.name for parts in receivers for part in parts))
    graph.expect_symbols({site.symbol for site in sites})
    graph.expect_imports({site.file for site in sites})
    around = (graph.symbol(site.symbol) for site in sites)
    owners = {one.parent.rpartition(".")[2] for one in around if one is not None and one.parent}
    graph.expect(owners)


def counted(verdicts: Iterator[Verdict | None]) -> Counted:
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
    order = {one.id: (bool(one.facts & BESIDE), rank) for rank, one in enumerate(graph.sources.values())}
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


def _judged(graph: Graph, wanted: Sequence[Definition], sites: Sequence[Site]) -> Iterator[tuple[Site, Verdict | None]]:
    """Give each reference with its verdict; None = it means something else."""
    resolver = Resolver(graph)
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
