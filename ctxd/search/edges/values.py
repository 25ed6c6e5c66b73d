"""What a name or an expression can be found to mean, and the place where it stands. Values only."""

from __future__ import annotations

import msgspec

from ctxd.search.edges.resolution.family import Family
from ctxd.store.relations import Definition


class Named(msgspec.Struct, frozen=True):
    """The name of these definitions, found by `rule`."""

    definitions: tuple[Definition, ...]
    rule: str = ""


class Instance(msgspec.Struct, frozen=True):
    """A value of one of these types."""

    owners: tuple[Definition, ...]


class Module(msgspec.Struct, frozen=True):
    """A module or package of the repo: its files."""

    files: tuple[int, ...]


class Outside(msgspec.Struct, frozen=True):
    """Something of a module that is not in the repo."""

    module: str


class Unknown(msgspec.Struct, frozen=True):
    """Bound, but to what cannot be told."""

    why: str


Value = Named | Instance | Module | Outside | Unknown


class Scope(msgspec.Struct, frozen=True):
    """A place: its file, the definitions around it (innermost first), its line."""

    file: int
    language: str
    family: Family
    around: tuple[Definition, ...]
    line: int

    def is_self(self, name: str) -> bool:
        """Whether a name stands for the object that the code around belongs to."""
        return name in self.family.selves or (bool(self.around) and name == _go_receiver(self.around[-1]))

    def is_super(self, name: str) -> bool:
        """Whether a name stands for the type above."""
        return name in self.family.supers


def _go_receiver(method: Definition) -> str:
    """Return what a Go method calls the value it belongs to."""
    head, _, rest = method.signature.partition("(")
    return rest.split(" ")[0] if head == "func " and method.kind == "method" else ""
