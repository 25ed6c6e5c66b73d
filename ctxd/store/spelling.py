"""What is spelled nearly like a name or a word that the index does not hold.

Reads inside one snapshot, on its reader thread. Asked only where nothing is spelled so: 1 to 15 ms for a word, up to
0.15 s for a name among 350,000. Names of what is gone stay in their table: no limit comes before an order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ctxd import words
from ctxd.state import Near
from ctxd.store import similar
from ctxd.store.schema import BEHIND
from ctxd.store.snapshot import Snapshot

_CANDIDATES = 2_000
# Letters at the beginning that people get right, and that an index can look up.
_HEAD = 3
# A shorter word has too many neighbours to be one of them by mistake.
_LEAST_LETTERS = 5
# One slip for so many letters.
_LETTERS_A_SLIP = 6
# Signs in a name that are no letters, beside those that are not looked at: `?`, `!`, `$`.
_MARKS = 2
_ANY_LENGTH = 1_000_000
_BARE = "replace(replace(folded, '_', ''), '-', '')"
_IS_DEFINED = "EXISTS (SELECT 1 FROM symbols s WHERE s.name_id = m.id)"


def nearest_names(snapshot: Snapshot, name: str, n: int = 3) -> tuple[Near, ...]:
    """Return at most `n` defined names that are like `name` (typos, case, missing parts), likest first.

    Looks beginnings up by index, then at the letters of all names.
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
            (candidate, BEHIND),
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
        f"SELECT name FROM names m WHERE length(folded) BETWEEN ? AND ? AND ({tests or '0'}) AND {_IS_DEFINED}"
        " ORDER BY folded, name LIMIT ?",
        (max(len(folded) // 3, 1), len(folded) + 4 * slack, *bits, _CANDIDATES),
    )


def close_names(snapshot: Snapshot, name: str) -> Iterator[tuple[str, ...]]:
    """Give the defined names that slips of the keyboard tell from `name`, the fewest slips first, alike ones together.

    Those with its first letters come before all others. Case, `_` and `-` are no slips.
    """
    plain = similar.plainly(name)
    if len(plain) < _LEAST_LETTERS:
        return
    known: set[str] = set()
    for statement, bindings in _slipped(name.casefold(), plain):
        found = [candidate for (candidate,) in snapshot.connection.execute(statement, bindings)]
        yield from _close(plain, [candidate for candidate in found if candidate not in known])
        known.update(found)


def _slipped(folded: str, plain: str) -> Iterable[tuple[str, Sequence[str | int]]]:
    """Give statements for the names that can be so few slips away: by their first letters, then by all."""
    slips = _slips(plain)
    shortest, longest = len(plain) - slips, len(plain) + slips + _MARKS
    sizes = (shortest, shortest, longest if len(plain) < similar.LONGEST else _ANY_LENGTH)
    sized = f"length(folded) >= ? AND length({_BARE}) BETWEEN ? AND ?"
    rest = f"{_IS_DEFINED} ORDER BY folded, name LIMIT ?"
    head = folded[:_HEAD]
    yield (
        f"SELECT name FROM names m WHERE folded >= ? AND folded < ? AND {sized} AND {rest}",
        (head, head + "\U0010ffff", *sizes, _CANDIDATES),
    )
    # The letters in threes, two apart: a slip spoils two of them. The first test is cheap and most names fail it.
    bits = list(dict.fromkeys(plain[at : at + 3] for at in range(0, len(plain) - 2, 2)))
    any_of = " OR ".join("instr(folded, ?)" for _ in bits)
    held = " + ".join(f"(instr({_BARE}, ?) > 0)" for _ in bits)
    yield (
        f"SELECT name FROM names m WHERE ({any_of}) AND {sized} AND {held} >= ? AND {rest}",
        (*bits, *sizes, *bits, max(1, len(bits) - 2 * slips), _CANDIDATES),
    )


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
    close = next(iter(_close(stem, list(spread))), ())
    return max(close, key=lambda term: (spread[term], term), default="")


def _close(plain: str, candidates: Sequence[str]) -> list[tuple[str, ...]]:
    """Return those of `candidates` that are close to a name without case, by slips, the fewest first; each sorted."""
    slips = _slips(plain)
    wanted = similar.triples(plain)
    found: dict[int, list[str]] = {}
    for candidate in candidates:
        theirs = similar.plainly(candidate)
        # A slip spoils three triples at most, and both names have two more than letters.
        if abs(len(theirs) - len(plain)) <= slips and len(wanted - similar.triples(theirs)) <= 3 * slips + 1:
            away = similar.distance(plain, theirs)
            if away <= slips:
                found.setdefault(away, []).append(candidate)
    return [tuple(sorted(found[away])) for away in sorted(found)]


def _slips(plain: str) -> int:
    return max(1, len(plain) // _LETTERS_A_SLIP)
