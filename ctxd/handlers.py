"""One coroutine per request; HANDLERS maps the request's type to it. Runs on the loop.

A handler resolves the worktree, awaits its freshness barrier, and hands one function to a reader thread, which also
renders: the only thread hop, unless the caller stands where nobody knows whether the file system answers. Errors of
the tree in errors.py go to the server as they are.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any, Literal, TypeVar

import msgspec

from ctxd import roots, tokens
from ctxd.guide import Steered
from ctxd.model import View
from ctxd.narrowing import narrowed
from ctxd.render import administration
from ctxd.search import run
from ctxd.search.listing import callees, callers, deps, files, outline, place, status, symbols, targets
from ctxd.search.ranking import weights
from ctxd.state import Counts, Outcome, Phase, RepoRow
from ctxd.store import catalog
from ctxd.store.driver import IndexDamaged
from ctxd.store.snapshot import Snapshot
from ctxd.visit import Services, Visit, visit
from ctxd.worktree import Report
from ctxprotocol.errors import IndexUnusable
from ctxprotocol.messages import (
    Answer,
    Callees,
    Callers,
    Chunk,
    DaemonStatus,
    Deps,
    Features,
    Files,
    Find,
    Forget,
    Init,
    Languages,
    Outline,
    Query,
    Repos,
    Status,
    Symbols,
    Tokens,
    Update,
)

Waiting = TypeVar("Waiting", Init, Update)
Verb = Literal["attached", "updated", "rebuilt", "forgotten"]


def _patient(request: Waiting) -> Waiting:
    """Init and update are asked for in order to wait: they do, and report how far they are."""
    return msgspec.structs.replace(request, fresh_within_ms=-1, index_wait_ms=-1)


async def _outcome(here: Visit, request: Init | Update, verb: Verb, changed: int, began_ns: int) -> Answer:
    """Say what the index holds after an init or update."""

    def outcome(snapshot: Snapshot, view: View) -> Answer:
        counts = catalog.counts(snapshot)
        done = Outcome(
            verb=verb,
            root=view.root,
            files=counts.files,
            chunks=counts.chunks,
            symbols=counts.symbols,
            skipped=sum(reason.files for reason in counts.skipped),
            changed=changed,
            generation=snapshot.generation,
            freshness=view.freshness,
            ignored=view.ignored,
            ignored_by=view.ignored_by,
            took_ms=(time.perf_counter_ns() - began_ns) / 1e6,
        )
        return administration.outcome(done, request)

    return await here.read(outcome)


async def handle_query(services: Services, request: Query, report: Report) -> Answer:
    """Compile the context for a question."""
    request = narrowed(request, services.resolve, services.languages)
    steering = _steering(services, request, report)
    async with visit(services, request, report) as here:
        session = services.sessions.of(here.view.root, request.session)
        if steering is not None:
            here, steered = await steering(here)
            return await here.read(lambda snapshot, view: run.query(snapshot, request, view, session, steered))
        return await here.read(lambda snapshot, view: run.query(snapshot, request, view, session))


async def handle_find(services: Services, request: Find, report: Report) -> Answer:
    """List ranked places."""
    request = narrowed(request, services.resolve, services.languages)
    steering = _steering(services, request, report)
    async with visit(services, request, report) as here:
        if steering is not None:
            here, steered = await steering(here)
            return await here.read(lambda snapshot, view: run.find(snapshot, request, view, steered))
        return await here.read(lambda snapshot, view: run.find(snapshot, request, view))


def _steering(
    services: Services, request: Query | Find, report: Report
) -> Callable[[Visit], Awaitable[tuple[Visit, Steered]]] | None:
    """Return what has a language model steer a request, None where it asks for none. Raises UsageFailed.

    Loaded by the first who asks for it: it costs nobody else anything.
    """
    if not request.llm:
        return None
    from ctxd import guiding

    return guiding.prepared(services, request, report)


async def handle_symbols(services: Services, request: Symbols, report: Report) -> Answer:
    """List definitions by name."""
    request = narrowed(request, services.resolve, services.languages)
    async with visit(services, request, report) as here:
        return await here.read(lambda snapshot, view: symbols.symbols(snapshot, request, view))


async def handle_outline(services: Services, request: Outline, report: Report) -> Answer:
    """List the definitions of one file."""
    request = narrowed(request, services.resolve, services.languages)
    async with visit(services, request, report) as here:
        path = await here.relative(request.directory, request.file)
        return await here.read(lambda snapshot, view: outline.outline(snapshot, request, view, path))


async def handle_callers(services: Services, request: Callers, report: Report) -> Answer:
    """List what refers to a name."""
    request = narrowed(request, services.resolve, services.languages)
    async with visit(services, request, report) as here:
        asked = await _asked(request, here)
        return await here.read(lambda snapshot, view: callers.callers(snapshot, request, view, asked))


async def handle_callees(services: Services, request: Callees, report: Report) -> Answer:
    """List what a definition refers to."""
    request = narrowed(request, services.resolve, services.languages)
    async with visit(services, request, report) as here:
        asked = await _asked(request, here)
        return await here.read(lambda snapshot, view: callees.callees(snapshot, request, view, asked))


async def _asked(request: Callers | Callees, here: Visit) -> targets.Asked:
    """Return whose references are meant; a file is named from the caller's directory."""
    asked = targets.asked(request.name)
    if not asked.path:
        return asked
    path = await here.relative(request.directory, asked.path.encode())
    return msgspec.structs.replace(asked, path=path)


