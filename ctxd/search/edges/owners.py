"""To which type a piece of code or a definition belongs. On a reader thread; lives for one request."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxd.search.edges.graph import Graph
from ctxd.search.edges.resolution import families
from ctxd.search.edges.resolution.family import TYPES
from ctxd.search.edges.values import Scope
from ctxd.store.relations import Definition

# A function that is the value of a property: not a name of the scope around.
_PROPERTY = re.compile(r"(?:async\s+)?[\w$\"']+\s*:")


class Owners:
    """Says what owns what."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph

    def around(self, scope: Scope) -> tuple[Definition, ...]:
        """Return the type that the code at a place belongs to."""
        for one in scope.around:
            if one.kind in TYPES:
                return (one,)
            if one.parent and scope.family.prototypes and (found := self.of(one)):
                return found
        return self.of(scope.around[-1]) if scope.around and scope.around[-1].parent else ()

    def of(self, member: Definition) -> tuple[Definition, ...]:
        """Return the type that a member names as its owner and that is not around it."""
        spread = self.graph.family(member.file).members
        last = member.parent.rpartition(".")[2]
        free = self.graph.family(member.file).prototypes
        every = (o for o in self.graph.named(last) if o.qualified_name == member.parent and (free or o.kind in TYPES))
        same = [one for one in every if self._related(one, member)]
        near = [one for one in same if one.file == member.file]
        if not near and spread != "file":
            near = [one for one in same if self.graph.folder(one.file) == self.graph.folder(member.file)]
        if not near and spread == "anywhere" and len(same) == 1:
            near = same
        return tuple(near)

    def reachable(self, member: Definition) -> bool:
        """Whether a definition can be had by a receiver: what stands in a function is seen inside of it only."""
        around = self.graph.around(member.id)
        return len(around) < 2 or around[1].kind in TYPES or self.graph.family(member.file).prototypes

    def owns(self, owners: Sequence[Definition], member: Definition) -> bool:
        """Whether a definition is a member of one of these types itself."""
        return any(self._is_member(owner, member) for owner in owners)

    def _is_member(self, owner: Definition, one: Definition) -> bool:
        if one.parent != owner.qualified_name:
            return False
        if one.file == owner.file:
            return True
        if not self._related(one, owner):
            return False
        return self.graph.family(owner.file).members != "file" and owner in self.of(one)

    def _related(self, one: Definition, other: Definition) -> bool:
        sources = self.graph.sources
        return families.related(sources[one.file].language, sources[other.file].language)

    def is_bare(self, one: Definition) -> bool:
        """Whether a name without a receiver can mean a definition."""
        family = self.graph.family(one.file)
        if not one.parent:
            return True
        if family.closing and one.kind == "function":
            return not _PROPERTY.match(one.signature)
        if family.flat:
            # An instance of a class is called by two names or more; what it defines is the class's.
            return " " not in one.parent
        around = self.graph.around(one.id) if family.received else ()
        return not family.received or (len(around) > 1 and around[1].kind not in TYPES - {"module"})
