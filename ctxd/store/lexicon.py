"""The full-text table as search asks it: how words are stemmed, how common they are, which chunks hold them.

Reads inside one snapshot, on its reader thread. Every expression that reaches FTS5 is built here from words,
each in double quotes, so that nothing a question holds can act as syntax.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

import apsw
import msgspec

from ctxd import words
from ctxd.store.snapshot import Snapshot

# The tokenizer of schema.SCHEMA: stems of questions and of the index must be the same.
_TOKENIZER = ("porter", ["unicode61", "remove_diacritics", "2", "tokenchars", "_"])
# Rows that are fetched past the limit: a tie at the cut mostly ends within them, and scoring all again costs as much as
# the first time.
SPARE = 200
# Scores equal to this many digits are a tie: the order of summation inside FTS5 must not decide.
DIGITS = 6


# Names repeat from question to question, and what they are made of depends on nothing else.
_parts: dict[str, tuple[str, ...]] = {}
_MAX_PARTS = 50_000


class Ranked(msgspec.Struct, frozen=True, array_like=True):
    """A chunk and its BM25 score, higher is better."""

    chunk: int
    score: float


class Phrase(msgspec.Struct, frozen=True):
    """Words that must follow each other (one word: that word). `prefix`: the last one may go on.

    `column` limits it to one column of the full-text table, "" = any.
    """

    words: tuple[str, ...]
    prefix: bool = False
    column: str = ""

    def expression(self) -> str:
        """Return the phrase in FTS5's syntax."""
        quoted = '"' + " ".join(self.words).replace('"', '""') + '"'
        return (f"{self.column} : " if self.column else "") + quoted + ("*" if self.prefix else "")


class Lexicon:
    """The words of one snapshot. Remembers stems and counts for the time of a request."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._connection = snapshot.connection
        self._tokenizer = snapshot.connection.fts5_tokenizer(*_TOKENIZER)
        self._stems: dict[str, tuple[str, ...]] = {}
        self._spread: dict[str, int] = {}

    def stems(self, text: str) -> tuple[str, ...]:
        """Return the index terms of `text`, in order; none for punctuation and emoji."""
        known = self._stems.get(text)
        if known is None:
            found = self._tokenizer(
                text.encode("utf-8", "replace"), apsw.FTS5_TOKENIZE_QUERY, None, include_offsets=False
            )
            known = self._stems[text] = tuple(str(token[0]) for token in found)
        return known

    def parts(self, name: str) -> tuple[str, ...]:
        """Return the index terms of an identifier's parts, in order."""
        known = _parts.get(name)
        if known is None:
            if len(_parts) >= _MAX_PARTS:
                _parts.clear()
            known = _parts[name] = tuple(stem for part in words.parts(name) for stem in self.stems(part))
        return known

    def spread(self, stem: str) -> int:
        """Return in how many chunks an index term occurs."""
        known = self._spread.get(stem)
        if known is None:
            row = self._connection.execute("SELECT doc FROM fts_terms WHERE term = ?", (stem,)).fetchone()
            known = self._spread[stem] = row[0] if row else 0
        return known


def ranked(
    snapshot: Snapshot,
    phrases: Sequence[Phrase],
    weights: Sequence[float],
    limit: int,
    *,
    within: Sequence[int] | None = None,
    every: bool = False,
) -> list[Ranked]:
    """Return the best `limit` chunks that hold any (`every`: each) of `phrases`, best first.

    `weights` are bm25()'s, one for each column. `within` are the chunk ids allowed, None = all. Ties at the
    cut are decided by path and line, never by row id; among equal scores the order means nothing.
    """
    if not phrases or limit <= 0:
        return []
    expression = (" AND " if every else " OR ").join(phrase.expression() for phrase in phrases)
    score = f"bm25(fts, {', '.join(map(str, weights))})"
    where, allowed = _within(within)
    # Rounding in SQL would cost a third of the whole.
    found = [
        Ranked(chunk, -round(value, DIGITS))
        for chunk, value in snapshot.connection.execute(
            f"SELECT rowid, {score} AS s FROM fts WHERE fts MATCH ?{where} ORDER BY s LIMIT ?",
            (expression, *allowed, limit + SPARE),
        )
    ]
    if len(found) <= limit or found[limit].score != found[limit - 1].score:
        return found[:limit]
    cut = found[limit].score
    above = [one for one in found if one.score > cut]
    if len(found) < limit + SPARE or found[-1].score < cut:
        return above + _first([one for one in found if one.score == cut], limit - len(above), snapshot)
    tied = snapshot.connection.execute(
        f"SELECT c.id FROM (SELECT rowid AS id, {score} AS s FROM fts WHERE fts MATCH ?{where}) m "
        f"JOIN chunks c ON c.id = m.id JOIN files f ON f.id = c.file_id WHERE round(m.s, {DIGITS}) = ? "
        "ORDER BY f.path, c.line_start, c.byte_start LIMIT ?",
        (expression, *allowed, -cut, limit - len(above)),
    )
    return above + [Ranked(chunk, cut) for (chunk,) in tied]


def _first(tied: Sequence[Ranked], count: int, snapshot: Snapshot) -> list[Ranked]:
    """Return the first `count` of equals, by path and line."""
    places = {
        chunk: place
        for chunk, *place in snapshot.connection.execute(
            "SELECT c.id, f.path, c.line_start, c.byte_start FROM chunks c JOIN files f ON f.id = c.file_id"
            " WHERE c.id IN (SELECT value FROM json_each(?))",
            (json.dumps([one.chunk for one in tied]),),
        )
    }
    return sorted(tied, key=lambda one: places[one.chunk])[:count]


def holding(snapshot: Snapshot, phrase: Phrase, within: Sequence[int]) -> list[int]:
    """Return which of the chunks `within` hold a phrase."""
    where, allowed = _within(within)
    return [
        row[0]
        for row in snapshot.connection.execute(
            f"SELECT rowid FROM fts WHERE fts MATCH ?{where}", (phrase.expression(), *allowed)
        )
    ]


def _within(chunks: Sequence[int] | None) -> tuple[str, tuple[str, ...]]:
    # The unary plus keeps FTS5 from taking the list as seeks by row id, which is a hundred times slower.
    if chunks is None:
        return "", ()
    return " AND +rowid IN (SELECT value FROM json_each(?))", (json.dumps(list(chunks)),)
