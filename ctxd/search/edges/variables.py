"""What a function's text says of its variables. Reads stored text; on a reader thread."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ctxd.search.edges.graph import Graph
from ctxd.search.edges.resolution.family import Clue, Family
from ctxd.search.edges.values import Scope
from ctxd.store.relations import Definition, Site

# Lines above a use that are searched for where its variable was set.
_MAX_LINES = 600
_LONGEST_LINE = 400
# Values that say nothing of a variable's type.
NOTHING = frozenset({"None", "null", "nil", "undefined", "NULL", "nullptr", "true", "false", "True", "False"})
_FUNCTIONS = frozenset({"function", "method", "test"})
# What follows a name that is used there, not set.
_USED = (".", "(", "->", "::", "?.")
# The parameters that follow a name, up to its arguments or value, and the first word of each.
_PARAMETERS = re.compile(r"\s*[<\[][^(]*")
_PARAMETER = re.compile(r"[<\[,]\s*(?:(?:const|in|out|reified|typename|class)\s+)*([A-Za-z_]\w*)")
_STANDARD = re.compile(r"(?<![\w:])(?:::)?std::(?:\w+::)*$|>::$")
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
    found = None if signed else _in_lines(graph, scope, name, functions[-1].line_start)
    if found is None:
        said = (in_line(scope.family, one.signature, name) for one in functions if name in one.signature)
        found = next((one for one in said if one is not None), None)
    if scope.family.documented and (found is None or found.kind == "unknown"):
        written = next(filter(None, (noted(graph, one, "param", name) for one in functions)), "")
        return Clue("type", written) if written else found
    return found


def _in_lines(graph: Graph, scope: Scope, name: str, start: int) -> Clue | None:
    """Read the lines above a place, the nearest first."""
    start = max(start, scope.line - _MAX_LINES)
    lines = graph.lines(scope.file, spare=True)[start - 1 : scope.line]
    for back, line in enumerate(reversed(lines)):
        if name not in line or len(line) > _LONGEST_LINE:
            continue
        found = in_line(scope.family, line, name)
        # On the line itself a value is set after it was used: x = f(x.y).
        if found is not None and (back or found.kind != "value"):
            return found
    return None


def noted(graph: Graph, one: Definition, tag: str, name: str = "") -> str:
    """Return the type that the comment above a definition gives with a tag: `@param Type $name`; "" = none."""
    lines = graph.lines(one.file, spare=True)
    at = one.definition_line - 2
    while 0 <= at < len(lines) and (text := lines[at].strip()).startswith(("*", "/**", "#[")):
        words = text.strip("/* ").split()
        if words[:1] == [f"@{tag}"] and len(words) > 1 and (not name or words[2:3] == [name]):
            return words[1]
        at -= 1
    return ""


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


def is_dotted(graph: Graph, site: Site) -> bool:
    """Return whether a name without a receiver is written `.name`: its type is not written."""
    lines = graph.lines(site.file, spare=True)
    line = lines[site.line - 1] if site.line <= len(lines) else ""
    return bool(line) and all(line[:at].endswith(".") for at, _ in _words(line, site.name))


def is_standard(graph: Graph, site: Site) -> bool:
    """Return whether a C++ name is one of the standard library or of a type that is given: `std::x`, `trait<T>::x`."""
    lines = graph.lines(site.file, spare=True)
    line = lines[site.line - 1] if site.line <= len(lines) and "::" in lines[site.line - 1] else ""
    return bool(line) and all(_STANDARD.search(line, 0, at) for at, _ in _words(line, site.name))


def attribute(graph: Graph, owner: Definition, name: str) -> Iterator[tuple[int, Clue]]:
    """Give the lines of a type that set an attribute, and what they say of it."""
    family = graph.family(owner.file)
    if not family.selves or owner.kind != "class":
        return
    lines = graph.lines(owner.file, spare=True)
    written = [f"{one}->{name}" if family.sigil else f"{one}.{name}" for one in sorted(family.selves)]
    for number, line in enumerate(lines[owner.line_start - 1 : owner.line_end], owner.line_start):
        if name not in line or len(line) > _LONGEST_LINE:
            continue
        for one in written:
            found = in_line(family, line, one) if one in line else None
            if found is not None and found.kind in ("type", "value"):
                yield number, found


def in_line(family: Family, line: str, name: str, *, declaration: bool = False) -> Clue | None:
    """Return what one line says of a variable. A `declaration` is its definition's own signature."""
    for at, end in _words(line, name):
        if line.startswith(_USED, end) or line.startswith(".", at - 1 if at else len(line)):
            continue
        before, after = line[:at], line[end:]
        found = family.read(before, after) if not declaration or family.linked or family.fronted else None
        if found is None and declaration and not family.linked:
            found = family.read("", after)
        if found is not None:
            return found
        if declaration:
            return None
    return None


def _words(line: str, name: str) -> Iterator[tuple[int, int]]:
    """Give where a name begins and ends, each time that it is a word of its own."""
    at = line.find(name)
    while at >= 0:
        end = at + len(name)
        if not (_inside_word(line[at - 1 : at]) or _inside_word(line[end : end + 1])):
            yield at, end
        at = line.find(name, end)


def _inside_word(char: str) -> bool:
    return char.isalnum() or char == "_" or char == "$"


def default_export(graph: Graph, file: int, wanted: str) -> str:
    """Return the name of what an ES module exports as its default; `wanted` where the text does not say it."""
    match = _DEFAULT.search("\n".join(graph.lines(file)))
    return (match.group(1) or match.group(2)) if match else wanted
