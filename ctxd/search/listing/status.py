"""`ctx status`: what the index holds of a worktree. Runs on a reader thread, in one snapshot."""

from __future__ import annotations

import os
from collections.abc import Iterator

import msgspec

from ctxd.model import View
from ctxd.render.status import Status, status_json, status_text
from ctxd.render.style import style
from ctxd.state import FileRow, WorktreeState
from ctxd.store import catalog, vectors
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Answer
from ctxprotocol.messages import Status as StatusRequest


def status(snapshot: Snapshot, request: StatusRequest, view: View, state: WorktreeState) -> Answer:
    """Answer with the state of one worktree: `state` as the loop knows it, the rest from the index."""
    known = Status(
        state=msgspec.structs.replace(
            state, ignored=state.ignored or view.ignored, ignored_by=state.ignored_by or view.ignored_by
        ),
        counts=catalog.counts(snapshot),
        freshness=view.freshness,
        generation=snapshot.generation,
        index_bytes=size_on_disk(state.index_path),
        listed=(*catalog.skipped(snapshot), *_left_out(state)) if request.skipped else None,
        filled=vectors.progress(snapshot, state.vectors.model) if state.vectors.model else None,
    )
    if request.output == "json":
        return Answer(out=status_json(known))
    return Answer(out=status_text(known, style(request, view)))


def _left_out(state: WorktreeState) -> Iterator[FileRow]:
    """Give the paths that were seen and are not in the index at all."""
    for path in state.linked:
        yield FileRow(path=path, reason="linked worktree of this repository")
    for path in state.odd_names:
        yield FileRow(path=path, reason="name is not UTF-8")


def size_on_disk(index_path: str) -> int:
    """Return the bytes of an index file with its log and shared memory; 0 when there is none."""
    total = 0
    for path in (index_path, index_path + "-wal", index_path + "-shm"):
        try:
            total += os.stat(path).st_size if index_path else 0
        except OSError:
            continue  # the log comes and goes with the connections
    return total
