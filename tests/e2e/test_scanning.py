"""Read your writes where events prove nothing: a daemon as it is on macOS and Windows, but for the system below it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.faults.lab import Lab, Row
from tests.faults.reads import stale
from tests.faults.world import World
from tests.processes import wait_until

OPERATIONS = 200
# watchdog's own observer of this platform stands in for theirs.
DAEMON = """
import sys
from ctxd.watch import opening
opening.open_watcher = opening.open_native
from ctxd import main
sys.exit(main.run(["start"]))
"""


@pytest.fixture
def lab() -> Iterator[Lab]:
    """A laboratory whose daemon compares the tree before each answer."""
    with Lab(seed=7) as made:
        daemon = subprocess.Popen([sys.executable, "-c", DAEMON], env=made.home.env, cwd="/")
        wait_until(lambda: made.home.run("daemon", "status", cwd="/").returncode == 0, 20, "the daemon answers")
        yield made
        made.hang_up()
        daemon.terminate()
        assert daemon.wait(20) == 0


def test_two_hundred_operations_are_each_in_the_next_answer(lab: Lab) -> None:
    """Edits of the same size and time, renames, links, whole folders in and out: what no event has told yet, too."""
    row = Row("R01", "by comparison", 7)
    world = World(lab.tree, f"{lab.home.place}/outside", lab.random)
    assert lab.places(row, world.new_name()) == []
    watching = lab.home.json("status", cwd=lab.tree.root)
    for _ in range(OPERATIONS):
        operation, touched = world.step()
        row.count(stale(lab, world, row, operation, touched))

    assert "scan" in str(watching) and "too late to prove anything" in str(watching), watching
    assert (row.survived, row.unfresh, row.wrong) == (OPERATIONS, 0, [])
