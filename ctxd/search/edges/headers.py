"""What a C name means in a file: its own definitions, then what its headers declare, then what the linker finds.

On a reader thread; lives for one request.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ctxd.search.edges.graph import Graph
from ctxd.search.edges.resolution.tree import nearest
from ctxd.store import relations
from ctxd.store.relations import Definition

_FORWARD = re.compile(r"typedef\s+(?:struct|union|enum)\s+\w+\s+\*?\w+\s*;?$")
# Headers that one file can reach, at most: bounds a pathological tree.
_MAX_REACHED = 3_000


class Headers:
    """The include graph, read as far as it is asked for."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._direct: dict[int, tuple[int, ...]] = {}
        self._reached: dict[int, frozenset[int]] = {}

    def meaning(self, file: int, found: Sequence[Definition]) -> tuple[str, list[Definition], int]:
        """Return the rule, those of `found` that a bare name means in `file`, and how many things those are."""
        own = [one for one in found if one.file == file]
        if any(has_body(one) for one in own):
            return "same file", own, 1
        reached = self.reached(file)
        declared = [one for one in found if one.file in reached or one.file == file]
        if any(has_body(one) for one in declared):
            here = [one for one in declared if has_body(one)]
            return "included", declared, len({one.file for one in here})
        bodies = [one for one in found if has_body(one) and not self._is_private(one)]
        if declared:
            bodies = bodies if len(bodies) < 2 else self._beside(declared, bodies)
            return "same file" if own else "included", [*bodies, *declared], max(len({one.file for one in bodies}), 1)
        return self._unseen(file, bodies or [one for one in found if not self._is_private(one)])

    def _unseen(self, file: int, bodies: list[Definition]) -> tuple[str, list[Definition], int]:
        """What no header declares: a header may leave its own includes to whoever includes it."""
        folder = self._graph.folder(file)
        near = [one for one in bodies if self._graph.folder(one.file) == folder]
        if len({one.file for one in bodies}) > 1 and len({one.file for one in near}) == 1:
            return "same folder", near, 1
        return "unique name", bodies, len({one.file for one in bodies})

    def reached(self, file: int) -> frozenset[int]:
        """Return the files that a file includes, directly or not."""
        if file not in self._reached:
            seen: set[int] = set()
            waiting = list(self.included(file))
            while waiting and len(seen) < _MAX_REACHED:
                one = waiting.pop()
                if one not in seen:
                    seen.add(one)
                    waiting += self.included(one)
            self._reached[file] = frozenset(seen)
        return self._reached[file]

    def included(self, file: int) -> tuple[int, ...]:
        """Return the files that a file includes itself."""
        if file not in self._direct:
            graph = self._graph
            path, files = graph.sources[file].path, graph.family(file).files
            modules = [one.module for one in relations.imports(graph.snapshot, [file])]
            places = (place for module in modules for place in files(graph.tree, path, module))
            self._direct[file] = tuple(dict.fromkeys(graph.ids[place] for place in places))
        return self._direct[file]

    def _is_private(self, one: Definition) -> bool:
        """A static function of a source file is nobody else's."""
        is_header = posixpath.splitext(self._graph.sources[one.file].path)[1] in (".h", ".hh", ".hpp", ".hxx", ".inc")
        return not is_header and (one.kind != "function" or "static " in one.signature)

    def _beside(self, declared: Sequence[Definition], bodies: Sequence[Definition]) -> list[Definition]:
        """Choose among bodies of one name: that in a file called like the header, else those in its folder."""
        paths = self._graph.sources
        stems = {posixpath.splitext(paths[one.file].path)[0] for one in declared}
        same = [one for one in bodies if posixpath.splitext(paths[one.file].path)[0] in stems]
        if same:
            return same
        includers = [one for one in bodies if self.reached(one.file) & {other.file for other in declared}] or bodies
        near = set(nearest((paths[one.file].path for one in includers), paths[declared[0].file].path))
        return [one for one in includers if paths[one.file].path in near]


def has_body(one: Definition) -> bool:
    """Whether it defines: a prototype, an extern variable and a forward typedef only announce."""
    if one.kind in ("function", "method"):
        return not one.signature.endswith(";")
    if one.kind == "variable":
        return not one.signature.startswith("extern ")
    return one.kind != "type" or not _FORWARD.match(one.signature)
