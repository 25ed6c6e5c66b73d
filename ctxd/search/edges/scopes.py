"""Names in their scopes: what a bare name, a chain of names or a member means at a place.

On a reader thread; lives for one request.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ctxd.search.edges import variables
from ctxd.search.edges.graph import Graph
from ctxd.search.edges.modules import Modules
from ctxd.search.edges.owners import Owners
from ctxd.search.edges.resolution.chain import Part, parse
from ctxd.search.edges.resolution.family import TYPES, Clue
from ctxd.search.edges.values import Instance, Module, Named, Outside, Scope, Unknown, Value
from ctxd.store.relations import Definition

# Steps from type to type, from variable to variable and from a function to what it returns: circles end there.
_DEEPEST = 16


class Scopes:
    """Looks names up; remembers members for the request."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.modules = Modules(graph)
        self.owners = Owners(graph)
        self._members: dict[tuple[int, str], Value | None] = {}
        self._chains: dict[tuple[int, tuple[Part, ...]], Value | None] = {}
        self._deep = 0

    def scope(self, file: int, symbol: int, line: int) -> Scope:
        """Return a place: `symbol` is the definition around it, 0 = none."""
        graph = self.graph
        return Scope(file, graph.sources[file].language, graph.family(file), graph.around(symbol), line)

    # -- names

    def bare(self, scope: Scope, name: str, *, skip: int = 0, local: bool = True, used: bool = False) -> Value | None:
        """Return what a name without a receiver means; None = nothing that is known.

        `skip`: not this definition. `local` False: variables of functions do not count (a type is meant). `used`: the
        name itself is asked for, not the value that a variable of that name holds.
        """
        graph = self.graph
        if scope.is_self(name):
            owner = self.owners.around(scope)
            return Instance(owner) if owner else Unknown("receiver not known")
        if scope.is_super(name):
            return self.above(self.owners.around(scope))
        nested = self._nested(scope, name, skip, typed=not local)
        if nested is not None:
            return nested
        own = tuple(o for o in graph.owned(name, "") if o.file == scope.file and o.id != skip)
        if local and scope.around:
            # What an import binds is hardly bound once more by a line of a function.
            clue = variables.clue(graph, scope, name, signed=name in graph.bindings(scope.file).named)
            if clue is not None:
                value = self._variable(scope, clue)
                return value if not used or isinstance(value, Named) else Unknown("local variable")
        if own:
            return Named(own, "same file")
        found = self.modules.imported(scope.file, name)
        if found is not None:
            return msgspec.structs.replace(found, rule="imported") if isinstance(found, Named) else found
        return self._surrounding(scope, name, typed=not local)

    def _nested(self, scope: Scope, name: str, skip: int, *, typed: bool) -> Named | None:
        """A function or class inside of one that is around; members of a type are seen by its own body only.

        `typed`: a type is meant, and no field or method is one.
        """
        for depth, outer in enumerate(scope.around):
            if outer.kind in TYPES and depth and not scope.family.implicit:
                continue
            owned = self.graph.owned(name, outer.qualified_name)
            found = tuple(one for one in owned if one.file == scope.file and one.id != skip)
            if typed:
                found = tuple(one for one in found if one.kind not in ("field", "method"))
            found = tuple(one for one in found if self.owners.is_bare(one))
            if found:
                return Named(found, "same class" if outer.kind in TYPES else "same file")
        return None

    def _surrounding(self, scope: Scope, name: str, *, typed: bool) -> Value | None:
        graph, family = self.graph, scope.family
        if family.implicit and (owner := self.owners.around(scope)):
            found = self._of_types(owner, name)
            fitting = found.definitions if isinstance(found, Named) else ()
            if typed:
                fitting = tuple(one for one in fitting if one.kind not in ("field", "method"))
            if isinstance(found, Named) and any(self.owners.is_bare(one) for one in fitting):
                inside = any(self.owners.owns(owner, one) for one in found.definitions)
                return msgspec.structs.replace(found, rule="same class" if inside else "inherited")
        if family.package is not None and (seen := self.modules.visible(scope.file, name)):
            return seen
        if family.shared:
            folder = graph.folder(scope.file)
            near = tuple(
                one
                for one in graph.owned(name, "")
                if graph.folder(one.file) == folder and graph.sources[one.file].language == scope.language
            )
            if near:
                return Named(near, "same package")
        return Outside("built in") if name in family.builtins else None

    def follow(self, scope: Scope, parts: Sequence[Part], *, skip: int = 0, local: bool = True) -> Value | None:
        """Return what a chain of names and calls means."""
        if self._deep >= _DEEPEST:
            return None
        self._deep += 1
        try:
            owner = self.owners.around(scope) if len(parts) > 1 and scope.is_self(parts[0].name) else ()
            if not owner:
                return self._walk(scope, parts, self.bare(scope, parts[0].name, skip=skip, local=local))
            key = (owner[0].id, tuple(parts))
            if key not in self._chains:
                self._chains[key] = None
                self._chains[key] = self._walk(scope, parts, Instance(owner))
            return self._chains[key]
        finally:
            self._deep -= 1

    def _walk(self, scope: Scope, parts: Sequence[Part], value: Value | None) -> Value | None:
        if not scope.is_super(parts[0].name):
            value = self._called(value, parts[0])
        for part in parts[1:]:
            if value is None or isinstance(value, Unknown):
                return value
            found = self.member(value, part.name)
            if found is None and isinstance(value, Instance):
                found = self._attribute(value.owners, part.name)
            value = self._called(found, part)
        return value

    # -- types and members

    def member(self, value: Value | None, name: str) -> Value | None:
        """Return what `value.name` means; None = it has no such member."""
        match value:
            case Instance(owners):
                return self._of_types(owners, name)
            case Named(definitions, _):
                found = self._of_types(definitions, name)
                if found is None and not any(one.kind in TYPES for one in definitions):
                    return self.member(self._held(definitions), name)
                return found
            case Module(files):
                return self.modules.exported(files, name) or self.modules.inner(files, name)
            case Outside():
                return value
            case _:
                return None

    def _of_types(self, owners: Sequence[Definition], name: str) -> Value | None:
        key = (owners[0].id if owners else 0, name)
        if key not in self._members:
            self._members[key] = None
            self._members[key] = self._inherited(owners, name)
        return self._members[key]

    def _inherited(self, owners: Sequence[Definition], name: str) -> Value | None:
        parents = {owner.qualified_name for owner in owners}
        every = (one for parent in parents for one in self.graph.owned(name, parent))
        found = tuple(one for one in every if self.owners.owns(owners, one))
        if found:
            return Named(found, "receiver type")
        for base in self._bases(owners):
            value = self.member(base, name)
            if value is not None:
                return value
        return None

    def above(self, owners: Sequence[Definition]) -> Value:
        """Return the types above, as one value."""
        bases = self._bases(owners)
        types = tuple(one for base in bases if isinstance(base, Instance) for one in base.owners)
        if types:
            return Instance(types)
        return bases[0] if bases else Unknown("receiver not known")

    def _bases(self, owners: Sequence[Definition]) -> list[Value]:
        """Return what these types extend and implement, in their order; what leads outside comes last."""
        found: list[Value] = []
        outside: list[Value] = []
        for owner in owners:
            scope = self.scope(owner.file, owner.id, owner.definition_line)
            for site in self.graph.supertypes(owner):
                parts = [*parse(site.receiver), Part(site.name)]
                value = self.follow(scope, parts, skip=owner.id, local=False)
                if isinstance(value, Named):
                    types = tuple(o for o in value.definitions if o.kind in TYPES and o.id != owner.id)
                    found += [Instance(types)] if types else []
                elif isinstance(value, Outside):
                    outside.append(value)
        return [*found, *outside]

    def _attribute(self, owners: Sequence[Definition], name: str) -> Value | None:
        """Return the value of an attribute that only the methods of its class set."""
        above = [one for base in self._bases(owners) if isinstance(base, Instance) for one in base.owners]
        for owner in [*owners, *above]:
            for line, clue in variables.attribute(self.graph, owner, name):
                scope = self.scope(owner.file, self.graph.at(owner.file, line), line)
                value = self._variable(scope, clue)
                if not isinstance(value, Unknown):
                    return value
        return None

    # -- what variables hold and functions return

    def _called(self, value: Value | None, part: Part) -> Value | None:
        if not part.called or not isinstance(value, Named):
            return value
        types = tuple(one for one in value.definitions if one.kind in TYPES)
        return Instance(types) if types else self._returned(value.definitions)

    def _returned(self, definitions: Sequence[Definition]) -> Value | None:
        first = definitions[0]
        if first.kind not in ("function", "method"):
            return None
        family = self.graph.family(first.file)
        written = family.result(first.signature, first.name)
        if not written and family.documented:
            written = variables.noted(self.graph, first, "return")
        return self._type(self.scope(first.file, first.id, first.definition_line), written)

    def _held(self, definitions: Sequence[Definition]) -> Value | None:
        """Return what a variable, field or property holds, by what its definition says."""
        first = definitions[0]
        if first.kind in ("function", "method"):
            return self._returned(definitions)
        scope = self.scope(first.file, first.id, first.definition_line)
        name = scope.family.sigil + first.name
        found = variables.in_line(scope.family, first.signature, name, declaration=True)
        if found is None and scope.family.documented:
            found = Clue("type", variables.noted(self.graph, first, "var"))
        return self._variable(scope, found) if found is not None else Unknown("receiver not known")

    def _variable(self, scope: Scope, clue: Clue) -> Value:
        found: Value | None = None
        if self._deep < _DEEPEST and clue.kind not in ("unknown", "element"):
            self._deep += 1
            try:
                found = self._type(scope, clue.text) if clue.kind == "type" else self._value(scope, clue.text)
            finally:
                self._deep -= 1
        return found if found is not None else Unknown("local variable")

    def _value(self, scope: Scope, expression: str) -> Value | None:
        parts = parse(expression)
        if not parts or parts[0].name in variables.NOTHING:
            return None
        found = self.follow(scope, parts)
        if isinstance(found, Named) and not any(one.kind in TYPES for one in found.definitions):
            return self._held(found.definitions) if not parts[-1].called else None
        return found

    def _type(self, scope: Scope, written: str) -> Value | None:
        name = scope.family.plain(written) if written else ""
        if name in ("Self", "self", "this", "static", "$this"):
            owner = self.owners.around(scope)
            return Instance(owner) if owner else None
        if "\\" in name:
            return self._instance(self.modules.located(scope.file, name))
        parts = [Part(part) for part in name.split(".")] if name else []
        found = self.follow(scope, parts, local=False) if parts else None
        if found is None and parts and scope.family.typed and not self._is_here(scope, parts[-1].name):
            return Outside(name)
        return self._instance(found)

    def _instance(self, found: Value | None) -> Value | None:
        if isinstance(found, Named):
            types = tuple(one for one in found.definitions if one.kind in TYPES)
            return Instance(types) if types else None
        return found if isinstance(found, Outside) else None

    def _is_here(self, scope: Scope, name: str) -> bool:
        """Whether the repo defines a type of that name, or it is a parameter."""
        return any(one.kind in TYPES for one in self.graph.named(name)) or variables.is_parameter(
            self.graph, scope, name
        )
