"""Curves over one axis as SVG, a panel for each: no library, since a chart is a few lines of text. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, TOP, GAP = 640, 110, 56, 24, 34


@dataclass(frozen=True)
class Panel:
    """One curve; as many values as the axis has places."""

    title: str
    values: Sequence[float]


def svg(axis: str, places: Sequence[float], panels: Sequence[Panel]) -> str:
    """Return the panels below each other, each from zero to its largest value."""
    height = TOP + len(panels) * (HEIGHT + GAP)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + WIDTH + 20}" height="{height}"'
        ' font-family="sans-serif" font-size="11">',
        f'<rect width="{LEFT + WIDTH + 20}" height="{height}" fill="white"/>',
    ]
    for number, panel in enumerate(panels):
        lines += _panel(panel, places, TOP + number * (HEIGHT + GAP))
    lines.append(f'<text x="{LEFT + WIDTH}" y="{height - 6}" text-anchor="end">{places[-1]:g} {escape(axis)}</text>')
    return "\n".join([*lines, "</svg>"]) + "\n"


def _panel(panel: Panel, places: Sequence[float], top: float) -> list[str]:
    most = max(panel.values) or 1.0
    span = (places[-1] - places[0]) or 1.0
    points = " ".join(
        f"{LEFT + WIDTH * (place - places[0]) / span:.1f},{top + HEIGHT * (1 - value / most):.1f}"
        for place, value in zip(places, panel.values, strict=True)
    )
    return [
        f'<text x="{LEFT}" y="{top - 6}">{escape(panel.title)}</text>',
        f'<text x="{LEFT - 6}" y="{top + 9}" text-anchor="end">{most:.4g}</text>',
        f'<text x="{LEFT - 6}" y="{top + HEIGHT}" text-anchor="end">0</text>',
        f'<rect x="{LEFT}" y="{top}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#bbb"/>',
        f'<polyline points="{points}" fill="none" stroke="#2563eb" stroke-width="1.5"/>',
    ]
