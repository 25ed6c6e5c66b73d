"""Every other language, by what most of them have in common: dotted modules, `this`, types beside the names. Pure."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ctxd.search.edges.resolution.family import UNKNOWN, Clue, Family
from ctxd.search.edges.resolution.tree import Tree, joined, nearest

_JOINTS = re.compile(r"::|[./\\:]+")
_TYPE_AFTER = re.compile(r"\??\s*:\s*(?:&\s*)?(?:'\w+\s+)?(?:mut\s+|dyn\s+|impl\s+|inout\s+)*([A-Z][\w.:]*[^=,){;]*)")
_TYPE_BEFORE = re.compile(r"(?:^|[\s(,;{@])((?:[a-z]\w*\.)*[A-Z][\w.]*)(?:<[^;=()]*>)?\??[\s&*]+\$?$")
_DECLARES = re.compile(r"\s*(?:(?:$|[=;,):])(?!=)|in\b)")
_ASSIGNED = re.compile(r"\s*:?=(?![=>~])\s*(.*)")
_STARTS = re.compile(r"(?:^|\b(?:let|var|val|auto|const|mut|final|my|local|our)\s+)\$?$")
_LOOP = re.compile(r"\b(?:for|foreach|catch|case)\b[^=]*$")
_ARROW = re.compile(r"\s*(?:=>|->)")
_BLOCK = re.compile(r"\|[\w\s,]*$")
_RESULT_AFTER = re.compile(r"\)\s*(?:->|:)\s*&?(?:mut\s+)?([\w.:]+[^={]*)")
_RESULT_BEFORE = re.compile(r"([A-Z][\w.]*)(?:<.*>)?\??\s+$")
_WRAPPED = re.compile(r"(?:Option|Optional|Box|Arc|Rc|Ref|shared_ptr|unique_ptr)<\s*(.*)>$")
_NAME = re.compile(r"[A-Za-z_][\w.:]*")


def files(tree: Tree, importer: str, module: str) -> Sequence[str]:
    """Return the file that an import names by its path, or the files of the folder that it names."""
    if module.startswith(("./", "../")):
        place = joined(posixpath.dirname(importer), module)
        suffix = posixpath.splitext(importer)[1]
        path = tree.first([place, place + suffix]) if place else ""
        return (path,) if path else ()
    suffix = posixpath.splitext(importer)[1]
    parts = [part for part in _JOINTS.split(module) if part not in ("", "crate", "super", "self", "*")]
    while parts:
        found = tree.ending("/".join(parts) + suffix) or tree.ending("/".join(parts) + "/mod.rs")
        if found:
            return nearest(found, importer)[:1]
        if len(parts) < 3:
            return ()
        parts = parts[:-1]
    return ()


def binds(module: str) -> str:
    """Return the last name of a module."""
    parts = [part for part in _JOINTS.split(module) if part]
    return parts[-1] if parts else ""


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`."""
    return typed_behind(after) or typed_before(before, after) or assigned(before, after) or bound(before, after)


def typed_behind(after: str) -> Clue | None:
    """Read a type that is written behind the name."""
    match = _TYPE_AFTER.match(after)
    return Clue("type", match.group(1)) if match else None


def typed_before(before: str, after: str) -> Clue | None:
    """Read a type that is written before the name."""
    match = _TYPE_BEFORE.search(before) if _DECLARES.match(after) else None
    return Clue("type", match.group(1)) if match else None


def assigned(before: str, after: str) -> Clue | None:
    """Read the value that a variable is given."""
    starts = _STARTS.search(before.rstrip(" ") + " " if before.strip() else "")
    match = _ASSIGNED.match(after) if starts else None
    return Clue("value", match.group(1).rstrip()) if match else None


def bound(before: str, after: str) -> Clue | None:
    """Say whether a loop, a pattern or a function without a name binds it."""
    return UNKNOWN if _LOOP.search(before) or _ARROW.match(after) or _BLOCK.search(before) else None


def result(signature: str, name: str) -> str:
    """Return the type of the result, behind the parameters or before the name."""
    if match := _RESULT_AFTER.search(signature):
        return match.group(1)
    return result_before(signature, name)


def result_before(signature: str, name: str) -> str:
    """Return the type of the result, before the name."""
    match = _RESULT_BEFORE.search(signature.partition(f"{name}(")[0])
    return match.group(1) if match else ""


def plain(text: str) -> str:
    """Return the name of a type without what is wrapped around it."""
    text = text.strip().rstrip("?")
    if match := _WRAPPED.match(text):
        return plain(match.group(1))
    found = _NAME.match(text)
    return found.group().replace("::", ".") if found else ""


FAMILY = Family(
    languages=frozenset(),
    files=files,
    read=read,
    result=result,
    plain=plain,
    binds=binds,
    selves=frozenset({"self", "this", "Self", "@", "$this", "Me"}),
    supers=frozenset({"super", "base", "parent"}),
    members="anywhere",
    implicit=True,
    shared=True,
    loose=True,
)
