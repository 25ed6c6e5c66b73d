"""Ranked candidates and a budget -> what is sent. Pure; runs on the reader threads.

The best places of several files get code, whole or its best lines, by how likely they are the answer; the next ones
get a line each, what is left is a count. An answer is measured as it is rendered, and never goes over its budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from ctxd.model import Hit

# By the share of the best score, on 800 labelled questions (tests/ranking/README.md): from BODY_SHARE on a place is the
# answer in 26 to 40 % of cases and worth a body; from CODE_SHARE on in 10 to 20 %, worth its best lines; below
# STUB_SHARE in fewer than 4 %, and not worth a line.
BODY_SHARE = 0.95
CODE_SHARE = 0.45
STUB_SHARE = 0.4
# A longer list of one-line results is read by nobody.
MAX_ROWS = 12
# More places with code are not read either, and each gets too little.
_MAX_CODED = 6
_MAX_STUBS = 2
# Fewer tokens of code than this say nothing.
_LEAST = 45
# What is worth its best lines only gets no more than this part of the budget.
_PORTION = 10
_LEAST_PORTION = 50
# A text that is estimated at more than this part of the budget is not looked at as a whole.
_HOPELESS = 2
# Lines of what is too long to send are no more than this part of the budget.
_LINES_SHARE = 0.5
# Best lines are sent until this part of the budget is spent; only whole bodies may use the rest.
_SPEND = 0.8
# The sum of the parts is the whole but for a few tokens: within those the whole is measured.
_DOUBT = 16
# The first place gets so much more than another when not all fit.
_FIRST = 2.0

Measure = Callable[[Sequence[Hit], int], int]


class Row(msgspec.Struct, frozen=True, eq=False):
    """A candidate in its possible forms, worked out when they are needed.

    `share`: its score as a share of the best one. `size`: about how many tokens its text has. `outline` takes the
    room in tokens and the lines that it must leave out, and may find it too small.
    """

    stub: Hit
    share: float
    size: int
    full: Callable[[], Hit]
    outline: Callable[[int, frozenset[int]], Hit | None]


class Packed(msgspec.Struct, frozen=True):
    """The hits that fit, in order of rank, and how many were left out."""

    hits: tuple[Hit, ...]
    omitted: int


def packed(rows: Sequence[Row], budget: int, measure: Measure, *, stubs: bool, full: bool) -> Packed:
    """Return what of `rows` (best first) fits into `budget` tokens; only what is relevant counts as left out.

    `measure` counts the tokens of an answer with these hits and so many left out. `stubs`: no bodies. `full`:
    bodies whole or not at all.
    """
    relevant = [row for row in rows if row.share >= STUB_SHARE]
    choice = _Choice(relevant[:MAX_ROWS], budget, measure, len(relevant))
    if full:
        choice.add_bodies(STUB_SHARE, 0.0)
    elif not stubs:
        choice.add_code()
        choice.add_bodies(BODY_SHARE, 1 - _SPEND)
    choice.add_stubs(MAX_ROWS if stubs else _MAX_STUBS)
    return choice.packed()


def joined(chosen: Packed, more: Iterable[Hit], budget: int, measure: Measure) -> Packed:
    """Return an answer with as many `more` stubs at its end as fit; what is a row already only says why, too."""
    for hit in more:
        place = next((place for place, one in enumerate(chosen.hits) if _same(one, hit)), -1)
        if place < 0:
            hits = () if _inside(hit, chosen.hits) else (*chosen.hits, hit)
        else:
            said = msgspec.structs.replace(chosen.hits[place], why=hit.why)
            hits = (*chosen.hits[:place], said, *chosen.hits[place + 1 :]) if said.code is None else ()
        if hits and measure(hits, chosen.omitted) <= budget:
            chosen = Packed(hits, chosen.omitted)
    return chosen


class _Choice:
    def __init__(self, rows: Sequence[Row], budget: int, measure: Measure, total: int) -> None:
        self._rows = rows
        self._budget = budget
        self._measure = measure
        self._total = total
        self._chosen: dict[int, Hit] = {}
        self._bodies: dict[int, Hit] = {}
        self._costs: dict[int, int] = {}
        self._empty = measure((), total)
        self._room = budget - self._empty

    def add_code(self) -> None:
        """Give code to what deserves it: bodies where they fit into their part of the budget, else the best lines."""
        coded = [place for place, row in enumerate(self._rows) if row.share >= CODE_SHARE][:_MAX_CODED]
        parts = self._parts(coded)
        for place, part in parts.items():
            if self._body_cost(place) <= part:
                self._take(place, self._body(place))
        for place, part in parts.items():
            if place not in self._chosen and not self._shown(place):
                self._take_lines(place, part)

    def add_bodies(self, least: float, keep: float) -> None:
        """Give whole bodies to all of at least this share that still fit, instead of their lines."""
        for place, row in enumerate(self._rows):
            if self._room <= self._budget * keep:
                return
            if row.share < least or self._is_whole(place) or self._repeats(place):
                continue
            if self._body_cost(place) <= self._room + self._costs.get(place, 0) + _DOUBT:
                lines = self._drop(place)
                if not self._take(place, self._body(place)) and lines is not None:
                    self._take(place, lines)

    def add_stubs(self, most: int) -> None:
        """Add a line for each of the next ones."""
        for place, row in enumerate(self._rows):
            if most and place not in self._chosen and not self._shown(place) and self._take(place, row.stub):
                most -= 1

    def packed(self) -> Packed:
        """Return what was chosen, measured as a whole once more: how many are left out has its own digits."""
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

    def _parts(self, coded: list[int]) -> dict[int, float]:
        """Place -> the tokens it may use: what a smaller one leaves goes to the larger ones; too many get none."""
        while coded:
            most = {place: self._most(place) for place in coded}
            weights = {place: _FIRST if place == coded[0] else 1.0 for place in coded}
            level = _level(most, weights, self._room - self._budget * (1 - _SPEND))
            if len(coded) == 1 or level >= _LEAST or all(most[place] <= weights[place] * level for place in coded):
                return {place: min(most[place], weights[place] * level) for place in coded}
            coded = coded[:-1]
        return {}

    def _most(self, place: int) -> int:
        """The most that a place may use."""
        cost = self._body_cost(place)
        if self._rows[place].share < BODY_SHARE:
            return min(cost, max(_LEAST_PORTION, self._budget // _PORTION) + self._head(place))
        return cost if cost <= self._room else int(self._room * _LINES_SHARE)

    def _take_lines(self, place: int, part: float) -> None:
        row = self._rows[place]
        room = min(int(part), self._room) - self._head(place)
        for share in (1.0, 0.7, 0.4):  # where lines cost more than was thought, as in JSON
            lines = row.outline(int(room * share), self._sent(row.stub.file)) if room * share > 0 else None
            if lines is None or self._take(place, lines):
                return

    def _take(self, place: int, hit: Hit) -> bool:
        if hit.code is not None and not self._sent(hit.file).isdisjoint(_lines(hit)):
            return False
        cost = self._cost(hit)
        left = self._room - cost
        if left < -_DOUBT or (left < _DOUBT and not self._fits(place, hit)):
            return False
        self._chosen[place], self._costs[place] = hit, cost
        self._room -= cost
        return True

    def _fits(self, place: int, hit: Hit) -> bool:
        chosen = dict(sorted({**self._chosen, place: hit}.items()))
        return self._measure(tuple(chosen.values()), self._total - len(chosen)) <= self._budget

    def _drop(self, place: int) -> Hit | None:
        if place in self._chosen:
            self._room += self._costs.pop(place)
        return self._chosen.pop(place, None)

    def _body(self, place: int) -> Hit:
        if place not in self._bodies:
            self._bodies[place] = self._rows[place].full()
        return self._bodies[place]

    def _body_cost(self, place: int) -> int:
        size = self._rows[place].size
        if size > self._budget * _HOPELESS:
            return size
        return self._cost(self._body(place))

    def _cost(self, hit: Hit) -> int:
        return self._measure((hit,), self._total) - self._empty

    def _head(self, place: int) -> int:
        """What code costs beside its lines."""
        return self._cost(self._rows[place].stub) + 8

    def _is_whole(self, place: int) -> bool:
        hit = self._chosen.get(place)
        return hit is not None and (hit.render == "full" or hit.sent_before)

    def _repeats(self, place: int) -> bool:
        """Whether some lines of a row are in an answer already, by another row."""
        stub = self._rows[place].stub
        span = range(stub.line_start, stub.line_end + 1)
        others = (hit for at, hit in self._chosen.items() if at != place and hit.file == stub.file)
        return any(n in span for hit in others for n in _lines(hit))

    def _sent(self, file: str) -> frozenset[int]:
        """The lines of a file that are in the answer."""
        return frozenset(n for hit in self._chosen.values() if hit.file == file for n in _lines(hit))

    def _shown(self, place: int) -> bool:
        """Whether all lines of a row are in an answer already."""
        return _inside(self._rows[place].stub, (hit for at, hit in self._chosen.items() if at != place))


def _level(most: dict[int, int], weights: dict[int, float], room: float) -> float:
    """Return the tokens per weight at which all together fill the room, where none gets more than its most."""
    left = float(room)
    weight = sum(weights.values())
    for place in sorted(most, key=lambda place: most[place] / weights[place]):
        if most[place] * weight > left * weights[place]:
            break
        left -= most[place]
        weight -= weights[place]
        if weight <= 0:
            return float(room)
    return left / weight


def _lines(hit: Hit) -> Iterable[int]:
    """The lines that a hit shows."""
    if hit.code is None:
        return ()
    return hit.lines or range(hit.line_start, hit.line_end + 1)


def _same(one: Hit, other: Hit) -> bool:
    """Whether two hits stand for one definition: lines of it, or itself."""
    overlap = one.line_start <= other.line_end and other.line_start <= one.line_end
    if one.file != other.file or not overlap:
        return False
    same_lines = (one.line_start, one.line_end) == (other.line_start, other.line_end)
    return same_lines or (bool(one.name) and one.qualified_name == other.qualified_name)


def _inside(stub: Hit, hits: Iterable[Hit]) -> bool:
    return any(
        hit.render == "full"
        and hit.file == stub.file
        and hit.line_start <= stub.line_start
        and stub.line_end <= hit.line_end
        for hit in hits
    )
