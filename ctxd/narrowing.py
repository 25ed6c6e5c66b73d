"""What a request's results are narrowed to, in the daemon's own names. Pure; runs on the loop."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection
from typing import TypeVar, get_args

import msgspec

from ctxd.model import ReferenceKind, SymbolKind
from ctxprotocol.errors import UsageFailed
from ctxprotocol.messages import Callees, Callers, Filtered

Narrowed = TypeVar("Narrowed", bound=Filtered)


def narrowed(request: Narrowed, resolve: Callable[[str], tuple[str, ...]], languages: Collection[str]) -> Narrowed:
    """Return the request with its languages as canonical names. Raises UsageFailed for an unknown one, or kind."""
    found: list[str] = []
    for name in request.languages:
        canonical = resolve(name)
        if not canonical:
            near = difflib.get_close_matches(name.lower(), languages, 1)
            hint = f"did you mean {near[0]}?" if near else "ctx status shows the languages of this worktree"
            raise UsageFailed(f"no language is called {name}", hint)
        found.extend(canonical)
    kinds = get_args(ReferenceKind if isinstance(request, Callers | Callees) else SymbolKind)
    if request.kind and request.kind not in kinds:
        near = difflib.get_close_matches(request.kind.lower(), kinds, 1)
        raise UsageFailed(f"no kind is called {request.kind}", f"did you mean {near[0]}?" if near else _listed(kinds))
    return msgspec.structs.replace(request, languages=tuple(dict.fromkeys(found)))


def _listed(kinds: tuple[str, ...]) -> str:
    return f"kinds: {', '.join(sorted(kinds))}"
