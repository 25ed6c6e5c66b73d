"""What to show of a definition that is too long to show: its head, and the lines that matter. Pure."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from ctxd import tokens
from ctxd.search.line import Sought

# A signature that goes on beyond this many lines is cut.
_HEAD = 6
# A line number and the space after it.
_NUMBER_TOKENS = 3
_MEMBER = 0.01  # every member is worth something, exported ones twice that


class Member(msgspec.Struct, frozen=True):
    """A definition inside the one that is shown. `worth`: how well it answers; `text`: its name and doc."""

    line: int
    line_end: int
    exported: bool
    text: str
    worth: float = 0.0


def outline(
    lines: Sequence[str], first: int, definition: int, members: Sequence[Member], sought: Sought, room: int
) -> tuple[int, ...]:
    """Return the numbers of the lines to show within `room` tokens, ascending; () when not even a head fits.

    `lines` are the definition's, the first being number `first`; `definition` is the line of its name.
    """
    chosen, left = _head(lines, first, definition, room)
    if not chosen:
        return ()
    ranked = _members(members, sought) if members else _best_lines(lines, first, sought)
    for number in ranked:
        if number in chosen:
            continue
        cost = _cost(lines[number - first])
        if cost <= left:
            chosen.add(number)
            left -= cost
    return tuple(sorted(chosen))


def _head(lines: Sequence[str], first: int, definition: int, room: int) -> tuple[set[int], int]:
    chosen: set[int] = set()
    for number in range(definition, min(definition + _HEAD, first + len(lines))):
        text = lines[number - first]
        if _cost(text) > room:
            break
        chosen.add(number)
        room -= _cost(text)
        if text.rstrip().endswith((":", "{", ";", "do", "=", ")")):
            break
    return chosen, room


def _members(members: Sequence[Member], sought: Sought) -> list[int]:
    def key(member: Member) -> tuple[float, int]:
        worth = member.worth + sought.worth(member.text) + (2 if member.exported else 1) * _MEMBER
        return (-round(worth, 6), member.line)

    return [member.line for member in sorted(members, key=key)]


def _best_lines(lines: Sequence[str], first: int, sought: Sought) -> list[int]:
    """Lines that hold something of the question, each with its neighbours, then from the top."""
    worth = [(sought.worth(line), number) for number, line in enumerate(lines, first)]
    good = sorted((one for one in worth if one[0] > 0), key=lambda one: (-one[0], one[1]))
    last = first + len(lines) - 1
    near = [n for _, number in good for n in (number, number + 1, number - 1) if first <= n <= last]
    return list(dict.fromkeys([*near, *range(first, last + 1)]))


def _cost(line: str) -> int:
    return tokens.count(line + "\n") + _NUMBER_TOKENS
