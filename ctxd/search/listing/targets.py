"""Whose references are asked for: a name in any notation, PATH:NAME or FILE:LINE. On a reader thread."""

from __future__ import annotations

import re

import msgspec

from ctxd.render import escape
from ctxd.search.edges.graph import Graph
from ctxd.search.listing import outline, symbols
from ctxd.store.relations import Definition
from ctxprotocol.errors import UsageFailed

_LINE = re.compile(r"(.*[^:]):(\d{1,9})")
_PATH = re.compile(r"([^:]*[./][^:]*):([^:\d].*)")


class Asked(msgspec.Struct, frozen=True):
    """What a request names: a name, in one file where `path` is set; or the definition on a line of it."""

    name: str
    path: str = ""
    line: int = 0


def asked(text: str) -> Asked:
    """Read a NAME as it was typed."""
    text = text.strip()
    if match := _LINE.fullmatch(text):
        return Asked("", match.group(1), int(match.group(2)))
    if match := _PATH.fullmatch(text):
        return Asked(match.group(2).removesuffix("()"), match.group(1))
    return Asked(text.removesuffix("()"))


def find(graph: Graph, wanted: Asked) -> list[Definition]:
    """Return the definitions that are meant, the most likely first. Raises FileNotIndexed, UsageFailed."""
    if wanted.path:
        outline.indexed(graph.snapshot, wanted.path)
    if wanted.line:
        found = graph.symbol(graph.at(graph.ids[wanted.path], wanted.line))
        if found is None:
            raise UsageFailed(
                f"no definition on line {wanted.line} of {escape.path(wanted.path)}", "ctx outline FILE lists them"
            )
        same = graph.named(found.name)
        return [found, *(o for o in same if o.id != found.id and _is_same(o, found))]
    made = symbols.lookup(graph.snapshot, wanted.name, None) if wanted.name else []
    graph.expect({one.symbol.name for one in made})
    kept = [one for one in made if not wanted.path or one.path == wanted.path]
    found_ = (
        (definition, place)
        for place, one in enumerate(kept)
        for definition in graph.named(one.symbol.name)
        if definition.definition_line == one.symbol.definition_line
        and definition.qualified_name == one.symbol.qualified_name
        and graph.sources[definition.file].path == one.path
    )
    return list({definition.id: definition for definition, _ in found_}.values())


def last(name: str) -> str:
    """Return the last part of a qualified name."""
    return re.split(r"::|[.#]", name)[-1]


def _is_same(one: Definition, other: Definition) -> bool:
    return one.file == other.file and one.qualified_name == other.qualified_name
