"""R01: read your writes."""

from __future__ import annotations

from tests.faults.lab import Lab, Row, Size
from tests.faults.world import World

NAMES_ASKED = 4


def read_your_writes(size: Size, seed: int, bin: str) -> Row:
    """Random operations, each followed at once by questions about the names it touched."""
    row = Row("R01", "read your writes: random operations", seed)
    with Lab(seed, bin) as lab:
        world = World(lab.tree, f"{lab.home.place}/outside", lab.random)
        lab.places(Row("", "", 0), world.new_name())
        for _ in range(size.operations):
            operation, touched = world.step()
            row.count(stale(lab, world, row, operation, touched))
    return row


def stale(lab: Lab, world: World, row: Row, operation: str, touched: list[str]) -> str:
    """Ask for the touched names; return what was wrong with the answers, or nothing."""
    for name in lab.random.sample(touched, min(NAMES_ASKED, len(touched))):
        found, expected = lab.places(row, name), world.where(name)
        if found != expected:
            return f"{operation}: {name} in {found}, is in {expected}"
    return ""
