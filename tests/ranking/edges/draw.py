"""Draws edges that are shown as sure, to be judged by reading: see README.md."""

from __future__ import annotations

import random
from collections.abc import Iterator

import msgspec

from ctxd.search.edges.graph import Graph
from ctxd.search.edges.resolver import Resolver, Verdict
from ctxd.store import relations
from ctxd.store.relations import Site

# Lines shown above a reference, and below the line of what it is said to mean.
_ABOVE = 7
_BELOW = 2
_ALL = 1 << 31


class Drawn(msgspec.Struct, frozen=True):
    """One edge, as a row of judged.tsv has it, and the lines to judge it by."""

    caller: str
    kind: str
    callee: str
    rule: str
    name: str
    shown: tuple[str, ...]


def resolved(graph: Graph) -> Iterator[tuple[Site, Verdict]]:
    """Give every reference but imports with what it is resolved to, by path and place."""
    resolver = Resolver(graph)
    for source in graph.sources.values():
        for site in relations.sites_inside(graph.snapshot, source.id, 0, _ALL):
            if site.kind != "import":
                yield site, resolver.resolve(site)


def drawn(graph: Graph, number: int, seed: str) -> list[Drawn]:
    """Return edges that are sure, each with the same chance, in the order of the draw."""
    sure = [(site, verdict) for site, verdict in resolved(graph) if verdict.confidence == "sure" and verdict.targets]
    return [_drawn(graph, site, verdict) for site, verdict in random.Random(seed).sample(sure, min(number, len(sure)))]


def _drawn(graph: Graph, site: Site, verdict: Verdict) -> Drawn:
    target = verdict.targets[0]
    path, other = graph.sources[site.file].path, graph.sources[target.file].path
    first = max(site.line - _ABOVE, 1)
    near = graph.lines(site.file)[first - 1 : site.line + 1]
    there = graph.lines(target.file)[target.definition_line - 1 : target.definition_line + _BELOW]
    others = [f"{graph.sources[one.file].path}:{one.definition_line}" for one in verdict.targets[1:]]
    return Drawn(
        caller=f"{path}:{site.line}",
        kind=site.kind,
        callee=f"{other}:{target.definition_line}",
        rule=verdict.rule,
        name=f"{site.receiver} . {site.name}" if site.receiver else site.name,
        shown=(
            *(f"{'>' if number == site.line else ' '}{number:5} {line}" for number, line in enumerate(near, first)),
            f"  = {target.kind} {target.qualified_name} {' '.join(others)}",
            *(f" {number:5} {line}" for number, line in enumerate(there, target.definition_line)),
        ),
    )
