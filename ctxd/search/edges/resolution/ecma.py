"""JavaScript and TypeScript: modules by relative path, index files, suffixes that need not be written."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence

from ctxd.search.edges.resolution.family import UNKNOWN, Clue, Family
from ctxd.search.edges.resolution.tree import Tree, above, joined

_SUFFIXES = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte")
# What is written as the compiled file's name means the source beside it.
_COMPILED = {".js": (".ts", ".tsx", ".d.ts"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}
_ALIASES = ("@/", "~/", "src/", "#/")
_TYPED = re.compile(r"[?!]?\s*:\s*([A-Za-z_$(\[{\"'][^=,);{]*)")
_ASSIGNED = re.compile(r"\s*=(?![=>])\s*(.*)")
_DECLARED = re.compile(r"\b(?:const|let|var|readonly|private|public|protected|static|declare)\s+#?$")
_FIELD = re.compile(r"(?:^|[(,])\s*(?:(?:public|private|protected|readonly|static|declare|override|export)\s+)*#?$")
_PULLED = re.compile(r"\b(?:const|let|var)\s*[{\[][^=]*$")
_RETURNS = re.compile(r"\)\s*:\s*$")
_PARAMETER = re.compile(r"[(,]\s*(?:\.\.\.)?$")
_HEADER = re.compile(r"\bfunction\b|\bconstructor\b|\bcatch\b")
_METHOD = re.compile(r"^\s*(?:(?:async|static|public|private|protected|get|set|override)\s+)*[*#]?\w+\s*(?:<.*>)?\(")
_RESULT = re.compile(r"\)\s*:\s*([^={]+)")
_NAME = re.compile(r"[A-Za-z_$][\w$.]*")


def files(tree: Tree, importer: str, module: str) -> Sequence[str]:
    """Return the file that an import means; () for a package."""
    if module.startswith("."):
        place = joined(posixpath.dirname(importer), module)
        return () if place is None else _at(tree, place)
    if module.startswith("/"):
        return _at(tree, module.lstrip("/"))
    alias = next((alias for alias in _ALIASES if module.startswith(alias)), "")
    if not alias and "/" not in module:
        return ()
    tail = module[len(alias) :] if alias in ("@/", "~/", "#/") else module
    for folder in above(importer):
        for inside in (folder, f"{folder}/src") if alias else (folder,):
            if found := _at(tree, f"{inside}/{tail}".lstrip("/")):
                return found
    return ()


def _at(tree: Tree, place: str) -> Sequence[str]:
    stem, suffix = posixpath.splitext(place)
    sources = tuple(stem + other for other in _COMPILED.get(suffix, ()))
    index = f"{place}/index" if place else "index"
    wanted = (place, *sources, *(place + s for s in _SUFFIXES), *(index + s for s in _SUFFIXES))
    path = tree.first(wanted)
    return (path,) if path else ()


def read(before: str, after: str) -> Clue | None:
    """Say what a line tells of the variable between `before` and `after`."""
    if "require(" in after or before.lstrip().startswith(("import ", "export {")):
        return None
    bare = not before.strip()
    declares = bool(_DECLARED.search(before))
    typed = _TYPED.match(after)
    if typed and (declares or (_FIELD.search(before) and _is_header(before, after))):
        return Clue("type", typed.group(1))
    if (bare or declares) and (match := _ASSIGNED.match(after)):
        return Clue("value", match.group(1).rstrip())
    if (_PULLED.search(before) and "=" in after) or (_ASSIGNED.match(after) and before.rstrip()[-1:] in ("(", ",")):
        return UNKNOWN
    if declares and re.match(r"\s*(?:;|,|$|of\b|in\b)", after):
        return UNKNOWN
    if after.lstrip().startswith("=>") and not _RETURNS.search(before):
        return UNKNOWN
    if _PARAMETER.search(before) and after.lstrip()[:1] in (",", ")", "=") and _is_header(before, after):
        return UNKNOWN
    return None


def _is_header(before: str, after: str) -> bool:
    line = before + after
    opens = line.rstrip().endswith(("{", "(", ",", ");", ") {")) and not re.search(r"[=.]|\breturn\b|\bif\b", before)
    return bool(_HEADER.search(before)) or "=>" in after or bool(_METHOD.match(line) and opens) or "): " in after


def result(signature: str, _name: str) -> str:
    """Return the annotated type of the result."""
    match = _RESULT.search(signature)
    return match.group(1) if match else ""


def plain(text: str) -> str:
    """Return the dotted name of a type: without `| null`, arguments and brackets."""
    ways = [way.strip() for way in text.split("|") if way.strip() not in ("null", "undefined", "")]
    if len(ways) != 1 or ways[0].endswith("[]") or "=>" in ways[0]:
        return ""
    match = _NAME.match(ways[0])
    return match.group() if match else ""


FAMILY = Family(
    languages=frozenset({"javascript", "typescript", "tsx", "vue", "svelte"}),
    files=files,
    read=read,
    result=result,
    plain=plain,
    binds=lambda _: "",
    selves=frozenset({"this"}),
    supers=frozenset({"super"}),
    builtins=frozenset(
        """Array Boolean Date Error Function JSON Map Math Number Object Promise Proxy Reflect RegExp Set String Symbol
        WeakMap WeakSet BigInt Buffer URL URLSearchParams alert clearInterval clearTimeout console decodeURIComponent
        describe document encodeURIComponent expect fetch global globalThis isNaN it jest parseFloat parseInt process
        queueMicrotask require setImmediate setInterval setTimeout structuredClone test window""".split()  # noqa: SIM905
    ),
    foreign=frozenset(
        """addEventListener appendChild charAt charCodeAt cloneNode codePointAt createElement createElementNS
        createTextNode defineProperty dispatchEvent endsWith findIndex findLast flatMap forEach fromEntries
        getAttribute getBoundingClientRect getDate getElementById getElementsByClassName getElementsByTagName
        getFullYear getHours getMinutes getMonth getOwnPropertyNames getPrototypeOf getSeconds getTime
        hasAttribute hasOwnProperty indexOf insertBefore isArray lastIndexOf localeCompare matchAll padEnd padStart
        parseFloat parseInt preventDefault querySelector querySelectorAll reduceRight removeAttribute removeChild
        removeEventListener replaceAll replaceChild requestAnimationFrame setAttribute setHours startsWith
        stopPropagation toBe toEqual toFixed toISOString toLocaleString toLowerCase toString toStrictEqual
        toUpperCase trimEnd trimStart unshift valueOf""".split()  # noqa: SIM905
    ),
    prototypes=True,
    closing=True,
)
