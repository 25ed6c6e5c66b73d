"""The fault lab at its small size; `make faults` runs the release size of the same code."""

from __future__ import annotations

import os
import sys
import time

import pytest

from tests.faults.__main__ import EXPERIMENTS, run
from tests.faults.lab import SIZES

SEED = int(os.environ.get("FAULT_SEED", "0")) or int(time.time()) % 1_000_000


@pytest.mark.skipif(sys.platform != "linux", reason="the lab stops processes and fills inotify queues")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("name", sorted(EXPERIMENTS))
def test_nothing_wrong_under_faults(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No wrong answer, whatever happens; FAULT_SEED=N replays."""
    row = run(name, SIZES["ci"], SEED)

    with capsys.disabled():
        print("\n" + row.line())
    assert row.green, row.line()
