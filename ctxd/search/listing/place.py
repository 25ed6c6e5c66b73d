"""`ctx chunk`: the chunk that holds a line, and its neighbours. Runs on a reader thread, in one snapshot."""

from __future__ import annotations

from ctxd.model import Found, Hit, View
from ctxd.render import escape, json, text
from ctxd.render.style import style
from ctxd.search import places
from ctxd.search.listing import outline, scope
from ctxd.store import catalog
from ctxd.store.catalog import Piece
from ctxd.store.snapshot import Snapshot
from ctxprotocol.errors import FileNotIndexed, UsageFailed
from ctxprotocol.messages import Answer, Chunk


def chunk(snapshot: Snapshot, request: Chunk, view: View, path: str) -> Answer:
    """Answer with the chunk of `path` (worktree-relative) that holds the line, in the order of the file.

    Raises FileNotIndexed, and UsageFailed for a line that the file does not have.
    """
    language = outline.indexed(snapshot, path).language
    pieces = catalog.pieces(snapshot, path)
    last = max((piece.line_end for piece in pieces), default=0)
    if not last:
        raise FileNotIndexed(f"nothing in it: {escape.path(path)} is empty")
    if not 1 <= request.line <= last:
        raise UsageFailed(f"{escape.path(path)} has {last} lines, not line {request.line}")
    at = next(i for i, piece in enumerate(pieces) if piece.line_start <= request.line <= piece.line_end)
    around = max(request.around, 0)
    body = catalog.text(snapshot, path)
    answer = Found(
        query=f"{path}:{request.line}",
        root=view.root,
        hits=tuple(_hit(path, language, piece, body) for piece in pieces[max(at - around, 0) : at + around + 1]),
        stats=scope.stats(view, files_indexed=catalog.files_count(snapshot)),
        freshness=view.freshness,
        generation=snapshot.generation,
    )
    if request.output == "json":
        return Answer(out=json.found(answer))
    return Answer(out=text.found(answer, style(request, view)))


def _hit(path: str, language: str, piece: Piece, body: bytes) -> Hit:
    symbol = piece.symbol
    code = body[piece.byte_start : piece.byte_end].decode("utf-8", "replace")
    return Hit(
        file=path,
        line_start=piece.line_start,
        line_end=piece.line_end,
        type=symbol.kind if symbol else piece.kind,
        name=symbol.name if symbol else "",
        language=language,
        qualified_name=symbol.qualified_name if symbol else "",
        parent=symbol.parent if symbol else "",
        definition_line=symbol.definition_line if symbol else piece.line_start,
        exported=symbol.exported if symbol else False,
        render="full",
        summary=places.summary(symbol) if symbol else "",
        signature=symbol.signature if symbol else "",
        code=code,
        id=json.identity(path, code),
    )
