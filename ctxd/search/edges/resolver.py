"""A reference -> the definition that it means, and by which rule. On a reader thread; lives for one request.

Scopes come first: the variables of the function around, the type around, the file, its imports, its package, the
headers that it includes. A name alone counts only where it is telling and defined once; nothing is ever sure because
nothing else was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from ctxd.search.edges import variables
from ctxd.search.edges.graph import Graph
from ctxd.search.edges.headers import Headers
from ctxd.search.edges.resolution import families, names
from ctxd.search.edges.resolution.chain import Part, parse
from ctxd.search.edges.resolution.family import TYPES, fits
from ctxd.search.edges.scopes import Scopes
from ctxd.search.edges.values import Instance, Module, Named, Outside, Scope, Unknown, Value
from ctxd.store.relations import Definition, Site
from ctxd.store.schema import BESIDE

# References that a variable of the function around can be meant by.
_LOCAL = frozenset({"call", "decorator", "route"})
# What has any member that someone gives it.
_HOLDERS = frozenset({"config", "options", "settings"})
# Shorter names are those of parameters and counters.
_SHORTEST = 3
# Not called where something else of that name can be.
_ABSTRACT = frozenset({"interface", "trait", "type"})
# References that mean a type.
_TYPED = frozenset({"type", "extends", "implements"})

Confidence = Literal["sure", "ambiguous", "unresolved"]


class Verdict(msgspec.Struct, frozen=True):
    """What became of a reference. `targets`: the declarations of the one definition that is meant when sure, else the
    candidates. `rule` says how it was found, or why it was not. `outside` is the module that it leads out to.
    """

    confidence: Confidence
    rule: str
    targets: tuple[Definition, ...] = ()
    candidates: int = 0  # how many different things the targets are
    outside: str = ""
    file: str = ""  # the module of the repo that is meant, where it is one


class Resolver:
    """Resolves the references of one snapshot."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scopes = Scopes(graph)
        self.owners = self.scopes.owners
        self.headers = Headers(graph)
        self._candidates: dict[tuple[str, str, str, bool], tuple[tuple[Definition, ...], int]] = {}

    def resolve(self, site: Site) -> Verdict:
        """Return what a reference means."""
        if site.kind == "import":
            return self._imported(site)
        scope = self.scopes.scope(site.file, site.symbol, site.line)
        if site.receiver:
            return self._received(site, scope)
        if scope.family.linked:
            verdict = self._linked(site, scope)
            if verdict is not None:
                return verdict
        if site.kind == "type" and variables.is_parameter(self.graph, scope, site.name):
            return Verdict("unresolved", "type parameter")
        if scope.family.dotted and variables.is_dotted(self.graph, site):
            return self._by_name(site, scope, guess=False)
        value = self.scopes.bare(scope, site.name, skip=self._own(site), local=site.kind in _LOCAL, used=True)
        match value:
            case Named(definitions, rule):
                return self._meant(site, definitions, rule)
            case Instance(owners):
                if scope.is_self(site.name):
                    return Verdict("sure", "same class", owners, 1)
                return Verdict("unresolved", "local variable")
            case Module(files):
                return Verdict("sure", "imported", file=self._module(files))
            case Outside(module):
                return Verdict("unresolved", "outside", outside=module)
            case Unknown(why):
                return Verdict("unresolved", why)
            case None:
                return self._by_name(site, scope)

    def _imported(self, site: Site) -> Verdict:
        """What an import statement names."""
        bindings = self.graph.bindings(site.file).named
        known = [site.name] if site.name in bindings else []
        known += [alias for alias, found in bindings.items() if any(name == site.name for _, name in found)]
        for alias in known:
            match self.scopes.modules.imported(site.file, alias):
                case Named(definitions):
                    return self._meant(site, definitions, "imported")
                case Module(files):
                    return Verdict("sure", "imported", file=self._module(files))
                case Outside(module):
                    return Verdict("unresolved", "outside", outside=module)
        return Verdict("unresolved", "import not followed")

    def _module(self, files: Sequence[int]) -> str:
        return self.graph.sources[files[0]].path if files else ""

    def _own(self, site: Site) -> int:
        """A class does not extend itself, a decorator does not decorate with what it decorates."""
        return site.symbol if site.kind in ("extends", "implements", "decorator") else 0

    def _received(self, site: Site, scope: Scope) -> Verdict:
        parts = parse(site.receiver)
        if site.receiver[0] in "\"'`":
            return Verdict("unresolved", "outside", outside="built in")
        value = self.scopes.follow(scope, parts) if parts else None
        found, rule = self._member(scope, parts, value, site.name)
        # What begins with a capital and is defined nowhere here is a type of another program.
        foreign = bool(parts) and parts[0].name[:1].isupper() and not self.graph.named(parts[0].name)
        foreign = foreign or any(part.name in _HOLDERS for part in parts)
        known = not (value is None or isinstance(value, Unknown)) or foreign
        match found:
            case Named(definitions, _):
                return self._meant(site, definitions, rule)
            case Module(files):
                return Verdict("sure", "imported", file=self._module(files))
            case Outside(module):
                return Verdict("unresolved", "outside", outside=module)
            case _:
                return self._by_name(site, scope, guess=not known)

    def _member(self, scope: Scope, parts: Sequence[Part], value: Value | None, name: str) -> tuple[Value | None, str]:
        found = self.scopes.member(value, name)
        alone = len(parts) == 1
        match value:
            case Instance(owners) if alone and scope.is_self(parts[0].name):
                inside = isinstance(found, Named) and any(self.owners.owns(owners, one) for one in found.definitions)
                return found, "same class" if inside else "inherited"
            case Instance() | Named():
                return found, "inherited" if alone and scope.is_super(parts[0].name) else "receiver type"
            case Module():
                return found, "imported"
            case _:
                return found, ""

    def _meant(self, site: Site, definitions: Sequence[Definition], rule: str) -> Verdict:
        fitting = [one for one in definitions if fits(site.kind, one.kind)]
        if not fitting and site.kind == "type":
            return Verdict("unresolved", "not a type here")
        fitting = list(self.scopes.modules.seen(site.file, fitting or definitions))
        if site.kind == "call" and any(one.kind not in _ABSTRACT for one in fitting):
            fitting = [one for one in fitting if one.kind not in _ABSTRACT]
        if self.graph.family(site.file).received:
            fitting = _nearest(site, fitting)
        things = self._things(fitting)
        if len(things) == 1:
            return Verdict("sure", rule, tuple(fitting), 1)
        return Verdict("ambiguous", rule, tuple(fitting), len(things))

    def _linked(self, site: Site, scope: Scope) -> Verdict | None:
        """C: the headers of the file say what a bare name means; None = they do not know it."""
        if site.kind == "call" and variables.clue(self.graph, scope, site.name) is not None:
            return Verdict("unresolved", "local variable")
        found = [one for one in self.graph.named(site.name) if fits(site.kind, one.kind) and self._related(one, scope)]
        if site.kind in _TYPED:
            found = [one for one in found if one.kind in TYPES]
        every = len(found)
        found = [one for one in found if site.kind not in _TYPED or self._opens(one, scope)]
        reserved = site.name in scope.family.keywords and not any(one.kind == "macro" for one in found)
        if reserved or (found and variables.is_standard(self.graph, site)):
            return Verdict("unresolved", "outside", outside="built in")
        if not found:
            return Verdict("unresolved", "not a type here") if site.kind in _TYPED else None
        rule, meant, things = self.headers.meaning(scope.file, [one for one in found if one.kind != "field"])
        if not meant:
            return None if any(one.kind == "field" for one in found) else Verdict("unresolved", "not visible here")
        dull = (
            names.common(site.name)
            or site.name in scope.family.builtins
            or len(site.name) < _SHORTEST
            or len(found) < every
        )
        if rule == "unique name" and dull:
            return Verdict("unresolved", "common name", tuple(meant), things)
        return Verdict("sure" if things == 1 else "ambiguous", rule, tuple(meant), things)

    def _opens(self, one: Definition, scope: Scope) -> bool:
        """Whether a type can be meant without what it stands in: one of a class is seen inside of that only."""
        owner = self.graph.around(one.id)[1:2]
        if not owner or not (owner[0].kind == "class" or one.signature.startswith("using ")):
            return True
        if owner[0].kind == "module":
            return True
        return any(around.id == owner[0].id or around.parent == one.parent for around in scope.around)

    def _related(self, one: Definition, scope: Scope) -> bool:
        return families.related(self.graph.sources[one.file].language, scope.language)

    def _by_name(self, site: Site, scope: Scope, *, guess: bool = True) -> Verdict:
        """What a name alone says; with `guess` False it is never sure."""
        why = "receiver not known" if site.receiver else "not bound here"
        if not site.receiver and self._is_closed(scope):
            return Verdict("unresolved", why)
        found, things = self._called(site, scope)
        found = tuple(self.scopes.modules.seen(site.file, found))
        if not found:
            why = why if guess else "no such member"
            return Verdict("unresolved", why if self.graph.named(site.name) else "not defined here")
        if names.common(site.name) or things > names.MANY:
            return Verdict("unresolved", "common name", found, things)
        if things == 1 and guess and self._tells(site, scope, found[0]):
            return Verdict("sure", "unique name", found, 1)
        return Verdict("ambiguous", why, found, things)

    def _is_closed(self, scope: Scope) -> bool:
        """Whether all that a file sees is named in it."""
        if scope.family.closing:
            return self.graph.bindings(scope.file).any
        return scope.family.closed and not self.scopes.modules.open_ended(scope.file)

    def _things(self, definitions: Sequence[Definition]) -> set[tuple[str, str]]:
        """Return the different things that definitions declare: overloads and variants of one are one thing."""
        found = set()
        for one in definitions:
            spread = self.graph.family(one.file).members
            path = self.graph.sources[one.file].path
            where = path if spread == "file" else self.graph.folder(one.file) if spread == "folder" else ""
            found.add((where, one.qualified_name))
        return found

    def _called(self, site: Site, scope: Scope) -> tuple[tuple[Definition, ...], int]:
        """Return the definitions that a name can mean, and how many things they are."""
        key = (site.name, site.kind, scope.language, bool(site.receiver))
        if key not in self._candidates:
            every = self.graph.named(site.name)
            found = [one for one in every if fits(site.kind, one.kind) and self._related(one, scope)]
            if site.receiver:
                found = [one for one in found if one.parent and self.owners.reachable(one)]
                found = [one for one in found if one.kind != "field" or site.kind != "call"] or found
            else:
                inner = scope.family.implicit or scope.family.flat
                found = [one for one in found if not one.parent or (inner and self.owners.is_bare(one))]
                found = [one for one in found if not one.signature.startswith("local ")]
            if scope.family.received and site.kind in _TYPED:
                found = [one for one in found if one.kind in TYPES]
            self._candidates[key] = (tuple(found), len(self._things(found)))
        return self._candidates[key]

    def _tells(self, site: Site, scope: Scope, found: Definition) -> bool:
        """Whether a name is enough: of two words, not one of the library's, and not that of another test's helper."""
        if not names.telling(site.name) or site.name in scope.family.foreign or site.name in scope.family.builtins:
            return False
        if not (site.receiver or found.parent or scope.family.ambient) and scope.family.package is not None:
            return False  # what a package defines is seen by who imports it, and that was looked for
        if found.kind == "function" and found.parent and site.receiver:
            return False  # a function in a function: it may have been handed out, or not
        beside = self.graph.sources[found.file].facts & BESIDE
        return not beside or self.graph.folder(found.file) == self.graph.folder(site.file)


def _nearest(site: Site, definitions: list[Definition]) -> list[Definition]:
    """Choose among the types of one name that several blocks of a file give to a type: that of the block around."""
    above = [one for one in definitions if one.kind == "type" and one.file == site.file and one.parent]
    above = sorted(
        (one for one in above if one.definition_line <= site.line and len({o.parent for o in above}) == 1),
        key=lambda one: one.definition_line,
    )
    return above[-1:] or definitions
