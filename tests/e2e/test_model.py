"""A model of a hub, whole: named, fetched, taken up by a running daemon, replaced by another revision, gone.

Models of hashes run in a copy of the packages, in place of ONNX; all else is as with a real one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.models import AT_ONCE, DIMENSIONS, build, vectors_of
from tests.home import BIN, Home
from tests.hub import NEXT_SHA, SHA, Hub, Repo, Store
from tests.processes import wait_until
from tests.tree import Tree

FILES = {
    "config.json": json.dumps({"hidden_size": DIMENSIONS}).encode(),
    "tokenizer.json": b"{}",
    "model.onnx": b"0.0\n",
}


@pytest.fixture
def hub() -> Iterator[Hub]:
    """A hub that has house/mini."""
    with Store() as store, Hub(store) as found:
        found.add("house/mini", Repo(dict(FILES), large=("model.onnx",)))
        yield found


@pytest.fixture
def place(tmp_path: Path, hub: Hub) -> Iterator[Home]:
    """A CTX_HOME whose commands and daemon run models of hashes."""
    home = Home(bin=build(tmp_path / "copy", str(BIN), AT_ONCE))
    home.env["HF_ENDPOINT"] = hub.url
    yield home
    assert not home.close()


def vectors(place: Home, repo: Tree) -> dict[str, Any]:
    found: dict[str, Any] = place.json("status", cwd=repo.root)["vectors"]
    return found


def until(place: Home, repo: Tree, **wanted: object) -> None:
    """Wait until status says so of the vectors; a beat of the daemon is five seconds."""
    wait_until(lambda: wanted.items() <= vectors(place, repo).items(), 30, f"vectors: {wanted}")


def test_a_fetched_model_is_taken_up_by_a_running_daemon(place: Home, hub: Hub, repo: Tree) -> None:
    """Named before it is there it is said how to get it, and nothing asks the hub; then it serves questions."""
    repo.write("pay.py", "def wage():\n    pass\n")
    place.run("config", "set", "embed.model", "house/mini", cwd="/")
    off = vectors(place, repo)
    assert (off["state"], off["reason"], off["hint"]) == (
        "off",
        "house/mini is not fetched",
        "ctx model get house/mini",
    )
    assert "wage" in place.run("query", "--semantic", "compute the salary of wage", cwd=repo.root).stdout
    assert hub.asked == []

    assert place.run("model", "get", "house/mini", cwd="/").returncode == 0
    until(place, repo, state="ready", model=f"house/mini@{SHA[:12]}")
    asked = len(hub.asked)
    answer = place.run("query", "--semantic", "compute the salary", cwd=repo.root)

    assert "def wage" in answer.stdout and answer.returncode == 0
    assert len(hub.asked) == asked
    assert "in use" not in place.run("model", "list", cwd="/").stdout
    assert "embed.model names it" in place.run("model", "list", cwd="/").stdout


def test_another_revision_makes_other_vectors(place: Home, hub: Hub, repo: Tree) -> None:
    """Without a restart, and the ones of before go; pinned to the one of before, that serves again."""
    repo.write("pay.py", "def wage():\n    pass\n")
    place.run("model", "get", "house/mini", cwd="/")
    place.run("config", "set", "embed.model", "house/mini", cwd="/")
    until(place, repo, state="ready", model=f"house/mini@{SHA[:12]}")
    (index,) = Path(place.path).rglob("index-*.db")
    before = vectors_of(str(index))

    hub.add("house/mini", Repo(dict(FILES), sha=NEXT_SHA, large=("model.onnx",)))
    place.run("model", "get", "house/mini", cwd="/")
    until(place, repo, state="ready", model=f"house/mini@{NEXT_SHA[:12]}")

    after = vectors_of(str(index))
    assert before.keys() == after.keys() and before != after
    place.run("config", "set", "embed.model", f"house/mini@{SHA}", cwd="/")
    until(place, repo, state="ready", model=f"house/mini@{SHA[:12]}")
    assert vectors_of(str(index)) == before


def test_a_repository_has_no_say(place: Home, hub: Hub, repo: Tree) -> None:
    """Whatever stands in it: no model is named by it, none is fetched."""
    for path in (".ctx/config.toml", "config.toml", "ctx.toml", ".ctx.toml"):
        repo.write(path, '[embed]\nmodel = "house/mini"\n')
    repo.write("a.py", "def one():\n    pass\n")

    place.run("query", "--semantic", "what is one", cwd=repo.root)

    assert "house" not in json.dumps(vectors(place, repo)) and hub.asked == []
    assert not Path(place.path, "models").exists()
