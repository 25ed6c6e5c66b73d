"""Which line of a text answers best, and how well each line does. Pure; runs on the reader threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

# A line that holds a literal of the question beats any sum of words.
_LITERAL = 100.0


class Sought(msgspec.Struct, frozen=True):
    """What to look for in lines: stems with their weights, lower case, and literal texts."""

    stems: Mapping[str, float]
    literals: tuple[str, ...] = ()

    def worth(self, line: str) -> float:
        """Return how much of what is sought a line holds, 0 for nothing."""
        lower = line.lower()
        found = sum(weight for stem, weight in self.stems.items() if stem in lower)
        if any(literal in line for literal in self.literals):
            found += _LITERAL
        elif any(literal.lower() in lower for literal in self.literals):
            found += _LITERAL / 2
        return found

    def held(self, line: str) -> dict[str, float]:
        """Return what of the sought a line holds, with what each is worth."""
        lower = line.lower()
        found = {stem: weight for stem, weight in self.stems.items() if stem in lower}
        for literal in self.literals:
            if literal in line:
                found[literal] = _LITERAL
            elif literal.lower() in lower:
                found[literal] = _LITERAL / 2
        return found

    def literal(self, line: str) -> bool:
        """Whether a line holds a literal text, whatever its case."""
        lower = line.lower()
        return any(literal.lower() in lower for literal in self.literals)


def pick(lines: Sequence[str], first: int, sought: Sought, otherwise: int) -> int:
    """Return the number of the best of `lines`, the first being number `first`; `otherwise` if none is good."""
    best, found = 0.0, otherwise
    for number, line in enumerate(lines, first):
        worth = sought.worth(line)
        if worth > best:
            best, found = worth, number
    return found
