"""What a function's text says of its variables. Reads stored text; on a reader thread."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxd.search.graph import Graph
from ctxd.search.resolution.family import Clue, Family
from ctxd.search.values import Scope
from ctxd.store.relations import Definition

# Lines above a use that are searched for where its variable was set.
_MAX_LINES = 600
_LONGEST_LINE = 400
# Values that say nothing of a variable's type.
NOTHING = frozenset({"None", "null", "nil", "undefined", "NULL", "nullptr", "true", "false", "True", "False"})
_FUNCTIONS = frozenset({"function", "method", "test"})
# What follows a name that is used there, not set.
_USED = (".", "(", "->", "::", "?.")
_WORD = re.compile(r"[\w$]")
# The parameters that follow a name, up to its arguments or value, and the first word of each.
_PARAMETERS = re.compile(r"\s*[<\[][^(]*")
_PARAMETER = re.compile(r"[<\[,]\s*(?:(?:const|in|out|reified|typename|class)\s+)*([A-Za-z_]\w*)")
_DEFAULT = re.compile(
    r"export\s+default\s+(?:(?:async|abstract)\s+)*(?:class|function\s*\*?|interface)?\s*([A-Za-z_$][\w$]*)"
    r"|module\.exports\s*=\s*([A-Za-z_$][\w$]*)\s*(?:;|$)",
    re.MULTILINE,
)


def clue(graph: Graph, scope: Scope, name: str, *, signed: bool = False) -> Clue | None:
    """Return what the functions around a place say of a variable; None = it is none of theirs.

    With `signed` only their signatures are asked.
    """
    functions = [one for one in scope.around if one.kind in _FUNCTIONS]
    if not functions:
        return None
    start = max(functions[-1].line_start, scope.line - _MAX_LINES)
    lines = [] if signed else graph.lines(scope.file, spare=True)[start - 1 : scope.line]
    for back, line in enumerate(reversed(lines)):
        if name not in line or len(line) > _LONGEST_LINE:
            continue
        found = in_line(scope.family, line, name)
        # On the line itself a value is set after it was used: x = f(x.y).
        if found is not None and (back or found.kind != "value"):
            return found
    said = (in_line(scope.family, one.signature, name) for one in functions if name in one.signature)
    return next((found for found in said if found is not None), None)


def is_parameter(graph: Graph, scope: Scope, name: str) -> bool:
    """Whether a type is a parameter of a definition around: `<Name extends X>`, `[Name any]`, `infer Name`."""
    for one in scope.around:
        _, found, rest = one.signature.partition(one.name)
        listed = _PARAMETERS.match(rest) if found else None
        if listed and any(word.group(1) == name for word in _PARAMETER.finditer(listed.group())):
            return True
    if not (scope.family.closing and scope.around):
        return False
    one = scope.around[0]
    lines = graph.lines(scope.file, spare=True)[one.line_start - 1 : one.line_end]
    return any(f"infer {name}" in line for line in lines)


def attribute(graph: Graph, owner: Definition, name: str) -> Iterator[tuple[int, Clue]]:
    """Give the lines of a type that set an attribute, and what they say of it."""
    family = graph.family(owner.file)
    if not family.selves or owner.kind != "class":
        return
    lines = graph.lines(owner.file, spare=True)
    written = [f"{one}.{name}" for one in sorted(family.selves)]
    for number, line in enumerate(lines[owner.line_start - 1 : owner.line_end], owner.line_start):
        if name not in line or len(line) > _LONGEST_LINE:
            continue
        for one in written:
            found = in_line(family, line, one) if one in line else None
            if found is not None and found.kind in ("type", "value"):
                yield number, found


def in_line(family: Family, line: str, name: str, *, declaration: bool = False) -> Clue | None:
    """Return what one line says of a variable. A `declaration` is its definition's own signature."""
    for before, after in _occurrences(line, name):
        if after.startswith(_USED):
            continue
        found = family.read("" if declaration and not family.linked else before, after)
        if found is not None:
            return found
        if declaration:
            return None
    return None


def _occurrences(line: str, name: str) -> Iterator[tuple[str, str]]:
    at = line.find(name)
    while at >= 0:
        end = at + len(name)
        before, after = line[:at], line[end:]
        if not (before and (_WORD.match(before[-1]) or before[-1] == ".")) and not (after and _WORD.match(after[0])):
            yield before, after
        at = line.find(name, end)


def default_export(graph: Graph, file: int, wanted: str) -> str:
    """Return the name of what an ES module exports as its default; `wanted` where the text does not say it."""
    match = _DEFAULT.search("\n".join(graph.lines(file)))
    return (match.group(1) or match.group(2)) if match else wanted
