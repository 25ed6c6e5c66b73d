"""One daemon for all tests of a file; each test has a tree of its own in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cases.room import Room, opened
from tests.home import Home


@pytest.fixture(scope="module")
def shared_home() -> Iterator[Home]:
    home = Home()
    yield home
    assert not home.close(), "the daemon did not end when asked to"


@pytest.fixture
def room(shared_home: Home, tmp_path: Path) -> Iterator[Room]:
    """An empty repository and a connection to the daemon; the first question indexes it."""
    with opened(shared_home, tmp_path / "r") as made:
        yield made
        made.ctx("forget", str(made.tree.root))
