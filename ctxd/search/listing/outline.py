"""`ctx outline`: the definitions of one file as a tree. Runs on a reader thread, in one snapshot."""

from __future__ import annotations

import os
import unicodedata

from ctxd.model import Found, View
from ctxd.render import escape, json, listing
from ctxd.render.style import style
from ctxd.search import places
from ctxd.search.listing import scope
from ctxd.state import FileRow
from ctxd.store import catalog
from ctxd.store.snapshot import Snapshot
from ctxprotocol.errors import FileNotIndexed
from ctxprotocol.messages import Answer, Outline

# Files of the asked name that an error names.
_MEANT = 3


def outline(snapshot: Snapshot, request: Outline, view: View, path: str) -> Answer:
    """Answer with the definitions of `path` (worktree-relative). Raises FileNotIndexed with the reason."""
    row = indexed(snapshot, path)
    found = [one for one in catalog.outline(snapshot, path) if not request.kind or one.symbol.kind == request.kind]
    shown = found[: request.limit] if request.limit else found
    answer = Found(
        query=path,
        root=view.root,
        hits=tuple(map(places.hit, shown)),
        stats=scope.stats(view, omitted=len(found) - len(shown), files_indexed=catalog.files_count(snapshot)),
        freshness=view.freshness,
        generation=snapshot.generation,
        hint="" if found else f"no definitions in this file{_why(row)}; ctx chunk FILE:LINE shows its text",
    )
    code = 0 if shown else 1
    if request.output == "json":
        return Answer(out=json.definitions(answer), code=code)
    return Answer(out=listing.outline(answer, style(request, view)), code=code)


def indexed(snapshot: Snapshot, path: str) -> FileRow:
    """Return what the index has of `path`; raise FileNotIndexed, with the reason where it is known."""
    if any("\ud800" <= char <= "\udfff" for char in path):
        raise FileNotIndexed(f"not indexed: {escape.path(path)} (name is not UTF-8)")
    row = catalog.file(snapshot, path)
    if row is None:
        raise FileNotIndexed(
            f"not in the index: {escape.path(path)}", f"{_meant(snapshot, path)}ctx files lists what is indexed"
        )
    if row.reason:
        raise FileNotIndexed(f"not indexed: {escape.path(path)} ({row.reason})", "ctx status --skipped lists why")
    return row


def _meant(snapshot: Snapshot, path: str) -> str:
    """Return a question for the paths that may be meant: alike but for case and Unicode form, else of that name."""
    wanted, name = _plainly(path), _plainly(os.path.basename(path))
    paths = [row.path for row in catalog.files(snapshot)]
    near = [one for one in paths if _plainly(one) == wanted]
    near = near or [one for one in paths if _plainly(os.path.basename(one)) == name]
    return f"did you mean {', '.join(map(escape.path, near[:_MEANT]))}? " if near else ""


def _plainly(path: str) -> str:
    return unicodedata.normalize("NFC", path).casefold()


def _why(row: FileRow) -> str:
    return f" ({row.note})" if row.note else ""
