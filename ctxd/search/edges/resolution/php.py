"""PHP: namespaces, `$` before each variable, types in front of it or in a comment above. Pure."""

from __future__ import annotations

import re

from msgspec.structs import replace

from ctxd.search.edges.resolution import other
from ctxd.search.edges.resolution.family import UNKNOWN, Clue

_PACKAGE = re.compile(r"^\s*(?:<\?php\s+)?namespace\s+([\w\\]+)", re.MULTILINE)
_TYPED = re.compile(r"(?:^|[\s(,])\??(?:null\|)?(\\?[A-Za-z_][\w\\]*)(?:\|null)?\s+&?(?:\.\.\.)?$")
_NO_TYPE = frozenset(
    """abstract and as break case clone const echo else extends final fn function global include instanceof insteadof
    new or print private protected public readonly require return static throw use var xor yield""".split()  # noqa: SIM905
)
_DECLARES = re.compile(r"\s*(?:$|[=;,)](?![=>]))")
_STARTS = re.compile(r"(?:^|[;{(}]|\bstatic)\s*$")
_ASSIGNED = re.compile(r"\s*=(?![=>])\s*(.*)")
_LOOP = re.compile(r"(?:\bas|=>)\s*&?(?:\[[^\]]*)?$")
_TAKEN_APART = re.compile(r"[\[,(]\s*$")
_PARAMETER = re.compile(r"\b(?:function|fn)\b[^(]*\((?:[^)]*,)?\s*&?(?:\.\.\.)?$")
_RESULT = re.compile(r"\)\s*:\s*(\??[\w\\|]+)")
_NAME = re.compile(r"\\?[A-Za-z_$][\w\\]*")


def package(head: str) -> str:
    """Return the namespace that a file declares, dotted."""
    match = _PACKAGE.search(head)
    return match.group(1).replace("\\", ".") if match else ""


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`."""
    match = _TYPED.search(before) if _DECLARES.match(after) else None
    if match and match.group(1) not in _NO_TYPE:
        return Clue("type", match.group(1))
    if _STARTS.search(before) and (match := _ASSIGNED.match(after)):
        return Clue("value", match.group(1).rstrip())
    apart = _TAKEN_APART.search(before) and re.match(r"[^;(]*\]\s*=(?![=>])", after)
    return UNKNOWN if apart or _LOOP.search(before) or _PARAMETER.search(before) else None


def result(signature: str, _name: str) -> str:
    """Return the declared type of the result."""
    match = _RESULT.search(signature)
    return match.group(1) if match else ""


def plain(text: str) -> str:
    """Return the name of a type, "" for one of several."""
    ways = [way for way in text.strip().lstrip("?").split("|") if way.lower() != "null"]
    match = _NAME.fullmatch(ways[0]) if len(ways) == 1 else None
    return match.group() if match else ""


FAMILY = replace(
    other.FAMILY,
    languages=frozenset({"php"}),
    read=read,
    result=result,
    plain=plain,
    package=package,
    sigil="$",
    selves=frozenset({"$this", "self", "static"}),
    supers=frozenset({"parent"}),
    received=True,
    fronted=True,
    typed=True,
    documented=True,
    enclosed=True,
    shared=False,
)
