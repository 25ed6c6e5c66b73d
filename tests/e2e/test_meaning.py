"""The real model in a running daemon: what no word of the question names is found by what it means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import minilm
from tests.home import Home
from tests.processes import wait_until
from tests.tree import Tree

pytestmark = pytest.mark.skipif(not minilm.INSTALLED, reason=minilm.MISSING)

SOURCE = {
    "hashers.py": "def verify_secret(plain, stored):\n    return constant_time_equal(derive(plain), stored)\n",
    "pages.py": "def paginate(rows, size):\n    return [rows[n:n + size] for n in range(0, len(rows), size)]\n",
    "mail.py": "def deliver(message, recipients):\n    return smtp.sendmail(message, recipients)\n",
    "colors.py": "def blend(one, two):\n    return [(a + b) / 2 for a, b in zip(one, two)]\n",
    "clock.py": "def tomorrow(day):\n    return day + timedelta(days=1)\n",
}
ASKED = {"check a password": "hashers.py", "send an email": "mail.py"}


def test_meanings_are_found(ctx: Home, repo: Tree, tmp_path: Path) -> None:
    """By `--semantic`, once every chunk has its vector; by words alone there is nothing to find."""
    for path, text in SOURCE.items():
        repo.write(path, text)
    model = minilm.export(tmp_path / "mini")
    assert ctx.run("config", "set", "embed.model", str(model), cwd="/").returncode == 0

    def vectors() -> dict[str, object]:
        return json.loads(ctx.run("status", "--json", cwd=repo.root).stdout)["vectors"]

    wait_until(lambda: vectors()["state"] == "ready", 60, "every chunk has its vector")
    for question, path in ASKED.items():
        found = ctx.json("find", "--semantic", question, cwd=repo.root)["results"]
        assert found[0]["file"] == path, question
        assert not ctx.json("find", "--no-semantic", question, cwd=repo.root)["results"], question
