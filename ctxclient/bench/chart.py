"""Recall of a relevant file against the tokens of the answer: as text for a terminal, and as SVG. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ctxclient.bench.summary import Group

_BAR = 40
_WIDTH, _HEIGHT = 640, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 150, 40, 50
_COLORS = ("#1a1a1a", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00")


def text(group: Group) -> str:
    """Return one bar per budget."""
    lines = ["relevant file in the answer of query"]
    for each in group.budgets:
        filled = round(each.recall * _BAR)
        lines.append(f"{each.budget:>6,} tokens  {'█' * filled}{'░' * (_BAR - filled)}  {each.recall:.3f}")
    return "\n".join(lines) + "\n"


def svg(groups: Sequence[Group], title: str, earlier: Group | None = None) -> str:
    """Return a chart with a line per group; `earlier` is drawn dashed. Budgets are on a logarithmic scale."""
    budgets = [each.budget for each in groups[0].budgets]
    lowest = min((one.recall for each in groups for one in each.budgets), default=0.0)
    floor = max(0.0, math.floor(lowest * 10 - 0.5) / 10)
    plot = _Plot(budgets, floor)
    pieces = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"'
        ' font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        f'<text x="{_LEFT}" y="22" font-size="14">{_escaped(title)}</text>',
        *_axes(plot),
    ]
    labels = _apart([plot.y(each.budgets[-1].recall) for each in groups])
    for number, each in enumerate(groups):
        color = _COLORS[number % len(_COLORS)]
        pieces.append(_line(plot, each, color, ""))
        pieces += [
            f'<circle cx="{plot.x(one.budget):.1f}" cy="{plot.y(one.recall):.1f}" r="3" fill="{color}"/>'
            for one in each.budgets
        ]
        name = f"{each.name} {each.budgets[-1].recall:.3f}"
        x = _WIDTH - _RIGHT + 10
        pieces.append(f'<text x="{x}" y="{labels[number] + 4:.1f}" fill="{color}">{_escaped(name)}</text>')
    if earlier is not None and earlier.budgets:
        pieces.append(_line(plot, earlier, _COLORS[0], ' stroke-dasharray="5 4"'))
    return "\n".join([*pieces, "</svg>", ""])


class _Plot:
    """Budgets and shares as points."""

    def __init__(self, budgets: Sequence[int], floor: float) -> None:
        self.budgets, self.floor = budgets, floor

    def x(self, budget: int) -> float:
        low, high = math.log(self.budgets[0]), math.log(self.budgets[-1])
        place = (math.log(budget) - low) / (high - low) if high > low else 0.5
        return _LEFT + place * (_WIDTH - _LEFT - _RIGHT)

    def y(self, share: float) -> float:
        place = (max(share, self.floor) - self.floor) / (1 - self.floor)
        return _HEIGHT - _BOTTOM - place * (_HEIGHT - _TOP - _BOTTOM)


def _axes(plot: _Plot) -> list[str]:
    left, right, bottom = _LEFT, _WIDTH - _RIGHT, _HEIGHT - _BOTTOM
    pieces = []
    steps = round((1 - plot.floor) * 10)
    for step in range(steps + 1):
        share = plot.floor + step / 10
        y = plot.y(share)
        pieces.append(f'<line x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" stroke="#dddddd"/>')
        pieces.append(f'<text x="{left - 8}" y="{y + 4:.1f}" text-anchor="end">{share:.1f}</text>')
    for budget in plot.budgets:
        x = plot.x(budget)
        pieces.append(f'<line x1="{x:.1f}" y1="{bottom}" x2="{x:.1f}" y2="{bottom + 5}" stroke="#1a1a1a"/>')
        pieces.append(f'<text x="{x:.1f}" y="{bottom + 20}" text-anchor="middle">{budget:,}</text>')
    middle = (left + right) / 2
    pieces.append(f'<text x="{middle:.1f}" y="{bottom + 40}" text-anchor="middle">token budget of the answer</text>')
    return pieces


def _line(plot: _Plot, group: Group, color: str, more: str) -> str:
    points = " ".join(f"{plot.x(one.budget):.1f},{plot.y(one.recall):.1f}" for one in group.budgets)
    return f'<polyline points="{points}" fill="none" stroke="{color}" stroke-width="2"{more}/>'


def _apart(places: Sequence[float]) -> list[float]:
    """Move labels down so that none lies on another."""
    found = dict.fromkeys(range(len(places)), 0.0)
    last = -math.inf
    for number in sorted(found, key=places.__getitem__):
        last = found[number] = max(places[number], last + 15)
    return list(found.values())


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
