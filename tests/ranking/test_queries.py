"""Questions with a known answer, over a small tree in several languages."""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest

from ctxd.search.filters import Scope
from ctxd.search.run import search
from ctxd.store.snapshot import Snapshot
from tests.indexed import Index, lay

HERE = os.path.dirname(__file__)


def tree() -> dict[str, str]:
    with open(os.path.join(HERE, "tree.txt"), encoding="utf-8") as file:
        pieces = re.split(r"^-- (.+) --\n", file.read(), flags=re.M)
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def queries() -> list[dict[str, Any]]:
    with open(os.path.join(HERE, "queries.toml"), "rb") as file:
        found: list[dict[str, Any]] = tomllib.load(file)["query"]
    return found


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    room = tmp_path_factory.mktemp("ranking")
    lay(str(room / "tree"), tree())
    index = Index(str(room / "tree"), str(room / "index.db"))
    index.take()
    return index


@pytest.fixture
def snapshot(index: Index) -> Iterator[Snapshot]:
    with index.snapshot() as found:
        yield found


@pytest.mark.parametrize("query", queries(), ids=lambda query: query["text"].strip()[:40])
def test_the_right_place_comes_first(snapshot: Snapshot, query: dict[str, Any]) -> None:
    """Every question finds what it must find, at the place that it must have."""
    ranking = search(snapshot, query["text"], Scope())
    found = [
        f"{one.candidate.file.path}:{one.candidate.symbol.name if one.candidate.symbol else ''}"
        for one in ranking.scored
    ][: query.get("within", 1)]
    wanted = query["first"]
    assert any(one == wanted or one.split(":")[0] == wanted for one in found), found
