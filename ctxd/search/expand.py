"""What a place calls, routes to, reads or is called by, so that an answer can name it. On a reader thread.

Only edges that are sure, two steps at most: from a route to login, and to what login calls. Lives for one request;
what it reads is bounded, so that it costs a few milliseconds wherever it is asked.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ctxd import words
from ctxd.model import ReferenceKind
from ctxd.search.edges.graph import Graph
from ctxd.search.edges.headers import has_body
from ctxd.search.edges.resolution import names
from ctxd.search.edges.resolver import Resolver
from ctxd.search.ranking.candidates import Candidate
from ctxd.search.ranking.line import Sought
from ctxd.search.ranking.scored import Scored
from ctxd.store import read, relations
from ctxd.store.relations import Definition, Site
from ctxd.store.schema import BEHIND
from ctxd.store.snapshot import Snapshot

MAX_NODES = 20
# References that are looked at inside of the place, inside of each of its first neighbours, and of its name.
_INSIDE, _FURTHER, _USES = 24, 8, 16
# Neighbours from which the second step is taken.
_STEPS_FROM = 4
# One for each so many tokens of the budget is named.
_TOKENS_PER_NODE = 300
# Files whose text may be decompressed to know the type of a variable.
_MAX_TEXTS = 8

_FORWARD = {"call": "called by", "route": "routed to by", "constant": "read by", "decorator": "decorates"}
_BACK = {"call": "calls", "route": "routes to", "constant": "reads", "decorator": "is decorated with"}
# A function that is handed on is no reference of its own: what a route leads to stands like this, beside its path.
_HANDED = re.compile(r"(?<![\w.])(?:([A-Za-z_]\w*)\.)?([A-Za-z_]\w{2,})(?=\s*[,)\]])")
_ROUTED = re.compile(r"[\"'`](?:/|\^|[\w<>:-]+/)")
_FUNCTIONS = frozenset({"function", "method", "class"})
_HAS_STEPS = frozenset({"function", "method", "route", "constant", "variable"})


class Seed(msgspec.Struct, frozen=True, eq=False):
    """A place to go on from, and what is looked for. `users`: only what uses it is wanted; `kind`: only what is so."""

    place: Candidate
    sought: Sought
    users: bool = False
    kind: str = ""


class Node(msgspec.Struct, frozen=True):
    """A place that an edge led to, by how many steps, and what says so: `called by login`."""

    scored: Scored
    steps: int
    why: str


class _Step(msgspec.Struct, frozen=True):
    one: Definition
    steps: int
    place: int
    why: str


def most(budget: int) -> int:
    """Return how many neighbours an answer may name."""
    return min(max(1, budget // _TOKENS_PER_NODE), MAX_NODES)


def expanded(snapshot: Snapshot, seed: Seed, taken: Callable[[Graph], Callable[[int], bool]], limit: int) -> list[Node]:
    """Return at most `limit` of what a place leads to: tests last, what has words of the question first, then
    the nearest.

    `taken` gives a test for files.
    """
    graph = Graph(snapshot, max_texts=_MAX_TEXTS)
    walk = _Walk(graph, seed.sought, taken(graph))
    walk.start(seed)
    steps = [step for step in walk.steps() if seed.kind in ("", step.one.kind)]
    return _nodes(snapshot, steps[: min(limit, MAX_NODES)])


class _Walk:
    def __init__(self, graph: Graph, sought: Sought, taken: Callable[[int], bool]) -> None:
        self._graph = graph
        self._sought = sought
        self._taken = taken
        self._resolver = Resolver(graph)
        self._found: dict[int, _Step] = {}
        self._start: Candidate | None = None

    def start(self, seed: Seed) -> None:
        """Go two steps on from a place."""
        start = self._start = seed.place
        here = self._graph.symbol(start.symbol.id if start.symbol else 0)
        if not seed.users:
            self._forward(start.file.id, (start.line_start, start.line_end), here, 1, _INSIDE)
            self._handed(start, here)
        ahead = self.steps()
        if here is not None:
            self._back(here)
        for step in [step for step in ahead if step.one.kind in _HAS_STEPS][:_STEPS_FROM]:
            one = step.one
            self._forward(one.file, (one.line_start, one.line_end), one, 2, _FURTHER)

    def steps(self) -> list[_Step]:
        """Return what was found, in its order."""
        sources = self._graph.sources

        def key(step: _Step) -> tuple[bool, float, int, int]:
            behind = bool(sources[step.one.file].facts & BEHIND)
            return (behind, -round(self._worth(step.one.name), 6), step.steps, step.place)

        return sorted(self._found.values(), key=key)

    def _worth(self, name: str) -> float:
        return self._sought.worth(words.expand(name))

    def _forward(self, file: int, span: tuple[int, int], here: Definition | None, steps: int, most: int) -> None:
        """What stands in a definition."""
        sites = relations.sites_inside(self._graph.snapshot, file, *span)
        firsts: dict[tuple[str, str], Site] = {}
        for site in sites:
            if site.kind in _FORWARD:
                firsts.setdefault((site.name, site.receiver), site)
        chosen = sorted(firsts.values(), key=lambda site: -round(self._worth(site.name), 6))
        self._graph.expect({site.name for site in chosen})
        chosen = [site for site in chosen if 0 < len(self._graph.named(site.name)) <= names.MANY]
        for place, (site, target) in enumerate(self._sure(chosen[:most])):
            self._add(target, steps, 2 * place, f"{_FORWARD[site.kind]} {here.name}" if here else "used here")

    def _handed(self, start: Candidate, here: Definition | None) -> None:
        """What a place hands on, as a route does."""
        sites, symbol = [], here.id if here else 0
        for number in range(start.line_start, min(start.line_end, start.line_start + _INSIDE) + 1):
            text = self._graph.lines(start.file.id)[number - 1 : number]
            for match in _HANDED.finditer(text[0] if text else ""):
                kind: ReferenceKind = "route" if _ROUTED.search(text[0]) else "call"
                sites.append(Site(start.file.id, 0, match[2], kind, number, symbol, match[1] or ""))
        self._graph.expect({site.name for site in sites})
        known = [site for site in sites if self._is_function(site.name)]
        for place, (site, target) in enumerate(self._sure(known[:_USES])):
            if target.kind in _FUNCTIONS:
                what = here.name if here else f"{posixpath.basename(start.file.path)}:{site.line}"
                self._add(target, 1, 2 * place, f"{'routed to' if site.kind == 'route' else 'handed on'} by {what}")

    def _is_function(self, name: str) -> bool:
        found = self._graph.named(name)
        return 0 < len(found) <= names.MANY and any(one.kind in _FUNCTIONS for one in found)

    def _back(self, one: Definition) -> None:
        """What uses a definition."""
        sites = [site for site in relations.sites(self._graph.snapshot, [one.name]) if site.kind in _BACK]
        sources = self._graph.sources
        sites.sort(key=lambda site: (bool(sources[site.file].facts & BEHIND), sources[site.file].path, site.place))
        for place, (site, target) in enumerate(self._sure(sites[:_USES])):
            around = self._graph.symbol(site.symbol)
            if target.id == one.id and around is not None:
                self._add(around, 1, 2 * place + 1, f"{_BACK[site.kind]} {one.name}")

    def _sure(self, sites: Sequence[Site]) -> Iterator[tuple[Site, Definition]]:
        self._graph.expect_sites(sites)
        for site in sites:
            verdict = self._resolver.resolve(site)
            if verdict.confidence == "sure" and verdict.targets:
                # Of overloads the last one is what they announce; of a header's functions the one that has a body.
                bodies = [one for one in verdict.targets if has_body(one)]
                yield site, (bodies or verdict.targets)[-1]

    def _add(self, one: Definition, steps: int, place: int, why: str) -> None:
        if one.id not in self._found and self._taken(one.file) and not self._shows(one):
            self._found[one.id] = _Step(one, steps, place, why)

    def _shows(self, one: Definition) -> bool:
        """Whether a definition is the place itself, or in it: of a class its members are shown."""
        start = self._start
        assert start is not None
        if start.symbol is not None and start.symbol.id == one.id:
            return True
        return start.file.id == one.file and start.line_start <= one.line_start and one.line_end <= start.line_end


def _nodes(snapshot: Snapshot, steps: Sequence[_Step]) -> list[Node]:
    """Return steps as places that can be shown."""
    symbols = read.symbols(snapshot, {step.one.id for step in steps})
    chunks = read.covering(snapshot, symbols.values())
    files = read.files(snapshot, {row.file for row in symbols.values()})
    found = []
    for step in steps:
        row = symbols[step.one.id]
        if chunks[row.id]:
            place = Candidate(files[row.file], row, tuple(chunks[row.id]), row.line_start, row.line_end, row.kind)
            found.append(Node(Scored(place, 0.0, ()), step.steps, step.why))
    return found
