"""`ctx symbols`: defined names, exact, qualified, by pattern or all. Runs on a reader thread, in one
snapshot.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator

from ctxd.model import Found, View
from ctxd.render import json, listing
from ctxd.render.style import style
from ctxd.search import absence, globs, places
from ctxd.search.listing import scope
from ctxd.search.ranking import announced
from ctxd.store import catalog
from ctxd.store.catalog import Defined
from ctxd.store.schema import BEHIND
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Symbols

_JOINTS = re.compile(r"::|->|[.#\\]")
# Kinds in the order in which a name of several kinds is most likely meant.
_KINDS = (
    ("class", "struct", "interface", "trait", "enum", "type", "function", "method", "macro"),
    ("constant", "variable", "module", "route", "test"),
)
_FILES_LOOKED_AT = 200
# Files whose own name is not part of how their definitions are called.
_UNNAMED = frozenset({"__init__", "index", "mod", "main", "lib"})


def symbols(snapshot: Snapshot, request: Symbols, view: View) -> Answer:
    """Answer a request for defined names. Raises UsageFailed for a pattern that cannot be."""
    wanted = request.pattern.strip().removesuffix("()")
    within = scope.scope(snapshot, request)
    if not wanted:
        shown, omitted = _all(snapshot, within, request)
    else:
        found = [one for one in lookup(snapshot, wanted, within) if _is_kind(one, request.kind)]
        shown, omitted = found[: scope.limit(request)], max(len(found) - scope.limit(request), 0)
    if not shown:
        removed = len(lookup(snapshot, wanted, None)) if wanted and scope.narrow(request) else 0
        return absence.answer(snapshot, request, view, request.pattern, removed=removed, strategies=("symbol",))
    answer = Found(
        query=request.pattern,
        root=view.root,
        hits=tuple(map(places.hit, shown)),
        stats=scope.stats(view, omitted=omitted, files_indexed=catalog.files_count(snapshot), strategies=("symbol",)),
        freshness=view.freshness,
        generation=snapshot.generation,
    )
    if request.output == "json":
        return Answer(out=json.definitions(answer))
    return Answer(out=listing.symbols(answer, style(request, view)))


def _all(snapshot: Snapshot, within: str | None, request: Symbols) -> tuple[list[Defined], int]:
    rows = catalog.every(snapshot, kind=request.kind, scope=within)
    shown = list(itertools.islice(rows, scope.limit(request)))
    return shown, catalog.total(snapshot, kind=request.kind, scope=within) - len(shown)


def _is_kind(one: Defined, kind: str) -> bool:
    return not kind or one.symbol.kind == kind


def lookup(snapshot: Snapshot, wanted: str, within: str | None) -> list[Defined]:
    """Return the definitions that a name means: exact, qualified, but for case, or a glob; most likely ones first."""
    if "*" in wanted or "?" in wanted:
        return _matched(snapshot, wanted, within)
    for folded in (False, True):
        found = catalog.named(snapshot, wanted, folded=folded, scope=within)
        if not found:
            found = _qualified(snapshot, wanted, within, folded=folded)
        if found:
            return _ordered(found, _prototypes(snapshot, found))
    return []


def _matched(snapshot: Snapshot, pattern: str, within: str | None) -> list[Defined]:
    parts = [part for part in _JOINTS.split(pattern) if part]
    qualified = len(parts) > 1
    dotted = ".".join(parts) if qualified else pattern
    for folded in (False, True):
        accept = globs.names(dotted, folded=folded)
        if qualified:
            whole, inner = accept, globs.names("*." + dotted, folded=folded)

            def accept(name: str, whole: globs.Accept = whole, inner: globs.Accept = inner) -> bool:
                return whole(name) or inner(name)

        # Case that is not ASCII folds in many ways: without case every name is tried.
        literal = "" if folded else globs.literal(dotted)
        found = catalog.matching(snapshot, accept, qualified=qualified, literal=literal, scope=within)
        if found:
            return sorted(found, key=lambda one: (_behind(one), one.path, one.symbol.line_start))
    return []


def _qualified(snapshot: Snapshot, wanted: str, within: str | None, *, folded: bool) -> list[Defined]:
    parts = [part for part in _JOINTS.split(wanted) if part]
    if not parts or (len(parts) == 1 and parts[0] == wanted):
        return []
    asked = _cased(parts, folded)
    found = catalog.named(snapshot, parts[-1], folded=folded, scope=within)
    inside = [one for one in found if _ends(_cased(one.symbol.qualified_name.split("."), folded), asked)]
    return inside or [one for one in found if any(_ends(way, asked) for way in _ways(one, folded))]


def _ways(one: Defined, folded: bool) -> Iterator[list[str]]:
    """Give the ways to call a definition with its file or its folder in front: `pool.create`, `db.create`."""
    *folders, file = one.path.split("/")
    owners = one.symbol.qualified_name.split(".")
    stem = file.split(".")[0] or file
    if stem not in _UNNAMED:
        yield _cased([*folders, stem, *owners], folded)
    yield _cased([*folders, *owners], folded)


def _cased(parts: Iterable[str], folded: bool) -> list[str]:
    return [part.casefold() for part in parts] if folded else list(parts)


def _ends(whole: list[str], end: list[str]) -> bool:
    return whole[-len(end) :] == end


def _behind(one: Defined) -> bool:
    return bool(one.facts & BEHIND)


def _ordered(found: list[Defined], prototypes: frozenset[Defined]) -> list[Defined]:
    def rank(one: Defined) -> tuple[bool, bool, bool, int, bool, str, int, int]:
        symbol = one.symbol
        kind = next((i for i, kinds in enumerate(_KINDS) if symbol.kind in kinds), len(_KINDS))
        private = not symbol.exported
        return (
            _behind(one),
            one.content != "code",
            one in prototypes,
            kind,
            private,
            one.path,
            symbol.line_start,
            symbol.definition_line,
        )

    return sorted(found, key=rank)


def _prototypes(snapshot: Snapshot, found: list[Defined]) -> frozenset[Defined]:
    """Return those that only announce what another one defines: they end in `;` and hold no body."""
    suspects = [one for one in found if one.language in announced.LANGUAGES and one.symbol.kind in announced.KINDS]
    if len(found) < 2 or not suspects:
        return frozenset()
    texts: dict[str, list[bytes]] = {}
    for path in dict.fromkeys(one.path for one in suspects):
        if len(texts) == _FILES_LOOKED_AT:
            break
        texts[path] = catalog.text(snapshot, path).splitlines()
    return frozenset(one for one in suspects if one.path in texts and _announces(one, texts[one.path]))


def _announces(one: Defined, lines: list[bytes]) -> bool:
    return announced.bodiless(b"\n".join(lines[one.symbol.definition_line - 1 : one.symbol.line_end]))
