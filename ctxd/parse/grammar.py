"""Compiled grammars and queries, one per language, kept for the life of a parse worker.

Only parse workers call this: the parser holds the GIL, and a query takes up to 80 ms to compile.
"""

from __future__ import annotations

import functools
import re
from importlib import resources
from typing import Literal

import msgspec
import tree_sitter
from tree_sitter_language_pack import get_language

from ctxd.parse.languages import Language

Role = Literal["definition", "reference", "wrapper", "import", "export", "skip", "mark"]
_ROLES: dict[str, Role] = {
    "definition": "definition",
    "reference": "reference",
    "wrapper": "wrapper",
    "import": "import",
    "export": "export",
    "skip": "skip",
    "mark": "mark",
}
_CAPTURE = re.compile(r"@([\w.]+)")
_INHERITS = re.compile(r"; inherits: (.*)\n")


class Plan(msgspec.Struct, frozen=True):
    """What a match of one pattern is: its role, its main capture, and the kind in that capture's name."""

    role: Role
    main: str
    kind: str


class Grammar(msgspec.Struct, frozen=True):
    """A parser with its query; `plans[i]` tells how to read a match of pattern i."""

    parser: tree_sitter.Parser
    query: tree_sitter.Query
    plans: tuple[Plan, ...]


@functools.cache
def compiled(language: Language) -> Grammar:
    """Return the parser and query of a language that has a grammar."""
    grammar = get_language(language.grammar)  # type: ignore[arg-type]
    text = query_text(language.name)
    query = tree_sitter.Query(grammar, text)
    raw = text.encode()
    plans = tuple(
        _plan(raw[query.start_byte_for_pattern(index) : query.end_byte_for_pattern(index)].decode())
        for index in range(query.pattern_count)
    )
    return Grammar(tree_sitter.Parser(grammar), query, plans)


def query_text(name: str) -> str:
    """Return `queries/<name>.scm` with the files it inherits in front."""
    text = resources.files("ctxd.parse").joinpath("queries", f"{name}.scm").read_text("utf-8")
    inherited = _INHERITS.match(text)
    bases = inherited.group(1).split() if inherited else []
    return "".join(query_text(base) for base in bases) + text


def _plan(pattern: str) -> Plan:
    mains = set()
    for capture in _CAPTURE.findall(pattern):
        head, _, tail = capture.partition(".")
        if head in _ROLES and not (head == "import" and tail):
            mains.add(Plan(_ROLES[head], capture, tail))
    if len(mains) != 1:
        raise ValueError(f"a pattern needs exactly one main capture: {pattern}")
    return mains.pop()
