"""What the imports of a file bind, through as many files as pass a name on. On a reader thread; for one request."""

from __future__ import annotations

from collections.abc import Sequence

from ctxd.search import variables
from ctxd.search.graph import Graph
from ctxd.search.values import Module, Named, Outside, Unknown, Value


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
        inner = self.files(file, f"{module}.{member}")
        if inner and (found := self.exported(inner, member)):
            return found
        language = self._graph.sources[file].language
        every = [o for o in self._graph.owned(member, "") if self._graph.sources[o.file].language == language]
        return Named(tuple(every), "imported") if len({one.file for one in every}) == 1 else None

    def _follow(self, file: int, module: str, member: str, name: str) -> Value | None:
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
