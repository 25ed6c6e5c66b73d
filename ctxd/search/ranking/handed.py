"""Where a name that nothing here defines is handed on: `pub use`, `export ... from`, an `__init__.py`.

On a reader thread, in one snapshot. Whoever asks for such a name wants the place that makes it part of this code.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxd.search.filters import Scope
from ctxd.search.question.plan import Plan
from ctxd.search.ranking.naming import Definition
from ctxd.search.ranking.retrieve import Located
from ctxd.store import read, relations
from ctxd.store.snapshot import Snapshot

_HANDS_ON = re.compile(rb"\s*(?:pub(?:\([^)]*\))?\s+use\b|export\b)")
_MAX_FILES = 24
_MOST = 3


def handed_on(snapshot: Snapshot, plan: Plan, definitions: Sequence[Definition], scope: Scope) -> list[Located]:
    """Return the chunks that hand on the name that is the whole question, the shallowest file first."""
    if plan.kind != "symbol":
        return []
    name = plan.names[0].segments[-1]
    if any(one.exact or one.symbol.name == name for one in definitions):
        return []
    bound = [one for one in relations.imports_of(snapshot, name) if scope.takes_file(one.file)]
    files = read.files(snapshot, {one.file for one in bound})
    bound.sort(key=lambda one: (files[one.file].path.count("/"), files[one.file].path, one.line))
    texts: dict[int, list[bytes]] = {}
    found: list[Located] = []
    for one in bound:
        if one.file not in texts:
            if len(texts) == _MAX_FILES:
                break
            texts[one.file] = read.text(snapshot, one.file).splitlines()
        line = texts[one.file][one.line - 1] if one.line <= len(texts[one.file]) else b""
        if _HANDS_ON.match(line) or files[one.file].path.endswith("__init__.py"):
            found += [
                Located(chunk, one.line)
                for chunk in read.at(snapshot, one.file, one.line)
                if scope.takes_chunk(chunk.id) and all(chunk.id != other.chunk.id for other in found)
            ]
    return found[:_MOST]
