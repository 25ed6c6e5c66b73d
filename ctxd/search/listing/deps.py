"""`ctx deps`: what a file imports, or what imports it, step by step. On a reader thread, in one snapshot."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator

import msgspec

from ctxd.model import View
from ctxd.render import deps as render
from ctxd.render.deps import Dependencies, Dependency
from ctxd.render.style import style
from ctxd.search import absence, filters
from ctxd.search.edges.graph import Graph
from ctxd.search.edges.modules import Modules
from ctxd.search.edges.values import Named
from ctxd.search.listing import outline, scope
from ctxd.store import relations
from ctxd.store.relations import Bound
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Deps

# Files whose folder is what an import names.
_FOLDER_FILES = frozenset({"__init__", "index", "mod", "lib", "main"})
_MAX_ROWS = 20_000


def deps(snapshot: Snapshot, request: Deps, view: View, path: str) -> Answer:
    """Answer with the imports of `path` (worktree-relative). Raises FileNotIndexed with the reason, UsageFailed."""
    outline.indexed(snapshot, path)
    graph = Graph(snapshot)
    accept = graph.taken(filters.takes(request))
    importing = Importing(graph)
    every = list(_walked(importing, graph.ids[path], request, accept))
    shown = every[: scope.limit(request)]
    answer = Dependencies(
        path=path,
        root=view.root,
        reverse=request.reverse,
        rows=tuple(shown),
        inside=sum(bool(row.file) for row in every),
        outside=sum(not row.file for row in every),
        filters=absence.filters(request),
        stats=scope.stats(view, omitted=len(every) - len(shown), files_indexed=len(graph.sources)),
        freshness=view.freshness,
        generation=snapshot.generation,
    )
    code = 0 if every else 1
    if request.output == "json":
        return Answer(out=render.deps_json(answer), code=code)
    return Answer(out=render.deps(answer, style(request, view)), code=code)


def _walked(importing: Importing, start: int, request: Deps, accept: Callable[[int], bool]) -> Iterator[Dependency]:
    """Give the rows depth first; a file is opened once, where it is first met."""
    step = importing.importers if request.reverse else importing.imports
    opened = {start}
    waiting = [iter(list(step(start)))]
    made = 0
    while waiting and made < _MAX_ROWS:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            continue
        bound, files = found
        others = [bound.file] if request.reverse else list(files)
        fresh = [file for file in others if file not in opened]
        if others and not any(map(accept, others)):
            continue
        made += 1
        yield importing.row(bound, others, len(waiting), again=bool(others) and not fresh)
        if len(waiting) < request.depth:
            opened.update(fresh)
            waiting.append(iter([one for file in fresh for one in step(file)]))


def _joined(found: Iterable[tuple[Bound, tuple[int, ...]]]) -> Iterator[tuple[Bound, tuple[int, ...]]]:
    """Make one of the imports of a file that name the same module one after the other."""
    last: tuple[Bound, tuple[int, ...]] | None = None
    for bound, files in found:
        if last is not None:
            first = last[0]
            if (first.file, first.module, last[1]) == (bound.file, bound.module, files) and first.names and bound.names:
                last = (msgspec.structs.replace(first, names=(*first.names, *bound.names)), files)
                continue
            yield last
        last = (bound, files)
    if last is not None:
        yield last


class Importing:
    """The imports of files with the files that they mean."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._modules = Modules(graph)

    def imports(self, file: int) -> Iterator[tuple[Bound, tuple[int, ...]]]:
        """Give what a file imports, in the order of its lines: each statement with its files, () = outside."""
        found = relations.imports(self._graph.snapshot, [file])
        yield from _joined([(bound, self.files(bound)) for bound in found])

    def importers(self, file: int) -> Iterator[tuple[Bound, tuple[int, ...]]]:
        """Give the imports that mean a file, by path and line."""
        graph = self._graph
        path = graph.sources[file].path
        found = [
            (bound, files)
            for bound in relations.imports_like(graph.snapshot, self._words(path))
            if bound.file in graph.sources and bound.file != file and file in (files := self.files(bound))
        ]
        yield from _joined(sorted(found, key=lambda one: (graph.sources[one[0].file].path, one[0].line)))

    def files(self, bound: Bound) -> tuple[int, ...]:
        """Return the files that an import means: the module, and those of its names that are files themselves."""
        graph, modules = self._graph, self._modules
        base = modules.files(bound.file, bound.module)
        if not graph.family(bound.file).submodules or not bound.names:
            return base
        found: list[int] = []
        for name, _ in bound.names:
            known = name == "*" or (bool(base) and isinstance(modules.exported(base, name), Named))
            joint = "" if bound.module.endswith(".") else "."
            inner = () if known else modules.files(bound.file, f"{bound.module}{joint}{name}")
            found += inner or base
        return tuple(dict.fromkeys(found))

    def row(self, bound: Bound, files: Iterable[int], depth: int, *, again: bool) -> Dependency:
        """Return an import as an answer shows it."""
        graph = self._graph
        paths = [graph.sources[file].path for file in files]
        package = len(paths) > 1 and graph.family(bound.file).members == "folder"
        return Dependency(
            file=(posixpath.dirname(paths[0]) or ".") if package else paths[0] if paths else "",
            also=() if package else tuple(paths[1:]),
            kind="package" if package else "file" if paths else "outside",
            importer=graph.sources[bound.file].path,
            line=bound.line,
            module=bound.module,
            names=tuple(f"{name} as {alias}" if alias else name for name, alias in bound.names),
            depth=depth,
            again=again,
        )

    def _words(self, path: str) -> list[str]:
        """Return what the module or the names of an import of this file must hold."""
        folder, name = posixpath.split(path)
        stem = name.split(".")[0]
        if path.endswith(".go"):
            tree = self._graph.tree
            roots = [module for module, place in tree.modules.items() if place == folder]
            return [posixpath.basename(roots[0] if roots else folder)]
        inner = [posixpath.basename(folder)] if stem in _FOLDER_FILES and folder else []
        return list(dict.fromkeys([*inner, *([stem] if stem and stem != "__init__" else [])]))
