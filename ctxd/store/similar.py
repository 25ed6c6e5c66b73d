"""Which names are like a name that nothing defines. Pure; runs on the reader threads.

Case and `_` do not count. Likeness is the share of common letter triples (Dice), so that a name whose parts
are there comes out near; the few best are then ordered by how many typing errors lie between, a swap of
neighbours being one.
"""

from __future__ import annotations

from collections.abc import Iterable

# Below this share two names have a part of a word in common at best.
_LEAST = 0.3
# One typing error in a short name destroys most triples, so close spellings count by themselves.
_SPELLING = 0.6
LONGEST = 64


def triples(name: str) -> frozenset[str]:
    """Return the letter triples of a name, without case and `_`, its ends marked."""
    plain = f"^{plainly(name)}$"
    return frozenset(plain[i : i + 3] for i in range(len(plain) - 2))


def plainly(name: str) -> str:
    """Return a name without what tells spellings of it apart: case, `_`, `-`, `$`, spaces."""
    return "".join(filter(str.isalnum, name.casefold()))[:LONGEST]


def nearest(name: str, candidates: Iterable[str], n: int) -> list[str]:
    """Return at most `n` of `candidates` that are like `name`, likest first, ties by length and spelling."""
    wanted, mine = triples(name), plainly(name)
    if not mine:
        return []
    rough: list[tuple[float, str]] = []
    for candidate in set(candidates):
        theirs = triples(candidate)
        shared = 2 * len(wanted & theirs) / (len(wanted) + len(theirs))
        near_length = abs(len(plainly(candidate)) - len(mine)) <= 2
        if shared >= _LEAST or (near_length and (shared > 0 or len(mine) < 8)):
            rough.append((shared, candidate))
    rough.sort(key=lambda pair: (-pair[0], len(pair[1]), pair[1]))
    scored: list[tuple[float, int, str]] = []
    for shared, candidate in rough[:60]:
        theirs_plain = plainly(candidate)
        spelled = 1 - distance(mine, theirs_plain) / max(len(mine), len(theirs_plain), 1)
        score = max(shared, spelled if spelled >= _SPELLING else 0.0)
        if score >= _LEAST:
            scored.append((-round(score, 3), len(candidate), candidate))
    return [candidate for _, _, candidate in sorted(scored)[:n]]


def distance(a: str, b: str) -> int:
    """Return the number of insertions, deletions, changes and swaps of neighbours between two strings.

    Optimal string alignment (a letter is touched once), in O(len(a) * len(b)).
    """
    before: list[int] = []
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        last, before, row = before, row, [i]
        for j, y in enumerate(b, 1):
            best = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y))
            if i > 1 and j > 1 and x == b[j - 2] and a[i - 2] == y:
                best = min(best, last[j - 2] + 1)
            row.append(best)
    return row[-1]
