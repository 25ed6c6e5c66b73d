"""What one request has read of a snapshot to resolve edges: definitions, imports, texts, each at most once.

On a reader thread; lives for one request. Nothing here decides: that is resolver.py.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Collection, Iterable, Sequence

from ctxd.packing import unpack, unpack_beginning
from ctxd.search.edges import paths
from ctxd.search.edges.resolution import families
from ctxd.search.edges.resolution.chain import parse
from ctxd.search.edges.resolution.family import Family
from ctxd.search.edges.resolution.tree import Tree
from ctxd.store import relations
from ctxd.store.relations import Bound, Definition, Site
from ctxd.store.snapshot import Snapshot

# Kinds that are no names of a program.
_NO_NAMES = frozenset({"section", "key", "environment", "route", "test"})
# Texts that one request decompresses to look for the types of variables: about 20 ms.
_MAX_TEXTS = 200
# Bytes of a text that its package is looked for in: a license may stand above.
_HEAD = 8_192
_MODULE = re.compile(rb"^module\s+\"?([^\s\"]+)", re.MULTILINE)


class Bindings:
    """The names that a file's imports bind: name -> (module, member); `*` is the module itself."""

    def __init__(self, found: Iterable[Bound], family: Family) -> None:
        self.named: dict[str, list[tuple[str, str]]] = {}
        self.wildcards: list[str] = []
        self.any = False
        for one in found:
            self.any = True
            for name, alias in one.names:
                if name == "*" and not alias:
                    self.wildcards.append(one.module)
                else:
                    self.named.setdefault(alias or name, []).append((one.module, name))
            if not one.names and (bound := family.binds(one.module)):
                module = bound if family.submodules else one.module
                self.named.setdefault(bound, []).append((module, "*"))


