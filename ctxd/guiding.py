"""`--llm`: a language model plans the search and judges what it finds. Runs on the loop; reads on reader threads.

Search and steering meet here and nowhere else. Loaded by the first request that asks for it.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import msgspec

from ctxd.guide import Steered
from ctxd.model import View
from ctxd.search import run
from ctxd.steer.decompose import MOST_DIRECTORIES, MOST_LANGUAGES, Facts
from ctxd.steer.steering import Steering
from ctxd.store import catalog, read
from ctxd.store.snapshot import Snapshot
from ctxd.visit import Services, Visit
from ctxd.worktree import Report
from ctxprotocol.errors import UsageFailed
from ctxprotocol.messages import Find, Progress, Query
from ctxprotocol.providers import resolved

# What a model may use of the time that the caller gives the whole answer: the rest must do without it.
_SHARE = 0.5


def prepared(
    services: Services, request: Query | Find, report: Report
) -> Callable[[Visit], Awaitable[tuple[Visit, Steered]]]:
    """Return what steers one request, once its worktree is entered. Raises UsageFailed where no model is configured."""
    config = services.config.current()
    targets = [resolved(one, "llm") for one in config.llm_providers]
    if not targets:
        raise UsageFailed(
            "--llm needs a language model, and none is configured",
            "ctx config set llm.providers ollama, for one on this machine; "
            "gemini or openai would be sent the question and some lines of what is found",
        )
    timeout_s = min(config.llm_timeout_s, request.timeout_ms / 1e3 * _SHARE)

    async def steer(here: Visit) -> tuple[Visit, Steered]:
        told = Steering(targets, services.remote, services.lately, lambda said: report(Progress(phase=said)), timeout_s)
        return await _steered(here, request, told)

    return steer


async def _steered(here: Visit, request: Query | Find, steering: Steering) -> tuple[Visit, Steered]:
    """Return what the model has to say, and the visit as the search begins only now."""
    facts = await here.read(_facts)
    guide = await steering.plan(request.text, facts)
    shown = await here.read(lambda snapshot, view: run.shown(snapshot, request, view, guide)) if guide else ()
    if shown:
        await steering.judge(request.text, shown)
    view = msgspec.structs.replace(here.view, passed_ns=time.perf_counter_ns())
    return msgspec.structs.replace(here, view=view), steering.steered(found=bool(shown))


def _facts(snapshot: Snapshot, _view: View) -> Facts:
    """Return what a model is told of a repository: the languages, and the directories that have most files."""
    counts: dict[str, int] = {}
    for _, path, _, _ in read.paths(snapshot):
        first, slash, _ = path.partition("/")
        if slash:
            counts[first] = counts.get(first, 0) + 1
    directories = sorted(counts, key=lambda name: (-counts[name], name))[:MOST_DIRECTORIES]
    languages = [one.language for one in catalog.languages(snapshot)[:MOST_LANGUAGES]]
    return Facts(tuple(languages), tuple(sorted(directories)))
