"""Python: modules by dotted name, names bound by import, types by annotation and by the class that is called."""

from __future__ import annotations

import builtins
import datetime
import io
import logging
import pathlib
import re
import sys
import threading
from collections.abc import Iterator, Sequence

from ctxd.search.edges.resolution.family import UNKNOWN, Clue, Family
from ctxd.search.edges.resolution.tree import Tree, above, joined, nearest

_ANNOTATED = re.compile(r"\s*:\s*([^=]*[^=\s])\s*(?:$|=(?!=))")
_PARAMETER = re.compile(r"\s*:\s*([^=,)]+)")
_ASSIGNED = re.compile(r"\s*=(?!=)\s*(.*)")
_UNPACKED = re.compile(r"[\w\s,.*()\[\]]*\s=\s")
_BEFORE_UNPACKED = re.compile(r"\s*[(\[]?(?:[\w\s.*]+,)+\s*\*?$")
_IN_HEADER = re.compile(r"\b(?:def\s|lambda\b)")
_BEFORE_PARAMETER = re.compile(r"(?:[(,]\s*\*{0,2}|^\s*\*{0,2}|\blambda\s+)$")
_LOOP = re.compile(r"\bfor\s+(?:[\w\s,*(]+,)?\s*\(?\*?$")
_ENTERED = re.compile(r"\bwith\b.*?([\w.]+\(.*|[\w.]+)\s+as\s+$")
_CAUGHT = re.compile(r"\bexcept\*?\s+([\w.]+)\s+as\s+$")
_RESULT = re.compile(r"\)\s*->\s*(.+)$")
_WRAPPED = re.compile(r"(?:\w+\.)?(?:Optional|Annotated|ClassVar|Final|Required|NotRequired)\[(.*)\]$")
_DOTTED = re.compile(r"[A-Za-z_][\w.]*")


def files(tree: Tree, importer: str, module: str) -> Sequence[str]:
    """Return the file of a module: itself or the `__init__` of its package."""
    name = module.lstrip(".")
    dots = len(module) - len(name)
    tail = name.replace(".", "/")
    if dots:
        folder: str | None = importer
        for _ in range(dots):
            folder = None if folder == "" else _parent(folder or "")
        place = None if folder is None else joined(folder, tail)
        return () if place is None else _at(tree, place)
    for folder in above(importer):
        if not _is_package(tree, folder) and (found := _at(tree, f"{folder}/{tail}" if folder else tail)):
            return found
    if name.split(".")[0] in sys.stdlib_module_names:
        return ()
    ends = [*tree.ending(f"{tail}/__init__.py"), *tree.ending(f"{tail}.py"), *tree.ending(f"{tail}.pyi")]
    roots = [path for path in ends if not _is_package(tree, _root(path, tail))]
    return nearest(roots, importer)[:1]


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def _root(path: str, tail: str) -> str:
    place = path.removesuffix("/__init__.py").removesuffix(".py").removesuffix(".pyi")
    return place[: -len(tail)].rstrip("/")


def _is_package(tree: Tree, folder: str) -> bool:
    return tree.has(f"{folder}/__init__.py" if folder else "__init__.py")


def _at(tree: Tree, place: str) -> tuple[str, ...]:
    inside = f"{place}/" if place else ""
    path = tree.first((f"{inside}__init__.py", f"{place}.py", f"{inside}__init__.pyi", f"{place}.pyi"))
    return (path,) if path else ()


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`."""
    bare = not before.strip()
    if bare and (match := _ANNOTATED.match(after)) and not after.lstrip().startswith(":="):
        return Clue("type", match.group(1).split("#")[0].rstrip().rstrip(","))
    if bare and (match := _ASSIGNED.match(after)):
        return Clue("value", match.group(1).split(" #")[0].rstrip())
    if match := _ENTERED.search(before):
        return Clue("entered", match.group(1))
    if match := _CAUGHT.search(before):
        return Clue("type", match.group(1))
    if _BEFORE_PARAMETER.search(before) and _IN_HEADER.search(before):
        if match := _PARAMETER.match(after):
            return Clue("type", match.group(1))
        return UNKNOWN if after.lstrip()[:1] in (",", ")", "=", ":", "") else None
    if before.lstrip().startswith(("import ", "from ")):
        return None
    loops = _LOOP.search(before) and " in " in f"{after} "
    unpacks = (bare and after.lstrip().startswith(",") and _UNPACKED.match(after)) or (
        _BEFORE_UNPACKED.match(before) and _UNPACKED.match(after)
    )
    if loops or unpacks or after.lstrip().startswith(":=") or before.endswith(" as "):
        return UNKNOWN
    return None


def result(signature: str, _name: str) -> str:
    """Return the annotated type of the result."""
    match = _RESULT.search(signature)
    return match.group(1) if match else ""


def plain(text: str) -> str:
    """Return the dotted name of a type: without quotes, `Optional`, `| None` and arguments."""
    text = text.strip().strip("\"'").strip()
    if match := _WRAPPED.match(text):
        return plain(match.group(1).split(",")[0])
    ways = [way.strip() for way in _ways(text) if way.strip() not in ("None", "")]
    match = _DOTTED.match(ways[0]) if len(ways) == 1 else None
    return match.group() if match else ""


def _ways(text: str) -> Iterator[str]:
    depth, start = 0, 0
    for at, char in enumerate(text):
        depth += (char == "[") - (char == "]")
        if char == "|" and not depth:
            yield text[start:at]
            start = at + 1
    yield text[start:]


# What a receiver of unknown type has from the standard library, and what tests of every kind call.
_LIBRARY = (
    *(str, bytes, list, dict, set, int, float, object, Exception, pathlib.Path, re.Pattern, re.Match),
    *(datetime.datetime, datetime.timedelta, io.BufferedRandom, io.TextIOWrapper, io.StringIO, logging.Logger),
    *(threading.Thread, threading.Event, threading.Condition),
)
_TESTED = """assert_called assert_called_once assert_called_once_with assert_called_with assert_not_called monkeypatch
    add_argument parse_args set_defaults add_parser add_subparsers return_value side_effect check_output check_call
    addCleanup subTest skipTest""".split()  # noqa: SIM905


FAMILY = Family(
    languages=frozenset({"python"}),
    files=files,
    read=read,
    result=result,
    plain=plain,
    binds=lambda module: "" if module.startswith(".") else module.split(".")[0],
    selves=frozenset({"self", "cls"}),
    supers=frozenset({"super"}),
    builtins=frozenset(dir(builtins)),
    foreign=frozenset(name for kind in _LIBRARY for name in dir(kind)).union(_TESTED),
    closed=True,
    submodules=True,
)
