"""What the imports of a file bind, through as many files as pass a name on. On a reader thread; for one request."""

from __future__ import annotations

from collections.abc import Sequence

from ctxd.search.edges import variables
from ctxd.search.edges.graph import Graph
from ctxd.search.edges.resolution import families
from ctxd.search.edges.values import Module, Named, Outside, Unknown, Value
from ctxd.store.relations import Definition
from ctxd.store.schema import BESIDE

# Definitions of one name whose files are read for their packages.
_MAX_PACKAGES = 100


class Modules:
    """Finds the files of modules and what they export; remembers both."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._files: dict[tuple[str, str], tuple[int, ...]] = {}
        self._found: dict[tuple[int, str], Value | None] = {}

    def files(self, importer: int, module: str) -> tuple[int, ...]:
        """Return the files of a module as a file imports it, () when it is not in the repo."""
        graph = self._graph
        key = (graph.folder(importer), module)
        if key not in self._files:
            paths = graph.family(importer).files(graph.tree, graph.sources[importer].path, module)
            self._files[key] = tuple(graph.ids[path] for path in paths)
        return self._files[key]

    def open_ended(self, file: int) -> bool:
        """Whether names come into a file that it does not name: all of a module that is not here."""
        return any(not self.files(file, module) for module in self._graph.bindings(file).wildcards)

    def imported(self, file: int, name: str) -> Value | None:
        """Return what a file's imports bind a name to; None = they do not bind it."""
        key = (file, name)
        if key not in self._found:
            self._found[key] = None  # a circle of imports ends here
            self._found[key] = self._search(file, name)
        return self._found[key]

    def exported(self, files: Sequence[int], name: str) -> Value | None:
        """Return what modules have under a name: defined there, or imported there from elsewhere."""
        found = tuple(one for one in self._graph.owned(name, "") if one.file in files)
        if found:
            return Named(found, "imported")
        return self.imported(files[0], name) if len(files) == 1 else None

    def inner(self, files: Sequence[int], name: str) -> Module | None:
        """Return the file in a package's folder that is its member `name`."""
        path = self._graph.sources[files[0]].path if files else ""
        if not path.rpartition("/")[2].startswith("__init__."):
            return None
        found = self.files(files[0], f".{name}")
        return Module(found) if found else None

    def visible(self, file: int, name: str) -> Named | None:
        """Return what a file sees without naming it: what its package has, then what it imports all of has."""
        graph = self._graph
        own, found = graph.package(file), self._packaged(file, name)
        if own is None or not found:
            return None
        around = [own]
        while graph.family(file).enclosed and around[-1]:
            around.append(around[-1].rpartition(".")[0])
        for package in around:
            if near := tuple(one for one, declared in found if declared == package):
                return Named(near, "same package")
        opened = self._opened(file)
        several = tuple(one for one, declared in found if declared in opened)
        # A library that is imported as a whole may have that name as well.
        return Named(several, "imported") if several and name not in graph.family(file).builtins else None

    def seen(self, file: int, definitions: Sequence[Definition]) -> Sequence[Definition]:
        """Return those of several definitions whose package a file sees; all where it sees none of them."""
        graph = self._graph
        if not graph.family(file).extended or len({one.file for one in definitions}) < 2:
            return definitions
        opened = self._opened(file) | {graph.package(file)}
        opened.update(self._dotted(module) for module, _ in graph.bindings(file).named.get(definitions[0].name, ()))
        return [one for one in definitions if graph.package(one.file) in opened] or definitions

    def _opened(self, file: int) -> set[str | None]:
        """Return the packages that a file imports all of."""
        bindings = self._graph.bindings(file)
        opened: set[str | None] = {self._dotted(module) for module in bindings.wildcards}
        opened.update(self._dotted(module) for some in bindings.named.values() for module, name in some if name == "*")
        return opened

    def located(self, file: int, name: str) -> Value | None:
        """Return the definition with a full name, as PHP writes it: `\\App\\Mail\\Mailer`, or below an import."""
        head, _, _ = name.partition("\\")
        if head and (bound := self._graph.bindings(file).named.get(head)):
            name = f"{bound[0][0]}\\{bound[0][1]}{name[len(head) :]}"
        module, _, last = self._dotted(name).rpartition(".")
        return self._declaring(file, module, last) or Outside(module)

    def _packaged(self, file: int, name: str) -> list[tuple[Definition, str | None]]:
        """Return the definitions of a name that no type holds, with their packages; [] for too many."""
        graph = self._graph
        found = [one for one in graph.owned(name, "") if self._related(file, one)]
        if graph.family(file).extended:
            found += [one for one in graph.named(name) if one.parent and f".{name}" in one.signature]
        return [(one, graph.package(one.file)) for one in found] if len(found) <= _MAX_PACKAGES else []

    def _related(self, file: int, one: Definition) -> bool:
        """Whether a file can mean a definition: in a language of its family, and no test's from without."""
        there, here = self._graph.sources[one.file], self._graph.sources[file]
        seen = not there.facts & BESIDE or bool(here.facts & BESIDE)
        return seen and families.related(there.language, here.language)

    def _dotted(self, module: str) -> str:
        return module.replace("\\", ".").strip(".").removesuffix("._").removesuffix(".*")

    def _search(self, file: int, name: str) -> Value | None:
        bindings = self._graph.bindings(file)
        for module, member in bindings.named.get(name, ()):
            found = self._follow(file, module, member, name)
            if found is not None:
                return found
        for module in bindings.wildcards:
            files = self.files(file, module)
            found = self.exported(files, name) if files and not name.startswith("_") else None
            if found is not None:
                return found
        if name not in bindings.named or self._graph.family(file).loose:
            return None
        return Unknown("import not followed")

    def _declared(self, file: int, module: str, member: str) -> Value | None:
        """What is imported by its own name, where the module's path does not lead to a file."""
        graph, family = self._graph, self._graph.family(file)
        inner = self.files(file, f"{module}.{member}")
        if inner and (found := self.exported(inner, member)):
            return found
        if family.rooted is not None and not family.rooted(graph.tree, module):
            return None
        # A library does not export what its tests define.
        every = [one for one in graph.owned(member, "") if self._related(file, one)]
        if family.rooted is not None:
            every = [one for one in every if not graph.sources[one.file].facts & BESIDE]
        return Named(tuple(every), "imported") if len({one.file for one in every}) == 1 else None

    def _declaring(self, file: int, module: str, member: str) -> Named | None:
        """Return the definitions of a name in a package, or in a type of it."""
        graph = self._graph
        found = [one for one in graph.named(member) if self._related(file, one) and module.endswith(one.parent)]
        if len(found) > _MAX_PACKAGES:
            return None
        places = ((one, ".".join(filter(None, [graph.package(one.file), one.parent]))) for one in found)
        kept = tuple(one for one, place in places if place == module)
        return Named(kept, "imported") if kept else None

    def _follow(self, file: int, module: str, member: str, name: str) -> Value | None:
        if member != "*" and self._graph.family(file).package is not None:
            return self._declaring(file, self._dotted(module), member) or Outside(module)
        files = self.files(file, module)
        if member == "*":
            return Module(files) if files else Outside(module)
        if files:
            wanted = variables.default_export(self._graph, files[0], name) if member == "default" else member
            found = self.exported(files, wanted)
            if found is not None:
                return found
        if self._graph.family(file).loose:
            return self._declared(file, module, member) or (None if files else Outside(module))
        if self._graph.family(file).submodules:
            inner = self.files(file, module + member if module.endswith(".") else f"{module}.{member}")
            if inner:
                return Module(inner)
        return None if files else Outside(module)
