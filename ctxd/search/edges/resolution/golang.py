"""Go: a package is a folder, found by the module path of the nearest go.mod; types stand in the signatures."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxd.search.edges.resolution.family import UNKNOWN, Clue, Family
from ctxd.search.edges.resolution.tree import Tree

_ASSIGNED = re.compile(r"\s*(,[\w\s,]*)?:?=(?!=)\s*(.*)")
_BEFORE = re.compile(r"(?:^|\b(?:if|for|switch|var|case)\s|[{;])\s*(\w+\s*,\s*)*$")
_TYPED = re.compile(r"(?:\s*,\s*\w+)*\s+(?:\.\.\.)?([*\[\]\w.]+)")
_FIELD = re.compile(r"\s+([*\w.]+)\s*(?:$|[`/])")
_PARAMETER = re.compile(r"[(,]\s*$")
_RANGE = re.compile(r"range\s+(.+?)\s*\{?\s*$")
_VERSION = re.compile(r"v\d+$")
_NAME = re.compile(r"\*?([A-Za-z_][\w.]*)$")


def files(tree: Tree, _importer: str, module: str) -> Sequence[str]:
    """Return the files of a package."""
    for name, folder in sorted(tree.modules.items(), key=lambda item: -len(item[0])):
        if module == name or module.startswith(name + "/"):
            return _sources(tree, "/".join(filter(None, [folder, module[len(name) + 1 :]])))
    for folder in ("vendor", "src"):
        if found := _sources(tree, f"{folder}/{module}"):
            return found
    return ()


def _sources(tree: Tree, folder: str) -> list[str]:
    return [path for path in tree.folder(folder) if path.endswith(".go") and not path.endswith("_test.go")]


def binds(module: str) -> str:
    """Return the name of a package as its path tells it."""
    parts = [part for part in module.split("/") if part]
    if len(parts) > 1 and _VERSION.match(parts[-1]):
        parts.pop()
    return re.sub(r"\.v\d+$", "", parts[-1]).removeprefix("go-").removesuffix("-go") if parts else ""


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`."""
    if (start := _BEFORE.search(before)) and (match := _ASSIGNED.match(after)):
        expression = match.group(2)
        if loop := _RANGE.match(expression):
            # The second variable of a loop is the element.
            return Clue("element", loop.group(1)) if start.group(1) else UNKNOWN
        return UNKNOWN if start.group(1) else Clue("value", expression.split(";")[0].rstrip())
    if "func" in before and _PARAMETER.search(before) and (match := _TYPED.match(after)):
        return Clue("type", match.group(1))
    if re.search(r"\bvar\s+$", before) and (match := re.match(r"\s+([*\w.]+)", after)):
        return Clue("type", match.group(1))
    if not before.strip() and (match := _FIELD.match(after)):
        return Clue("type", match.group(1))
    return None


def result(signature: str, name: str) -> str:
    """Return the type of the first result."""
    at = signature.find(f"{name}(")
    at = signature.find(f"{name}[") if at < 0 else at
    at = signature.find("(", at)
    if at < 0:
        return ""
    depth = 0
    for end in range(at, len(signature)):
        depth += (signature[end] == "(") - (signature[end] == ")")
        if not depth:
            rest = signature[end + 1 :].strip().lstrip("(")
            return rest.split(",")[0].strip(" )").split(" ")[-1]
    return ""


def plain(text: str) -> str:
    """Return the name of a type, with its package; "" for slices, maps and functions."""
    match = _NAME.match(text.strip().split("[")[0] if not text.startswith("[") else "")
    return match.group(1) if match else ""


FAMILY = Family(
    languages=frozenset({"go"}),
    files=files,
    read=read,
    result=result,
    plain=plain,
    binds=binds,
    builtins=frozenset(
        """append cap clear close complex copy delete imag len make max min new panic print println real recover error
        string int bool byte rune any float64 float32 int64 int32 uint64 uint32""".split()  # noqa: SIM905
    ),
    foreign=frozenset(
        """AddString CloseNotify FieldsFunc ListenAndServe MarshalJSON ReadAll ReadAt ReadByte ReadFrom ReadRune
        ReadString RoundTrip ServeHTTP StringVar UnmarshalJSON WriteByte WriteHeader WriteRune WriteString WriteTo
        Println Printf Sprintf Errorf Fatalf Logf Skipf RLock RUnlock""".split()  # noqa: SIM905
    ),
    members="folder",
    shared=True,
    closed=True,
)
