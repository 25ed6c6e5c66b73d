"""Names and paths among many, and filters: what these keep out takes no place of what they leave."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

from ctxd.model import Freshness, View
from ctxd.search import run
from ctxprotocol.messages import Find, Query
from tests.indexed import Index, lay

CLASSES = 300


class Room:
    """Files, and questions about them."""

    def __init__(self, place: Path, files: dict[str, str]) -> None:
        self.root = str(place / "tree")
        lay(self.root, files)
        self.index = Index(self.root, str(place / "index.db"))
        self.index.take()

    def ask(self, request: Find | Query) -> dict[str, Any]:
        view = View(root=self.root, freshness=Freshness(fresh=True), started_ns=time.perf_counter_ns())
        with self.index.snapshot() as snapshot:
            answer = (run.find if isinstance(request, Find) else run.query)(snapshot, request, view)  # type: ignore[arg-type]
        found: dict[str, Any] = json.loads(answer.out)
        return found

    def find(self, text: str, **options: Any) -> dict[str, Any]:
        return self.ask(Find(directory=b"/", text=text, output="json", **options))

    def first(self, text: str, **options: Any) -> str:
        row = self.find(text, **options)["results"][0]
        return f"{row['file']} {row['qualified_name']}"


def many(folder: str) -> dict[str, str]:
    body = "\n\n".join(f"class Kind{n}:\n    def get(self):\n        return {n}\n" for n in range(CLASSES))
    return {f"{folder}/kinds.py": body}


def test_a_qualified_name_is_found_among_many_of_its_last_part(tmp_path: Path) -> None:
    """P3: three hundred things are called get, and one of them Kind299.get."""
    room = Room(tmp_path, many("src"))

    assert room.first(f"Kind{CLASSES - 1}.get") == f"src/kinds.py Kind{CLASSES - 1}.get"


def test_a_name_is_found_where_the_filter_says(tmp_path: Path) -> None:
    """Definitions elsewhere do not use up the room."""
    room = Room(tmp_path, {**many("src"), "web/one.py": "class Page:\n    def get(self):\n        return 1\n"})

    assert room.first("get", paths=("web/**",)) == "web/one.py Page.get"
    assert room.find("get", paths=("web/**",))["results"][0]["via"] == ["symbol", "lexical"]


def test_a_path_is_found_where_the_filter_says(tmp_path: Path) -> None:
    """Five files of one name: the filter says which."""
    room = Room(tmp_path, {f"app{n}/models.py": f"class Model{n}:\n    pass\n" for n in range(5)})

    found = room.find("models.py", paths=("app4/**",))["results"]
    assert [(row["file"], "path" in row["via"]) for row in found] == [("app4/models.py", True)]


def test_a_path_that_the_filter_keeps_out_is_no_other_path(tmp_path: Path) -> None:
    """src/pool.py was asked for: where that is left out, lib/pool.py is not what was meant."""
    room = Room(tmp_path, {"src/pool.py": "A = 1\n", "lib/pool.py": "B = 1\n"})

    assert [row["file"] for row in room.find("src/pool.py", limit=1)["results"]] == ["src/pool.py"]
    assert "path" not in room.find("src/pool.py", paths=("lib/**",))["stats"]["strategies_used"]


def test_of_files_of_one_name_the_source_comes_first(tmp_path: Path) -> None:
    """But a path that is all that was asked for comes before every other."""
    files = dict.fromkeys(("tests/urls.py", "shop/conf/urls.py", "tests/shop/urls.py"), "A = 1\n")
    room = Room(tmp_path, files)

    assert [row["file"] for row in room.find("urls.py")["results"]][:2] == ["shop/conf/urls.py", "tests/urls.py"]
    assert room.find("tests/urls.py")["results"][0]["file"] == "tests/urls.py"


def test_what_is_defined_comes_before_where_it_is_handed_on(tmp_path: Path) -> None:
    """models.Model is a class of models/base.py, whatever models/__init__.py does with it; Index is nothing's."""
    handed = "from models.base import Model\nfrom outside import Index\n"
    room = Room(tmp_path, {"models/__init__.py": handed, "models/base.py": "class Model:\n    pass\n"})

    assert room.first("models.Model") == "models/base.py Model"
    assert room.find("models.Index")["results"][0]["file"] == "models/__init__.py"


def test_a_line_that_is_not_there_means_its_file(tmp_path: Path) -> None:
    """A trace of another version still says which file."""
    room = Room(tmp_path, {"src/pool.py": "def take():\n    pass\n", "src/other.py": "pool = 99\n"})

    assert "path" in room.find("src/pool.py:99")["results"][0]["via"]
    assert room.first("src/pool.py:99") == "src/pool.py take"


def test_uses_are_found_where_the_filter_says(tmp_path: Path) -> None:
    """Fifty callers elsewhere do not use up the room."""
    files = {"a/make.py": "def make_thing():\n    pass\n"}
    files |= {f"a/user{n:02}.py": f"def use{n}():\n    make_thing()\n" for n in range(50)}
    room = Room(tmp_path, {**files, "z/last.py": "def late():\n    make_thing()\n"})

    found = room.find("who calls make_thing", paths=("z/**",))["results"]
    assert [(row["name"], "references" in row["via"]) for row in found] == [("late", True)]


def test_an_operator_is_found_in_what_the_filter_leaves_of_a_file(tmp_path: Path) -> None:
    """Its first place in the file is not in a function."""
    room = Room(tmp_path, {"a.py": "ORDER = '<=>'\n\n\ndef compare(a, b):\n    return a <=> b\n"})

    assert room.first("<=>", kind="function") == "a.py compare"


def test_a_slip_is_found_where_the_filter_says(tmp_path: Path) -> None:
    """What is nearest elsewhere does not hide what is near here."""
    files = {"a/one.py": "def open_connection():\n    pass\n", "b/two.py": "def open_conection():\n    pass\n"}
    room = Room(tmp_path, files)

    assert room.first("opn_connection") == "a/one.py open_connection"
    assert room.first("opn_connection", paths=("b/**",)) == "b/two.py open_conection"


def test_a_name_that_the_filter_keeps_out_is_not_misspelt(tmp_path: Path) -> None:
    """It is called so elsewhere: nothing says that nothing is."""
    room = Room(tmp_path, {"a/one.py": "class Widget:\n    pass\n", "b/two.py": "class Widgets:\n    pass\n"})

    assert room.find("Widgets")["hint"] is None
    assert room.find("Widget", paths=("b/**",))["hint"] is None
    assert "Widget" in room.find("Widgetz")["hint"]


def test_neighbours_of_one_kind_are_not_crowded_out(tmp_path: Path) -> None:
    """Three may be named, and the class comes after twenty functions."""
    parts = "".join(f"def part_{n}():\n    return {n}\n\n\n" for n in range(20)) + "class Deep:\n    pass\n"
    calls = "".join(f"        part_{n}()\n" for n in range(20)) + "        Deep()\n"
    whole = f"from parts import *\n\n\nclass Whole:\n    def start(self):\n{calls}"
    room = Room(tmp_path, {"parts.py": parts, "whole.py": whole})

    answer = room.ask(Query(directory=b"/", text="Whole", kind="class", budget=900, output="json"))
    assert [row["name"] for row in answer["results"]] == ["Whole", "Deep"]
