"""Candidates -> hits: text, lines, summary, and whether the file is still what was indexed.

Runs on a reader thread, in one snapshot. Only files of hits are decompressed, each once.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

import msgspec

from ctxd import words
from ctxd.guide import Verdict
from ctxd.model import FileStat, Hit, Symbol, View
from ctxd.render import escape, json
from ctxd.search import excerpt, places
from ctxd.search.excerpt import Member
from ctxd.search.ranking import line
from ctxd.search.ranking.candidates import Retrieved
from ctxd.search.ranking.line import Sought
from ctxd.search.ranking.scored import Scored
from ctxd.store import read
from ctxd.store.read import FileRow, SymbolRow
from ctxd.store.snapshot import Snapshot
from ctxprotocol.errors import CtxError

_LINES = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_SUMMARY = 200
# Tokens for the members of a class of which only the header was found.
_MEMBERS_ROOM = 120


class Builder:
    """Makes the hits of one answer. `verdicts`: what a language model says of them."""

    def __init__(
        self, snapshot: Snapshot, view: View, sought: Sought, found: Retrieved, verdicts: Sequence[Verdict] = ()
    ) -> None:
        self._snapshot = snapshot
        self._root = view.root
        self._look = view.look
        self._sought = sought
        self._found = found
        self._said = {(one.id, one.line_start): escape.line(one.said) for one in verdicts}
        self._texts: dict[int, bytes] = {}
        self._lines_of: dict[tuple[str, int, int], list[str]] = {}
        self._verified: dict[int, bool | None] = {}

    def stub(self, scored: Scored) -> Hit:
        """Return a candidate as a place without code."""
        one = scored.candidate
        lines = self._lines(scored)
        definition = one.symbol.definition_line if one.symbol else one.line_start
        inside = one.line_start <= definition <= one.line_end
        if one.definition is not None:
            show = definition
        else:
            show = line.pick(lines, one.line_start, self._sought, definition if inside else one.line_start)
        hit = Hit(
            file=one.file.path,
            line_start=one.line_start,
            line_end=one.line_end,
            type=one.type,
            name=one.symbol.name if one.symbol else "",
            language=one.file.language,
            definition_line=definition if inside else 0,
            score=round(scored.score, 4),
            summary=self._summary(scored, lines, show),
            show_line=show,
            verified=self._is_verified(one.file) is True,
            silent=self._is_verified(one.file) is None,
            via=self._found.via(one),
            parts=tuple((name, round(value, 6)) for name, value in scored.parts),
            id=json.identity(one.file.path, "".join(lines)),
        )
        if said := self._said.get((hit.id, hit.line_start)):
            hit = msgspec.structs.replace(hit, said=said)
        if one.symbol is None:
            return hit
        return msgspec.structs.replace(
            hit,
            qualified_name=one.symbol.qualified_name,
            parent=one.symbol.parent,
            exported=bool(one.symbol.exported),
            signature=one.symbol.signature,
        )

    def full(self, scored: Scored) -> Hit:
        """Return a candidate with all its lines."""
        code = "".join(self._lines(scored))
        return msgspec.structs.replace(self.stub(scored), render="full", code=_closed(code))

    def body(self, scored: Scored) -> Hit:
        """Return what there is to read of a candidate: all its lines, of a class that goes on its members, too."""
        one = scored.candidate
        symbol = one.symbol
        if symbol is not None and one.definition is None and one.chunks[0].kind == "header":
            chunks = tuple(read.covering(self._snapshot, [symbol])[symbol.id])
            whole = msgspec.structs.replace(one, chunks=chunks, line_start=symbol.line_start, line_end=symbol.line_end)
            found = self.outline(msgspec.structs.replace(scored, candidate=whole), _MEMBERS_ROOM)
            return msgspec.structs.replace(found, said=self.stub(scored).said) if found else self.full(scored)
        return self.full(scored)

    def outline(self, scored: Scored, room: int, without: frozenset[int] = frozenset()) -> Hit | None:
        """Return a candidate with the lines that matter within `room` tokens, None when nothing fits.

        The lines `without` are in the answer already.
        """
        one = scored.candidate
        lines = self._lines(scored)
        definition = one.symbol.definition_line if one.symbol else one.line_start
        definition = definition if one.symbol and one.line_start <= definition <= one.line_end else 0
        members = self._members(scored, definition)
        bare = [text.rstrip("\r\n") for text in lines]
        numbers = excerpt.outline(bare, one.line_start, definition, members, self._sought, room, without)
        if not numbers:
            return None
        code = "".join(lines[number - one.line_start] for number in numbers)
        return msgspec.structs.replace(self.stub(scored), render="outline", code=_closed(code), lines=numbers)

    def _members(self, scored: Scored, definition: int) -> list[Member]:
        one = scored.candidate
        if one.type in ("function", "method", "macro") or one.symbol is None:
            return []
        rows = read.inside(self._snapshot, one.file.id, one.line_start, one.line_end)
        kept: list[Member] = []
        for row in rows:
            nested = kept and row.definition_line <= kept[-1].line_end
            if row.definition_line > definition and not nested:
                kept.append(Member(row.definition_line, row.line_end, bool(row.exported), _words(row)))
        return kept

    def _lines(self, scored: Scored) -> list[str]:
        """Return the lines of a candidate, each with its break; reads no further into its file than needed."""
        one = scored.candidate
        known = self._lines_of.get(one.place)
        if known is None:
            first, last = one.chunks[0], one.chunks[-1]
            text = self._text(one.file.id, last.byte_end)[first.byte_start : last.byte_end]
            lines = _LINES.findall(text.decode("utf-8", "replace"))
            known = lines[one.line_start - first.line_start : one.line_end - first.line_start + 1]
            self._lines_of[one.place] = known
        return known

    def _text(self, file: int, until: int) -> bytes:
        known = self._texts.get(file, b"")
        if len(known) < until:
            known = self._texts[file] = read.text(self._snapshot, file, until)
        return known

    def _summary(self, scored: Scored, lines: list[str], show: int) -> str:
        one = scored.candidate
        shown = lines[show - one.line_start].strip() if 0 <= show - one.line_start < len(lines) else ""
        if self._sought.literal(shown) and one.definition is None:
            return shown[:_SUMMARY]
        if one.symbol is None:
            return shown[:_SUMMARY]
        return places.summary(_symbol(one.symbol)) or shown[:_SUMMARY]

    def _is_verified(self, file: FileRow) -> bool | None:
        """Say whether a file is what was indexed; None: its file system does not answer."""
        if file.id not in self._verified:
            self._verified[file.id] = self._unchanged(file)
        return self._verified[file.id]

    def _unchanged(self, file: FileRow) -> bool | None:
        try:
            now = self._look(file.path) if self._look is not None else _stat(os.path.join(self._root, file.path))
        except CtxError:
            return None
        except (OSError, ValueError):
            return False
        return now == FileStat(file.size_bytes, file.mtime_ns, file.ctime_ns, file.inode)


def _stat(path: str) -> FileStat:
    found = os.lstat(path)
    return FileStat(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def _words(row: SymbolRow) -> str:
    return f"{words.expand(row.name)} {row.doc}"


def _symbol(row: SymbolRow) -> Symbol:
    return msgspec.convert(msgspec.structs.astuple(row)[2:], Symbol, strict=False)


def _closed(code: str) -> str:
    """Whole lines without the last line break."""
    return code.removesuffix("\n").removesuffix("\r")
