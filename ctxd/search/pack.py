"""Ranked candidates and a budget -> what is sent. Pure; runs on the reader threads.

The best are sent whole, what is too long as an outline, the rest as one line each, what is left as a count. An
answer is measured as it is rendered, and never goes over its budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from ctxd.model import Hit

# Below this share of the best score a candidate is not worth a body, and below that not even a line.
BODY_SHARE = 0.4
STUB_SHARE = 0.25
# A longer list of one-line results is read by nobody.
MAX_ROWS = 12
# An outline is useful from about this size on.
_LEAST_OUTLINE = 40
# Share of what is left that an outline may take while others want a body, too.
_OUTLINE_SHARE = 0.6
# As long as more of the budget than this is left, whatever is worth a line is worth a body.
_THIN = 0.5

Measure = Callable[[Sequence[Hit], int], int]


class Row(msgspec.Struct, frozen=True, eq=False):
    """A candidate in its possible forms, worked out when they are needed.

    `share`: its score as a share of the best one. `outline` takes the room in tokens and may find it too small.
    """

    stub: Hit
    share: float
    full: Callable[[], Hit]
    outline: Callable[[int], Hit | None]


class Packed(msgspec.Struct, frozen=True):
    """The hits that fit, in order of rank, and how many were left out."""

    hits: tuple[Hit, ...]
    omitted: int


def packed(rows: Sequence[Row], budget: int, measure: Measure, *, stubs: bool, full: bool, fill: bool = True) -> Packed:
    """Return what of `rows` (best first) fits into `budget` tokens; only what is relevant counts as left out.

    `measure` counts the tokens of an answer with these hits and so many left out. `stubs`: no bodies. `full`:
    bodies whole or not at all. `fill`: go on to lesser ones while the answer is thin.
    """
    relevant = [row for row in rows if row.share >= STUB_SHARE]
    choice = _Choice(relevant[:MAX_ROWS], budget, measure, len(relevant))
    if not stubs:
        choice.add_bodies(whole=full)
        if fill:
            choice.fill(whole=full)
    choice.add_stubs()
    return choice.packed()


class _Choice:
    def __init__(self, rows: Sequence[Row], budget: int, measure: Measure, total: int) -> None:
        self._rows = rows
        self._budget = budget
        self._measure = measure
        self._total = total
        self._chosen: dict[int, Hit] = {}
        self._empty = measure((), total)
        self._room = budget - self._empty

    def add_bodies(self, *, whole: bool) -> None:
        """Give bodies to those that deserve one, best first, as long as they fit."""
        deserving = [place for place, row in enumerate(self._rows) if row.share >= BODY_SHARE or whole]
        self._add(deserving, whole)

    def fill(self, *, whole: bool) -> None:
        """Give bodies to lesser ones while the answer is thin: one that stands out must not be all."""
        for place in range(len(self._rows)):
            if self._room > self._budget * _THIN:
                self._add([place], whole)

    def _add(self, deserving: Sequence[int], whole: bool) -> None:
        for place in deserving:
            row = self._rows[place]
            if place in self._chosen or self._shown(row.stub):
                continue
            body = None if self._repeats(row.stub) else row.full()
            if body is None or not self._take(place, body):
                others = len(deserving) > 1
                room = int(self._room * _OUTLINE_SHARE) if others else self._room
                outline = None if whole or room < _LEAST_OUTLINE else row.outline(room - self._head(row.stub))
                if outline is not None:
                    self._take(place, outline)

    def add_stubs(self) -> None:
        """Add a line for each of the rest that fits."""
        for place, row in enumerate(self._rows):
            if place not in self._chosen and not self._shown(row.stub):
                self._take(place, row.stub)

    def packed(self) -> Packed:
        """Return what was chosen; sums of parts are estimates, so the whole is measured once more."""
        chosen = dict(sorted(self._chosen.items()))
        while chosen and self._measure(tuple(chosen.values()), self._total - len(chosen)) > self._budget:
            place = max(chosen)
            if chosen[place].code is not None and len(chosen) == 1:
                chosen[place] = self._rows[place].stub
            else:
                del chosen[place]
        covered = sum(
            1 for place, row in enumerate(self._rows) if place not in chosen and _inside(row.stub, chosen.values())
        )
        return Packed(tuple(chosen.values()), max(self._total - len(chosen) - covered, 0))

    def _take(self, place: int, hit: Hit) -> bool:
        cost = self._measure((hit,), self._total) - self._empty
        if cost > self._room:
            return False
        self._chosen[place] = hit
        self._room -= cost
        return True

    def _head(self, stub: Hit) -> int:
        """What an outline costs beside its lines."""
        return self._measure((stub,), self._total) - self._empty + 8

    def _shown(self, stub: Hit) -> bool:
        """Whether all lines of a row are in an answer already."""
        return _inside(stub, self._chosen.values())

    def _repeats(self, stub: Hit) -> bool:
        """Whether a body would send lines again that a member's body has sent."""
        return any(
            hit.code is not None
            and hit.file == stub.file
            and stub.line_start <= hit.line_start
            and hit.line_end <= stub.line_end
            for hit in self._chosen.values()
        )


def _inside(stub: Hit, hits: Iterable[Hit]) -> bool:
    return any(
        hit.render == "full"
        and hit.file == stub.file
        and hit.line_start <= stub.line_start
        and stub.line_end <= hit.line_end
        for hit in hits
    )
