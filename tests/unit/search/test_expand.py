"""What an answer names beside what was found: over edges that are sure, two steps at most, each with its reason."""

from __future__ import annotations

import gc
import json
import time
import weakref
from pathlib import Path
from typing import Any

import pytest

from ctxd.model import Freshness, View
from ctxd.search import expand, run
from ctxd.search.edges import paths
from ctxprotocol.messages import Query
from tests.indexed import Index, lay

FILES = {
    "shop/urls.py": (
        'from django.urls import path\nfrom shop.views import login\n\nurlpatterns = [\n    path("in/", login),\n]\n'
    ),
    "shop/views.py": (
        "from shop.accounts import validate\n\n\n"
        'def login(request):\n    """Let a visitor in."""\n    return validate(request.name, request.password)\n'
    ),
    "shop/accounts.py": (
        "from shop.settings import SECRET_PEPPER\n\n\n"
        "def validate(name, password):\n    return digest(password + SECRET_PEPPER) == name\n\n\n"
        "def digest(text):\n    return hash(text)\n"
    ),
    "shop/settings.py": 'SECRET_PEPPER = "x"\nPAGE = 20\n',
    "shop/jobs.py": "from shop.views import login\n\n\ndef nightly(request):\n    login(request)\n",
    "tests/test_views.py": "from shop.views import login\n\n\ndef test_login():\n    assert login(None)\n",
}


class Shop:
    """The files, and questions about them."""

    def __init__(self, root: str, file: str, files: dict[str, str]) -> None:
        lay(root, files)
        self.root, self.index = root, Index(root, file)
        self.index.take()

    def query(self, text: str, **options: Any) -> dict[str, Any]:
        request = Query(directory=b"/", text=text, output="json", **{"budget": 4000, **options})
        view = View(root=self.root, freshness=Freshness(fresh=True), started_ns=time.perf_counter_ns())
        with self.index.snapshot() as snapshot:
            found: dict[str, Any] = json.loads(run.query(snapshot, request, view).out)
        return found

    def named(self, text: str, **options: Any) -> list[str]:
        """What the answer names for its edges, each with its reason."""
        rows = self.query(text, **options)["results"]
        return [f"{row['name']} ({row['why']})" for row in rows if "why" in row]


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(str(tmp_path / "shop"), str(tmp_path / "index.db"), FILES)


def test_from_a_route_to_what_checks_a_login(shop: Shop) -> None:
    """A route leads to login, and that to validate."""
    assert shop.named("urlpatterns") == ["login (routed to by urlpatterns)", "validate (called by login)"]


def test_from_login_to_the_secret(shop: Shop) -> None:
    """Who asks for login sees who calls it, validate, and the secret that this reads; tests last."""
    assert shop.named("login") == [
        "nightly (calls login)",
        "validate (called by login)",
        "digest (called by validate)",
        "SECRET_PEPPER (read by validate)",
        "test_login (calls login)",
    ]


def test_neighbours_are_stubs_behind_what_was_found(shop: Shop) -> None:
    """They come last, without code, and the strategies say that the graph was asked."""
    answer = shop.query("login")

    rows = answer["results"]
    assert rows[0]["name"] == "login" and rows[0]["render"] == "full"
    assert {row["render"] for row in rows if "why" in row} == {"stub"}
    assert [row["via"] == ["graph"] for row in rows] == sorted(row["via"] == ["graph"] for row in rows)
    assert answer["stats"]["strategies_used"][-1] == "graph"


def test_who_calls_names_callers_only(shop: Shop) -> None:
    """A question for uses is not answered with what the thing itself uses."""
    named = shop.named("who calls validate")

    assert named == [] or all("calls validate" in one for one in named)
    assert any(row["name"] == "login" for row in shop.query("who calls validate")["results"])


def test_filters_hold_for_neighbours(shop: Shop) -> None:
    """What the request leaves out is not named either."""
    assert shop.named("login", excludes=("shop/accounts.py", "tests/**")) == ["nightly (calls login)"]
    assert shop.named("login", kind="function", paths=("shop/views.py",)) == []


def test_where_several_places_answer_none_is_added(shop: Shop) -> None:
    """Beside several good places neighbours did not earn their tokens."""
    answer = shop.query("visitor request password digest")

    files = {row["file"] for row in answer["results"] if "code" in row}
    assert len(files) > 1
    assert not any("why" in row for row in answer["results"])


def test_a_small_budget_names_few(tmp_path: Path) -> None:
    """One for each 300 tokens, 20 at most."""
    many = "".join(f"def part_{n}():\n    return {n}\n\n\n" for n in range(40))
    body = "def whole():\n" + "".join(f"    part_{n}()\n" for n in range(40))
    shop = Shop(
        str(tmp_path / "many"),
        str(tmp_path / "many.db"),
        {"parts.py": many, "whole.py": f"from parts import *\n\n\n{body}"},
    )

    assert len(shop.named("whole", budget=900)) == 3
    assert 3 < len(shop.named("whole", budget=60_000)) <= expand.MAX_NODES


def test_an_edge_that_is_not_sure_is_not_followed(tmp_path: Path) -> None:
    """Two things that could be meant are none."""
    files = {
        "a.py": "class A:\n    def refresh_all(self):\n        pass\n",
        "b.py": "class B:\n    def refresh_all(self):\n        pass\n",
        "c.py": "def drive(thing):\n    thing.refresh_all()\n",
    }

    assert Shop(str(tmp_path / "r"), str(tmp_path / "r.db"), files).named("drive") == []


def test_paths_are_those_of_the_generation(shop: Shop) -> None:
    """What is kept of an index's paths is not used for the next generation."""
    assert "nightly (calls login)" in shop.named("login")
    lay(shop.root, {"shop/more.py": "from shop.views import login\n\n\ndef hourly(request):\n    login(request)\n"})
    shop.index.take("shop/more.py")

    assert "hourly (calls login)" in shop.named("login")


def test_of_an_index_one_generation_is_kept(shop: Shop) -> None:
    """The paths of 100,000 files are 50 MB: those of the generation before are let go."""
    kept = []
    for _ in range(2):
        with shop.index.snapshot() as snapshot:
            kept.append(weakref.ref(paths.of(snapshot)))
        shop.index.take("shop/views.py")

    gc.collect()
    assert [one() is None for one in kept] == [True, False]


def test_a_function_of_c_is_named_where_it_has_a_body(tmp_path: Path) -> None:
    """Not where its header announces it; and what calls it is named, too."""
    files = {
        "net.h": "int net_open(int port);\n",
        "net.c": '#include "net.h"\n\nint net_open(int port) {\n    return port;\n}\n',
        "main.c": '#include "net.h"\n\nint serve_all(void) {\n    return net_open(80);\n}\n',
    }
    shop = Shop(str(tmp_path / "c"), str(tmp_path / "c.db"), files)

    assert ("net.c", "called by serve_all") in {
        (row["file"], row.get("why")) for row in shop.query("serve_all")["results"]
    }
    assert "serve_all (calls net_open)" in shop.named("net_open", paths=("net.c", "main.c"))
