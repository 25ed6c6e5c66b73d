"""What is spelled nearly like a name or a word that the index does not hold.

Reads inside one snapshot, on its reader thread. Asked only where nothing is spelled so: about 1 ms for a word, up to
50 ms for a name among 60,000.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ctxd import words
from ctxd.state import Near
from ctxd.store import similar
from ctxd.store.catalog import BESIDE
from ctxd.store.snapshot import Snapshot

# Names that a fuzzy search looks at, at most: bounds the worst case at about 0.1 s.
_SCANNED = 300_000
_CANDIDATES = 2_000
# Letters at the beginning that people get right, and that an index can look up.
_HEAD = 3
# A shorter word has too many neighbours to be one of them by mistake.
_LEAST_LETTERS = 5
# One slip for so many letters.
_LETTERS_A_SLIP = 6
_IS_DEFINED = "EXISTS (SELECT 1 FROM symbols s WHERE s.name_id = m.id)"


def nearest_names(snapshot: Snapshot, name: str, n: int = 3) -> tuple[Near, ...]:
    """Return at most `n` defined names that are like `name` (typos, case, missing parts), likest first.

    Looks up spellings, beginnings and parts by index, then at the letters of a bounded number of names.
    """
    execute = snapshot.connection.execute
    candidates: set[str] = set()
    for statement, bindings in _searches(name):
        candidates.update(found for (found,) in execute(statement, bindings))
    nearest: list[Near] = []
    for candidate in similar.nearest(name, candidates, n):
        place = execute(
            "SELECT f.path, s.definition_line FROM symbols s JOIN files f ON f.id = s.file_id"
            " WHERE s.name_id = (SELECT id FROM names WHERE name = ?)"
            " ORDER BY (f.facts & ?) != 0, f.path, s.definition_line LIMIT 1",
            (candidate, BESIDE),
        ).get
        if place is not None:
            nearest.append(Near(candidate, *place))
    return tuple(nearest)


def _searches(name: str) -> Iterable[tuple[str, Sequence[str | int]]]:
    folded = name.casefold()
    head = folded[:3]
    if head:
        yield (
            f"SELECT name FROM names m WHERE folded >= ? AND folded < ? AND {_IS_DEFINED}"
            " ORDER BY folded, name LIMIT ?",
            (head, head + "\U0010ffff", _CANDIDATES),
        )
    parts = sorted({part for part in words.parts(name) if len(part) >= 3}, key=lambda p: (-len(p), p))[:4]
    slack = max(len(folded) // 3, 2)
    # Letters of the name in threes, apart from each other: one typing error spoils one or two of them.
    bits = [*parts, *(folded[i : i + 3] for i in range(0, max(len(folded) - 2, 1), 2))][:16]
    tests = " OR ".join("instr(folded, ?)" for _ in bits)
    yield (
        f"SELECT name FROM (SELECT * FROM names LIMIT ?) m"
        f" WHERE ({tests or '0'}) AND length(folded) BETWEEN ? AND ? AND {_IS_DEFINED}"
        " ORDER BY folded, name LIMIT ?",
        (_SCANNED, *bits, max(len(folded) // 3, 1), len(folded) + 4 * slack, _CANDIDATES),
    )


def close_names(snapshot: Snapshot, name: str) -> tuple[str, ...]:
    """Return the defined names that a slip of the keyboard tells from `name`: those with the fewest slips."""
    for statement, bindings in _searches(name):
        found = [candidate for (candidate,) in snapshot.connection.execute(statement, bindings)]
        if close := _closest(similar.plainly(name), found):
            return close
    return ()


def close_word(snapshot: Snapshot, stem: str) -> str:
    """Return the commonest index term among those with the fewest slips from `stem`, "" for none that is close."""
    if len(stem) < _LEAST_LETTERS or not stem.isalpha():
        return ""
    head = stem[:_HEAD]
    slips = _slips(stem)
    rows = snapshot.connection.execute(
        "SELECT term, doc FROM fts_terms WHERE term >= ? AND term < ?", (head, head + "\U0010ffff")
    )
    spread = {
        term: doc
        for term, doc in rows
        if abs(len(term) - len(stem)) <= slips
        and term.isalpha()
        # Another letter makes another word (attach, attack); a lost, doubled or swapped one makes a typing error.
        and (len(term) != len(stem) or sorted(term) == sorted(stem))
    }
    close = _closest(stem, list(spread))
    return max(close, key=lambda term: (spread[term], term), default="")


def _closest(plain: str, candidates: Sequence[str]) -> tuple[str, ...]:
    """Return those of `candidates` with the fewest slips from a name without case, sorted; () when none is close."""
    slips = _slips(plain)
    if len(plain) < _LEAST_LETTERS:
        return ()
    wanted = similar.triples(plain)
    best: dict[int, list[str]] = {}
    for candidate in candidates:
        theirs = similar.plainly(candidate)
        # A slip spoils three triples at most, and both names have two more than letters.
        if abs(len(theirs) - len(plain)) <= slips and len(wanted - similar.triples(theirs)) <= 3 * slips + 1:
            away = similar.distance(plain, theirs)
            if away <= slips:
                best.setdefault(away, []).append(candidate)
    return tuple(sorted(best[min(best)])) if best else ()


def _slips(plain: str) -> int:
    return max(1, len(plain) // _LETTERS_A_SLIP)
