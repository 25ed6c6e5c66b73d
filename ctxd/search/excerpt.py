"""What to show of a definition that is too long to show: its head, and the lines that matter. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import msgspec

from ctxd import tokens
from ctxd.search.ranking.line import Sought

# A signature that goes on beyond this many lines is cut.
_HEAD = 6
# A line number and the space after it, before each run of lines.
_NUMBER_TOKENS = 3
# What is shown around a line that answers.
_ABOVE, _BELOW = 1, 2
_MEMBER = 0.01  # every member is worth something, exported ones twice that


class Member(msgspec.Struct, frozen=True):
    """A definition inside the one that is shown. `worth`: how well it answers; `text`: its name and doc."""

    line: int
    line_end: int
    exported: bool
    text: str
    worth: float = 0.0


def outline(
    lines: Sequence[str],
    first: int,
    definition: int,
    members: Sequence[Member],
    sought: Sought,
    room: int,
    without: Collection[int] = (),
) -> tuple[int, ...]:
    """Return the numbers of the lines to show within `room` tokens, ascending; () when not even a head fits.

    `lines` are the definition's, the first being number `first`; `definition` is the line of its name, 0 where that is
    not among them. The lines `without` are left out.
    """
    choice = _Lines(lines, first, room, without)
    if definition:
        choice.add_head(definition)
        if not choice.chosen and definition not in without:
            return ()
    if members:
        for number in _members(members, sought):
            choice.add([number])
    else:
        choice.add_best(sought)
    return choice.trimmed()


class _Lines:
    """The lines chosen so far, and the room that is left."""

    def __init__(self, lines: Sequence[str], first: int, room: int, without: Collection[int]) -> None:
        self._lines = lines
        self._first = first
        self._room = room
        self._without = without
        self.chosen: set[int] = set()

    def add(self, numbers: Iterable[int]) -> bool:
        """Add all of these lines, or none where they do not fit. A run of lines costs one number."""
        new = [n for n in numbers if n not in self.chosen and n not in self._without]
        cost = sum(self._cost(n) for n in new)
        both = self.chosen.union(new)
        runs = sum(1 for n in both if n - 1 not in both) - sum(1 for n in self.chosen if n - 1 not in self.chosen)
        cost += runs * _NUMBER_TOKENS
        if cost > self._room:
            return False
        self.chosen |= set(new)
        self._room -= cost
        return True

    def add_head(self, definition: int) -> None:
        """Add the signature."""
        for number in range(definition, min(definition + _HEAD, self._first + len(self._lines))):
            if not self.add([number]) or self._text(number).rstrip().endswith((":", "{", ";", "do", "=", ")")):
                break

    def add_best(self, sought: Sought) -> None:
        """Add the lines that hold most of what is sought, each with what stands around it; then what follows them.

        A word that was shown is worth less each time it comes again.
        """
        numbers = range(self._first, self._first + len(self._lines))
        held = {n: sought.held(self._text(n)) for n in numbers if n not in self._without}
        held = {n: words for n, words in held.items() if words}
        shown: Counter[str] = Counter(word for n in self.chosen for word in held.get(n, {}))
        while held:
            best = max(held, key=lambda n: (sum(w / (1 + shown[word]) for word, w in held[n].items()), -n))
            if not self._add_around(best):
                break
            for n in [n for n in held if n in self.chosen]:
                shown.update(held.pop(n).keys())
            held.pop(best, None)
        self._add_more(numbers)

    def trimmed(self) -> tuple[int, ...]:
        """Return the numbers, without blank lines where a run begins or ends."""
        kept: list[int] = []
        for number in sorted(self.chosen):
            while kept and kept[-1] != number - 1 and not self._text(kept[-1]).strip():
                kept.pop()
            if self._text(number).strip() or (kept and kept[-1] == number - 1):
                kept.append(number)
        while kept and not self._text(kept[-1]).strip():
            kept.pop()
        return tuple(kept)

    def _add_around(self, number: int) -> bool:
        """Add a line with its neighbours, down to its own."""
        inside = range(self._first, self._first + len(self._lines))
        near = [n for n in range(number - _ABOVE, number + _BELOW + 1) if n in inside]
        # A gap of a line or two is no saving.
        near += [n for n in (near[0] - 2, near[0] - 1) if n in inside and near[0] - 3 in self.chosen]
        near += [n for n in (near[-1] + 1, near[-1] + 2) if n in inside and near[-1] + 3 in self.chosen]
        return self.add(near) or self.add([number])

    def _add_more(self, numbers: range) -> None:
        """Go on below what is shown, from the top."""
        for number in numbers:
            follows = number - 1 in self.chosen or not self.chosen or number == numbers[0]
            if follows and number not in self._without and not self.add([number]):
                break

    def _text(self, number: int) -> str:
        return self._lines[number - self._first]

    def _cost(self, number: int) -> int:
        return tokens.count(self._text(number) + "\n")


def _members(members: Sequence[Member], sought: Sought) -> list[int]:
    def key(member: Member) -> tuple[float, int]:
        worth = member.worth + sought.worth(member.text) + (2 if member.exported else 1) * _MEMBER
        return (-round(worth, 6), member.line)

    return [member.line for member in sorted(members, key=key)]