async def handle_deps(services: Services, request: Deps, report: Report) -> Answer:
    """Show what a file imports, or what imports it."""
    request = narrowed(request, services.resolve, services.languages)
    async with visit(services, request, report) as here:
        path = await here.relative(request.directory, request.file)
        return await here.read(lambda snapshot, view: deps.deps(snapshot, request, view, path))


async def handle_chunk(services: Services, request: Chunk, report: Report) -> Answer:
    """Show the chunk that holds a line."""
    async with visit(services, request, report) as here:
        path = await here.relative(request.directory, request.file)
        return await here.read(lambda snapshot, view: place.chunk(snapshot, request, view, path))


async def handle_files(services: Services, request: Files, report: Report) -> Answer:
    """List the indexed paths."""
    request = narrowed(request, services.resolve, services.languages)
    async with visit(services, request, report) as here:
        return await here.read(lambda snapshot, view: files.files(snapshot, request, view))


async def handle_status(services: Services, request: Status, report: Report) -> Answer:
    """Say what is indexed and what is not."""
    async with visit(services, request, report) as here:
        state = services.condition.worktree(here.view.root)
        return await here.read(lambda snapshot, view: status.status(snapshot, request, view, state))


async def handle_init(services: Services, request: Init, report: Report) -> Answer:
    """Attach exactly the named directory, and index it."""
    worktrees = services.worktrees
    root = await worktrees.look(request.directory, lambda: roots.resolve(request.directory))
    async with visit(services, _patient(request), report, root=root, explicit=True) as here:
        return await _outcome(here, request, "attached", 0, here.view.started_ns)


async def handle_update(services: Services, request: Update, report: Report) -> Answer:
    """Bring the index up to date now, or build it anew beside the old one."""
    began = time.perf_counter_ns()
    root = (await services.worktrees.locate(request)).root
    worktree = await services.worktrees.enter(root)
    before = worktree.pipeline.committed
    try:
        full = request.full and worktree.pipeline.complete
        if full:
            await worktree.rebuild(report)
        async with visit(services, _patient(request), report, root=root) as here:
            changed = worktree.pipeline.committed - before
            return await _outcome(here, request, "rebuilt" if full else "updated", changed, began)
    finally:
        services.worktrees.leave(root)


async def handle_forget(services: Services, request: Forget, _report: Report) -> Answer:
    """Detach a worktree and delete its index."""
    began = time.perf_counter()
    attached = {entry.root for entry in services.worktrees.machinery.registry.entries()}
    worktrees = services.worktrees
    root = await worktrees.look(request.directory, lambda: roots.attached_at(request.directory, attached))
    await services.worktrees.forget(root)
    outcome = Outcome(verb="forgotten", root=root, took_ms=(time.perf_counter() - began) * 1e3)
    return administration.outcome(outcome, request)


async def handle_repos(services: Services, request: Repos, _report: Report) -> Answer:
    """List the attached worktrees."""
    rows = []
    for entry in services.worktrees.machinery.registry.entries():
        state = services.condition.worktree(entry.root)
        counts: Counts | None = None
        phase: Phase = state.phase
        if state.index_path:
            worktree = services.worktrees.open[entry.root]
            try:
                counts = await worktree.pipeline.read(catalog.counts, request.timeout_ms / 1e3)
            except IndexDamaged as damage:
                # The others are listed all the same, and this one is built anew, as a question would have it.
                phase = "damaged"
                worktree.damaged(damage.message)
                await worktree.mend(state.index_path)
            except IndexUnusable:
                phase = "failed"
        rows.append(
            RepoRow(
                root=entry.root,
                phase=phase,
                files=counts.files if counts is not None else -1,
                chunks=counts.chunks if counts is not None else -1,
                generation=state.generation if counts is not None else -1,
                freshness=state.freshness if counts is not None else None,
                index_bytes=status.size_on_disk(state.index_path),
            )
        )
    return administration.repos(tuple(rows), request)


async def handle_languages(services: Services, _request: Languages, _report: Report) -> Answer:
    """Name the languages that can be asked for."""
    return Answer(out="".join(f"{name}\n" for name in services.languages))


async def handle_features(_services: Services, request: Features, _report: Report) -> Answer:
    """Name the parts of a score that can be left out."""
    meant = weights.named(request.names)
    return Answer(out="".join(f"{name}\n" for name in weights.FEATURES if not meant or name in meant))


async def handle_tokens(_services: Services, request: Tokens, _report: Report) -> Answer:
    """Count tokens."""
    return Answer(out="".join(f"{tokens.count(text)}\n" for text in request.texts))


async def handle_daemon_status(services: Services, request: DaemonStatus, _report: Report) -> Answer:
    """Say how the daemon is."""
    return administration.daemon(services.condition.daemon(), request)


HANDLERS: dict[type, Callable[[Services, Any, Report], Awaitable[Answer]]] = {
    Query: handle_query,
    Find: handle_find,
    Symbols: handle_symbols,
    Outline: handle_outline,
    Callers: handle_callers,
    Callees: handle_callees,
    Deps: handle_deps,
    Chunk: handle_chunk,
    Files: handle_files,
    Status: handle_status,
    Init: handle_init,
    Update: handle_update,
    Forget: handle_forget,
    Repos: handle_repos,
    Languages: handle_languages,
    Features: handle_features,
    Tokens: handle_tokens,
    DaemonStatus: handle_daemon_status,
}
