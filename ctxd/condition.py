"""How the daemon and its worktrees are, as values for status: answered by the loop itself, never behind other work."""

from __future__ import annotations

import os
import time

import msgspec
import psutil

from ctxd.embed.tier import Tier
from ctxd.instance import Instance
from ctxd.model import Listing
from ctxd.server import Server
from ctxd.state import DaemonState, Phase, Watching, WorktreeState
from ctxd.worktree import Worktree
from ctxd.worktrees import Worktrees
from ctxprotocol.endpoint import VERSION, log_path


class Condition:
    """Reads the owners; owns nothing but the time of its making."""

    def __init__(self, instance: Instance, server: Server, worktrees: Worktrees, tier: Tier) -> None:
        self._instance = instance
        self._server = server
        self._worktrees = worktrees
        self._tier = tier
        self._began = time.monotonic()

    def worktree(self, root: str) -> WorktreeState:
        """Return the state of one attached worktree, open or not."""
        worktree = self._worktrees.open.get(root)
        state = WorktreeState(root=root) if worktree is None else state_of(worktree)
        return msgspec.structs.replace(state, vectors=self._tier.state())

    def daemon(self) -> DaemonState:
        """Return the state of the daemon and of all attached worktrees."""
        roots = [entry.root for entry in self._worktrees.machinery.registry.entries()]
        states = tuple(self.worktree(root) for root in roots)
        latest = max(self._worktrees.open.values(), key=lambda one: one.last_batch, default=None)
        committed = latest.last_batch if latest is not None else 0.0
        latencies = sorted(self._server.latencies_ms)
        pool = self._worktrees.machinery.pool.stats()
        return DaemonState(
            version=VERSION,
            pid=os.getpid(),
            uptime_s=time.monotonic() - self._began,
            socket=self._instance.socket_path,
            state_dir=self._instance.state_directory,
            log=log_path(self._instance.state_directory),
            worktrees=states,
            queue=self._worktrees.machinery.writer.queued(),
            queries=self._server.asking(),
            requests=self._server.answered,
            p50_ms=_percentile(latencies, 0.50),
            p99_ms=_percentile(latencies, 0.99),
            rss_bytes=psutil.Process().memory_info().rss,
            watches=sum(state.watches for state in states),
            connections=len(self._server.connections),
            workers=pool.workers,
            worker_restarts=pool.crashes + pool.timeouts,
            files_parsed=pool.parsed,
            last_progress=latest.root if latest is not None and committed else "",
            last_progress_s=time.time() - committed if committed else -1.0,
            last_error=self._server.last_error or next((s.last_error for s in states if s.last_error), ""),
        )


def state_of(worktree: Worktree) -> WorktreeState:
    """Return what an open worktree says of itself."""
    pipeline, watcher = worktree.pipeline, worktree.watcher
    listing = pipeline.listing or Listing("", ())
    phase: Phase = "ready" if pipeline.complete else ("failed" if worktree.trouble else "indexing")
    watching: Watching = "trusted" if watcher.trusted else ("degraded" if watcher.passing else "scanning")
    return WorktreeState(
        root=worktree.root,
        index_path=pipeline.index_path,
        phase=phase,
        generation=pipeline.generation,
        freshness=worktree.standing(),
        watching=watching,
        watch_reason=watcher.reason,
        watch_remedy=watcher.remedy,
        watches=watcher.watches,
        overflows=worktree.overflows,
        pending=worktree.pending(),
        lost=worktree.lost_reason,
        nested=listing.nested,
        ignored=listing.ignored,
        ignored_by=listing.ignored_by,
        not_utf8=listing.not_utf8,
        rebuilds=pipeline.rebuilds,
        last_error=worktree.trouble or worktree.last_error,
        linked=listing.linked,
        odd_names=listing.odd_names,
        sparse=listing.sparse,
        git_note=listing.note,
        audited=worktree.audited,
    )


def _percentile(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else 0.0
