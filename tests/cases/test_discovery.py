"""Cases of the kind discovery: what is listed is what git lists, under the names that the files have."""

from __future__ import annotations

import os
import shutil
import unicodedata

import pytest

from tests.cases.room import Room
from tests.processes import wait_until
from tests.tree import Tree


def git_lists(tree: Tree) -> list[str]:
    """Return what git lists, tracked or not, but for what it ignores."""
    return sorted(filter(None, tree.git("ls-files", "-coz", "--exclude-standard").split("\0")))


RULES = {
    "anchored": {"app/.gitignore": "/deps/\n"},
    "anywhere below": {"app/.gitignore": "deps/\n"},
    "at the root": {".gitignore": "deps\n"},
    "taken back below": {".gitignore": "deps/*\n", "app/.gitignore": "!deps/x.py\n"},
    "three deep": {".gitignore": "*.log\n", "app/.gitignore": "*.py\n", "app/deps/.gitignore": "!x.py\n"},
    "from info/exclude": {".git/info/exclude": "deps/\n", "app/.gitignore": "!deps/\n"},
    "of a file that is tracked": {"app/.gitignore": "tracked.py\n/deps/\n"},
    "with odd line ends": {"app/.gitignore": "\ufeff/deps/\r\n*.log\r\n"},
}


@pytest.mark.parametrize("rules", RULES.values(), ids=RULES)
def test_nested_ignore_files_mean_what_git_takes_them_to_mean(room: Room, rules: dict[str, str]) -> None:
    """B001: wherever the rule lies and wherever it points, the index holds what git lists, symbols included."""
    room.tree.write("app/tracked.py", "def tracked_fn(): pass\n")
    room.tree.commit()
    for number, path in enumerate(("app/deps/x.py", "deps/y.py", "app/deps/z.log", "app/lib/deps/v.py", "w.log")):
        room.tree.write(path, f"def fn_{number}(): pass\n")
    for path, text in rules.items():
        room.tree.write(path, text)

    listed = git_lists(room.tree)

    assert room.files() == listed
    assert {file for file, _ in room.places("*_fn") + room.places("fn_*")} == {p for p in listed if p.endswith(".py")}


@pytest.mark.parametrize(
    "name", [".dockerignore", ".npmignore", ".hgignore", ".ignore", ".rgignore", ".cursorignore", ".eslintignore"]
)
def test_ignore_files_of_other_tools_say_nothing_to_us(room: Room, name: str) -> None:
    """B003: `*` in one of them hides nothing."""
    room.tree.write(name, "*\n!src\n")
    room.tree.write("src/a.py", "def kept(): pass\n")

    assert room.places("kept") == [("src/a.py", 1)]


@pytest.mark.parametrize(
    ("file", "line"),
    [(".gitignore", "*"), (".gitignore", "/src/"), (".ctxignore", "*"), (".git/info/exclude", "*")],
)
def test_rules_that_hide_everything_are_named_and_can_be_mended(room: Room, file: str, line: str) -> None:
    """B003: never zero files without a reason: update fails and says the line, status and find say it too."""
    own = ("/.gitignore\n" if file == ".gitignore" else "/.ctxignore\n") if line == "/src/" else ""
    room.tree.write(file, f"{line}\n{own}")
    room.tree.write("src/a.py", "def hidden(): pass\n")
    said = f"0 files indexed, 1 ignored by {file}:1"

    done = room.ctx("update")
    status = room.ctx("status").stdout
    nothing = room.ctx("find", "hidden")
    os.unlink(room.tree.path(file))

    assert done.returncode == 1 and said in done.stdout + done.stderr
    assert said in status and nothing.returncode == 1 and said in nothing.stdout
    assert room.places("hidden") == [("src/a.py", 1)]


NAMES = {
    "han": "模块/Bar.cs",
    "composed": unicodedata.normalize("NFC", "é.cs"),
    "decomposed": unicodedata.normalize("NFD", "é.cs"),
    "emoji": "🙂/x🙂.cs",
    "blanks": " a  b .cs",
    "quotes": 'it\'s "q".cs',
    "tab": "a\tb.cs",
    "break": "a\nb.cs",
    "dash": "--help.cs",
    "glob": "[a]*?.cs",
    "magic": ":(top)x.cs",
    "backslash": "a\\b.cs",
    "octal": "\\346\\250\\241.cs",
    "long": "x" * 200 + ".cs",
}