class Graph:
    """Lazy, remembered reads of one snapshot."""

    def __init__(self, snapshot: Snapshot, *, max_texts: int = _MAX_TEXTS) -> None:
        self.snapshot = snapshot
        self._max_texts = max_texts
        self._paths = paths.of(snapshot)
        self.sources = self._paths.sources
        self.ids = self._paths.ids
        self._named: dict[str, list[Definition]] = {}
        self._owned: dict[str, dict[str, list[Definition]]] = {}
        self._bindings: dict[int, Bindings] = {}
        self._supertypes: dict[int, dict[int, list[Site]]] = {}
        self._symbols: dict[int, Definition] = {}
        self._around: dict[int, tuple[Definition, ...]] = {}
        self._families: dict[int, Family] = {}
        self._at: dict[tuple[int, int], int] = {}
        self._lines: dict[int, list[str]] = {}
        self._packages: dict[int, str | None] = {}
        self._texts = 0

    @property
    def tree(self) -> Tree:
        """Return the paths, with the Go modules that they hold."""
        if self._paths.tree is None:
            tree = Tree(self.ids)
            for path in tree.ending("go.mod"):
                if match := _MODULE.search("\n".join(self.lines(self.ids[path])).encode()):
                    tree.modules[match.group(1).decode()] = posixpath.dirname(path)
            self._paths.tree = tree
        return self._paths.tree

    def family(self, file: int) -> Family:
        """Return the family of a file's language."""
        if file not in self._families:
            self._families[file] = families.of(self.sources[file].language)
        return self._families[file]

    def folder(self, file: int) -> str:
        """Return the folder of a file."""
        return posixpath.dirname(self.sources[file].path)

    def package(self, file: int) -> str | None:
        """Return the package that a file declares, dotted; None when its family has none."""
        if file not in self._packages:
            declared = self.family(file).package
            body = relations.text(self.snapshot, file) if declared is not None else None
            head = unpack_beginning(body, _HEAD)[0] if body else b""
            self._packages[file] = declared(head.decode("utf-8", "replace")) if declared is not None else None
        return self._packages[file]

    def named(self, name: str) -> list[Definition]:
        """Return the definitions of a name that a program can mean."""
        if name not in self._named:
            self.expect([name])
        return self._named[name]

    def owned(self, name: str, parent: str) -> list[Definition]:
        """Return the definitions of a name whose owner is called `parent`; "" = those that have none."""
        if name not in self._owned:
            found: dict[str, list[Definition]] = {}
            for one in self.named(name):
                found.setdefault(one.parent, []).append(one)
                if one.parent and " " not in one.parent and self.family(one.file).flat:
                    found.setdefault("", []).append(one)
            self._owned[name] = found
        return self._owned[name].get(parent, [])

    def expect(self, names: Collection[str]) -> None:
        """Read the definitions of many names at once."""
        missing = {name for name in names if name not in self._named}
        self._named.update((name, []) for name in missing)
        found = relations.named(self.snapshot, missing) if missing else []
        # The first and the last of several are shown: which those are must not depend on row ids.
        found.sort(key=lambda one: self.sources[one.file].path)
        for one in found:
            self._symbols[one.id] = one
            if one.kind not in _NO_NAMES:
                self._named[one.name].append(one)

    def bindings(self, file: int) -> Bindings:
        """Return what the imports of a file bind."""
        if file not in self._bindings:
            self.expect_imports([file])
        return self._bindings[file]

    def expect_imports(self, files: Collection[int]) -> None:
        """Read the imports of many files at once."""
        found: dict[int, list[Bound]] = {file: [] for file in files if file not in self._bindings}
        for one in relations.imports(self.snapshot, found) if found else ():
            found[one.file].append(one)
        self._bindings.update((file, Bindings(some, self.family(file))) for file, some in found.items())

    def supertypes(self, owner: Definition) -> list[Site]:
        """Return what a type extends and implements, as its file writes it."""
        if owner.file not in self._supertypes:
            found: dict[int, list[Site]] = {}
            for site in relations.supertypes(self.snapshot, owner.file):
                # Where fields are embedded, the field extends the type that it stands in.
                around = self.around(site.symbol) if self.family(owner.file).members == "folder" else ()
                embedded = len(around) > 1 and around[0].kind == "field"
                found.setdefault(around[1].id if embedded else site.symbol, []).append(site)
            self._supertypes[owner.file] = found
        return self._supertypes[owner.file].get(owner.id, [])

    def symbol(self, number: int) -> Definition | None:
        """Return the definition with this id."""
        if number and number not in self._symbols:
            self.expect_symbols([number])
        return self._symbols.get(number)

    def expect_symbols(self, ids: Collection[int]) -> None:
        """Read many definitions at once."""
        missing = [number for number in ids if number and number not in self._symbols]
        self._symbols.update((one.id, one) for one in relations.definitions(self.snapshot, missing))

    def expect_sites(self, sites: Sequence[Site]) -> None:
        """Read at once what the resolution of these references will ask for one by one."""
        receivers = (parse(receiver) for receiver in {site.receiver for site in sites if site.receiver})
        self.expect({site.name for site in sites}.union(part.name for parts in receivers for part in parts))
        self.expect_symbols({site.symbol for site in sites})
        self.expect_imports({site.file for site in sites})
        around = (self.symbol(site.symbol) for site in sites)
        self.expect({one.parent.rpartition(".")[2] for one in around if one is not None and one.parent})

    def taken(self, accept: Callable[[str, str, str], bool] | None) -> Callable[[int], bool]:
        """Return a test for files by their ids, from one by path, language and content; None takes all."""
        if accept is None:
            return lambda _: True
        return {one.id for one in self.sources.values() if accept(one.path, one.language, "code")}.__contains__

    def around(self, symbol: int) -> tuple[Definition, ...]:
        """Return a definition and those around it in its file, innermost first."""
        if symbol not in self._around:
            one = self.symbol(symbol)
            outer = self._outer(one) if one is not None else None
            above = self.around(outer.id) if outer is not None else ()
            self._around[symbol] = (one, *above) if one is not None else ()
        return self._around[symbol]

    def _outer(self, one: Definition) -> Definition | None:
        if not one.parent:
            return None
        name = one.parent.rpartition(".")[2]
        outer = [
            other
            for other in self.named(name)
            if other.file == one.file
            and other.qualified_name == one.parent
            and other.line_start <= one.line_start
            and other.line_end >= one.line_end
            and other.id != one.id
        ]
        return outer[-1] if outer else None

    def at(self, file: int, line: int) -> int:
        """Return the id of the innermost definition on a line, 0 where there is none."""
        if (file, line) not in self._at:
            one = relations.innermost(self.snapshot, file, line)
            self._at[file, line] = one.id if one is not None else 0
            if one is not None:
                self._symbols[one.id] = one
        return self._at[file, line]

    def lines(self, file: int, *, spare: bool = False) -> list[str]:
        """Return the lines of a file; with `spare` none when this request has read many already."""
        if file not in self._lines:
            if spare and self._texts >= self._max_texts:
                return []
            self._texts += 1
            body = relations.text(self.snapshot, file)
            text = unpack(body).decode("utf-8", "replace") if body else ""
            self._lines[file] = re.split(r"\r\n|\r|\n", text) if "\r" in text else text.split("\n")
        return self._lines[file]
