"""Ruby, Lua and Haskell: what keeps each of them apart from other.py. Pure."""

from __future__ import annotations

from msgspec.structs import replace

from ctxd.search.edges.resolution import other
from ctxd.search.edges.resolution.family import Clue


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`: no type is ever written."""
    return other.assigned(before, after) or other.bound(before, after)


RUBY = replace(
    other.FAMILY,
    languages=frozenset({"ruby"}),
    read=read,
    result=lambda _signature, _name: "",
    selves=frozenset({"self", "@"}),
    supers=frozenset({"super"}),
    shared=False,
)
LUA = replace(
    other.FAMILY,
    languages=frozenset({"lua"}),
    read=read,
    result=lambda _signature, _name: "",
    selves=frozenset({"self"}),
    supers=frozenset(),
    implicit=False,
    shared=False,
    builtins=frozenset(
        """assert collectgarbage coroutine debug dofile error getmetatable io ipairs load loadstring math next os
        package pairs pcall print rawequal rawget rawlen rawset require select setmetatable string table tonumber
        tostring type unpack utf8 xpcall""".split()  # noqa: SIM905
    ),
)
HASKELL = replace(
    other.FAMILY,
    languages=frozenset({"haskell"}),
    selves=frozenset(),
    supers=frozenset(),
    implicit=False,
    flat=True,
    shared=False,
)