@pytest.mark.parametrize("quoted", ["unset", "true", "false"])
def test_names_are_raw_bytes_from_git_to_the_answer(room: Room, quoted: str) -> None:
    """B004: tracked, edited, moved and deleted under its own name, whatever core.quotePath says."""
    if quoted != "unset":
        room.tree.git("config", "core.quotePath", quoted)
    for number, name in enumerate(NAMES.values()):
        room.tree.write(name, f"class Bar{number} {{ }}\n")
    room.tree.commit()
    found = {row["name"]: row["file"] for row in room.symbols("Bar*", limit=50)}

    for number, name in enumerate(NAMES.values()):
        room.tree.write(name, f"class Edited{number} {{ }}\n")
    edited = {row["name"]: row["file"] for row in room.symbols("Edited*", limit=50)}
    room.tree.git("mv", NAMES["han"], "模块/Baz.cs")
    os.unlink(room.tree.path(NAMES["tab"]))

    assert found == {f"Bar{number}": name for number, name in enumerate(NAMES.values())}
    assert edited == {f"Edited{number}": name for number, name in enumerate(NAMES.values())}
    assert room.places("Bar*") == []
    assert room.places("Edited0") == [("模块/Baz.cs", 1)]
    assert NAMES["tab"] not in room.files()


def test_a_checkout_finds_names_outside_ascii_on_each_side(room: Room) -> None:
    """B004: what a branch switch changes is listed by raw names too."""
    room.tree.write("模块/α.cs", "class OnMain { }\n")
    room.tree.commit()
    room.tree.git("checkout", "-qb", "side")
    room.tree.git("mv", "模块/α.cs", "模块/β.cs")
    room.tree.commit()

    places = []
    for branch in ("main", "side", "main"):
        room.tree.git("checkout", "-q", branch)
        places.append(room.places("OnMain"))

    assert places == [[("模块/α.cs", 1)], [("模块/β.cs", 1)], [("模块/α.cs", 1)]]


def inner(place: os.PathLike[str] | str, name: str) -> Tree:
    """Make a repository with a function `{name}_fn` and a file that its own rules ignore."""
    tree = Tree(place)
    tree.write(f"{name}.py", f"def {name}_fn(): pass\n")
    tree.write("out.tmp", "def in_tmp(): pass\n")
    tree.write("out.log", f"{name} log\n")
    tree.write(".gitignore", "*.tmp\n")
    tree.commit()
    return tree


def test_repositories_in_the_tree_are_indexed_by_their_own_rules(room: Room) -> None:
    """B006: a submodule, a clone, a gitlink without .gitmodules, one in another; the ignored one stays out."""
    inner(room.tree.root.parent / "origin", "sub")
    room.tree.write(".gitignore", "priv/\n*.log\n")
    room.tree.commit()
    room.tree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../origin", "sub")
    inner(room.tree.path("nest"), "nest")
    inner(room.tree.path("nest/deep"), "deep")
    inner(room.tree.path("link"), "link")
    room.tree.git("add", "link")
    inner(room.tree.path("priv"), "priv")

    status = room.status()

    assert room.places("*_fn") == [
        ("link/link.py", 1),
        ("nest/deep/deep.py", 1),
        ("nest/nest.py", 1),
        ("sub/sub.py", 1),
    ]
    assert room.places("in_tmp") == [] and "nest/out.log" in room.files()
    assert status["nested"] == ["link", "nest", "nest/deep", "sub"]
    assert "nested repos: 4" in room.ctx("status").stdout


def test_repositories_that_come_and_go_while_the_daemon_runs(room: Room) -> None:
    """B006: cloned, edited, given rules of their own, removed: each at the next question, and in status."""
    inner(room.tree.root.parent / "origin", "sub")
    room.tree.write("a.py", "def outer_fn(): pass\n")
    room.tree.commit()
    assert room.places("*_fn") == [("a.py", 1)]

    room.tree.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../origin", "sub")
    room.tree.git("clone", "-q", "../origin", "deep/nest")
    assert room.places("sub_fn") == [("deep/nest/sub.py", 1), ("sub/sub.py", 1)]
    assert room.status()["nested"] == ["deep/nest", "sub"]

    room.tree.write("deep/nest/sub.py", "def edited_fn(): pass\n")
    room.tree.write("sub/.gitignore", "sub.py\n*.tmp\n")
    room.tree.write("deep/nest/new.py", "def new_fn(): pass\n")
    assert room.places("*_fn") == [
        ("a.py", 1),
        ("deep/nest/new.py", 1),
        ("deep/nest/sub.py", 1),
        ("sub/sub.py", 1),  # git goes on tracking it
    ]
    room.tree.write("deep/nest/.git/info/exclude", "new.py\n")
    wait_until(lambda: room.places("new_fn") == [], 5, "the excludes of a repository that came later are watched")

    room.tree.git("submodule", "--quiet", "deinit", "-f", "sub")
    shutil.rmtree(room.tree.path("deep/nest"))
    assert room.places("*_fn") == [("a.py", 1)]
    assert room.status()["nested"] == []
