"""What the resolution of edges knows of a family of languages. Values and plain functions; pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from ctxd.search.edges.resolution.tree import Tree

# Where the members of a type may stand: in its file, in its folder, anywhere.
Spread = Literal["file", "folder", "anywhere"]


class Clue(msgspec.Struct, frozen=True):
    """What a line says of a variable. `text` is a type or an expression as written; `unknown`: it is bound, to what
    cannot be told. `entered` is what a `with` binds, `element` what a loop takes out.
    """

    kind: Literal["type", "value", "entered", "element", "unknown"]
    text: str = ""


UNKNOWN = Clue("unknown")


class Family(msgspec.Struct, frozen=True):
    """One family. `read(before, after)` says what the text around a variable's name tells of it; `result` is the type
    that a signature returns, `plain` a written type without what is wrapped around it; both "" = cannot be told.
    """

    languages: frozenset[str]
    files: Callable[[Tree, str, str], Sequence[str]]  # tree, importing path, module -> its files; () = not here
    read: Callable[[str, str], Clue | None]
    result: Callable[[str, str], str]  # signature, name
    plain: Callable[[str], str]
    binds: Callable[[str], str]  # what an import without names binds: module -> name
    selves: frozenset[str] = frozenset()
    supers: frozenset[str] = frozenset()
    builtins: frozenset[str] = frozenset()
    keywords: frozenset[str] = frozenset()  # words of the language that a parser may take for names
    foreign: frozenset[str] = frozenset()  # methods of the standard library's types: never a unique name's
    members: Spread = "file"
    package: Callable[[str], str] | None = None  # the head of a file -> the package that it declares, dotted
    rooted: Callable[[Tree, str], bool] | None = None  # whether a module is one of this tree's, where no path tells it
    sigil: str = ""  # what stands before the name of a variable where it is written
    prototypes: bool = False  # a function can own members
    implicit: bool = False  # a bare name may be a member of the type around it
    received: bool = False  # but never one of a class or the like: those are had by a receiver only
    flat: bool = False  # the members of a type are names of its file as well
    fronted: bool = False  # the type of a variable stands before its name
    typed: bool = False  # a written type that is not defined here is another program's
    documented: bool = False  # a comment may say the type: @var, @param, @return
    ambient: bool = False  # a package may be imported for every file, in one that does not show here
    extended: bool = False  # a function of a package may be the member of a type: `fun Type.name()`
    dotted: bool = False  # `.name` is a member of a type that is not written
    enclosed: bool = False  # a package sees the packages around it
    shared: bool = False  # the files of a folder see each other's names
    linked: bool = False  # every file sees what the linker sees; headers say what is meant
    closed: bool = False  # a bare name that is not bound in its file is none of the repo's
    closing: bool = False  # so it is in a file that imports anything
    loose: bool = False  # an import may name what no path tells: namespaces, packages of several folders
    submodules: bool = False  # a member of a package may be a file of its folder


TYPES = frozenset({"class", "struct", "interface", "trait", "enum", "type", "module"})
CALLED = frozenset({*TYPES, "function", "method", "macro", "field", "variable", "constant"}) - {"module"}
_FITTING = {
    "call": CALLED,
    "type": TYPES | {"variable", "constant"},
    "extends": TYPES | {"variable", "constant", "function"},
    "implements": TYPES,
    "decorator": CALLED - {"field"},
    "route": CALLED,
    "constant": frozenset({"constant", "variable", "macro", "field", *TYPES}),
    "import": CALLED | TYPES,
}


def fits(reference: str, kind: str) -> bool:
    """Return whether a reference of one kind can mean a definition of another."""
    return kind in _FITTING[reference]
