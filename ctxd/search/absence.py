"""The answer when nothing was found: looks up what explains it. Runs on a reader thread, in the request's snapshot."""

from __future__ import annotations

import shlex
import time
from collections.abc import Iterator

import msgspec

from ctxd import tokens, words
from ctxd.guide import UNSTEERED, Steered
from ctxd.model import Found, Stats, View
from ctxd.render import escape, json, nothing, text
from ctxd.render.nothing import Nothing
from ctxd.render.style import cropped, style
from ctxd.state import Near
from ctxd.store import catalog, spelling
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer, Filtered

# Words of a question that are looked up as names: each may cost a scan of all names.
_LOOKED_UP = 3
_NAMES = 3
# Characters of a question that are repeated where the budget does not hold more.
_ECHO = 40


def answer(
    snapshot: Snapshot,
    request: Filtered,
    view: View,
    query: str,
    *,
    removed: int = 0,
    strategies: tuple[str, ...] = (),
    warnings: tuple[str, ...] = (),
    budget: int = 0,
    steered: Steered = UNSTEERED,
) -> Answer:
    """Explain that `query` has no result: exit code 1.

    `removed` counts the results that only the request's filters kept out. `strategies` were tried in vain. `budget`:
    tokens that the answer may have, 0 = any number; what does not fit is left out, the nearest names first. `steered`:
    what a language model had a part in, and was paid for.
    """
    languages = catalog.languages(snapshot)
    skipped, unparsed = catalog.left_out(snapshot)
    said = Nothing(
        query=query,
        languages=languages,
        skipped=skipped,
        unparsed=unparsed,
        freshness=view.freshness,
        nearest=near(snapshot, query),
        removed=removed,
        filters=filters(request),
        ignored=view.ignored,
        ignored_by=view.ignored_by,
    )
    found = _rendered(snapshot, request, view, said, strategies, warnings, steered)
    for shorter in _shorter(said) if budget else ():
        if tokens.count(found.out) <= budget:
            break
        found = _rendered(snapshot, request, view, shorter, strategies, warnings, steered)
    if budget and request.output == "text" and tokens.count(found.out) > budget:
        found = Answer(out="nothing found\n", notes=found.notes, code=1)
    return found


def _shorter(said: Nothing) -> Iterator[Nothing]:
    """Give explanations that say less and less."""
    said = msgspec.structs.replace(said, nearest=())
    yield said
    yield msgspec.structs.replace(said, query=cropped(said.query, _ECHO))
    yield msgspec.structs.replace(said, query="", filters="", removed=0)


def _rendered(
    snapshot: Snapshot,
    request: Filtered,
    view: View,
    said: Nothing,
    strategies: tuple[str, ...],
    warnings: tuple[str, ...],
    steered: Steered,
) -> Answer:
    now_ns = time.perf_counter_ns()
    stats = Stats(
        search_ms=(now_ns - view.search_began_ns) / 1e6,
        total_ms=(now_ns - view.started_ns) / 1e6,
        strategies_used=strategies,
        files_indexed=sum(one.files for one in said.languages),
        files_pending=view.freshness.pending,
        steering_ms=steered.took_ms,
        steered_by=steered.by,
        cost_usd=steered.cost_usd,
    )
    if request.output == "text":
        notes = "".join(f"note: {escape.line(warning)}\n" for warning in warnings)
        steering = f"{text.steering(stats)}\n" if steered.by else ""
        return Answer(out=nothing.explained(said, style(request, view)) + steering, notes=notes, code=1)
    found = Found(
        query=said.query,
        root=view.root,
        hits=(),
        stats=stats,
        freshness=view.freshness,
        generation=snapshot.generation,
        warnings=warnings,
        hint=nothing.hint(said),
    )
    return Answer(out=json.found(found), code=1)


def near(snapshot: Snapshot, query: str) -> tuple[Near, ...]:
    """Return defined names that are like the question, or like one of its words: at most three."""
    found: dict[str, Near] = {}
    for name in _names(query):
        for one in spelling.nearest_names(snapshot, name, _NAMES):
            found.setdefault(one.name, one)
        if len(found) >= _NAMES:
            break
    return tuple(found.values())[:_NAMES]


def filters(request: Filtered) -> str:
    """Return a request's filters as options that can be typed, "" when it has none."""
    options = [
        *(("--lang", language) for language in request.languages),
        *(("--path", glob) for glob in request.paths),
        *(("--exclude", glob) for glob in request.excludes),
        *([("--type", request.kind)] if request.kind else []),
        *([("--content", request.content)] if request.content != "all" else []),
    ]
    return " ".join(f"{option} {shlex.quote(value)}" for option, value in options)


def _names(query: str) -> Iterator[str]:
    """Give what may be meant as a name: a code-shaped word, all of a short question, then its longest words."""
    found = list(dict.fromkeys(words.WORD.findall(query)))
    if not found:
        return
    if len(query.split()) == 1:
        yield found[-1]
    elif len(found) <= _LOOKED_UP:
        yield "_".join(found)
    coded = [word for word in found if "_" in word or not word[1:].islower()]
    longest = sorted((word for word in found if len(word) > 3), key=lambda word: (-len(word), word))
    yield from list(dict.fromkeys([*coded, *longest]))[:_LOOKED_UP]
