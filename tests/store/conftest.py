"""The store as the daemon has it, for each test anew."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.store.room import Room


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    """A store with one empty index file."""
    made = Room(str(tmp_path / "state"))
    yield made
    made.close()
