"""`find` and `query` over real files, through the real parser and store."""

from __future__ import annotations

import json
import os
import random
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxd import tokens
from ctxd.model import Freshness, View
from ctxd.search import run
from ctxd.search.filters import Scope
from ctxd.store import lexicon
from ctxd.store.snapshot import Snapshot
from ctxprotocol.errors import TooLong
from ctxprotocol.messages import Answer, Find, Query
from tests.indexed import Index, lay

FILES = {
    "src/policy.py": 'class RetryPolicy:\n    """How to try again."""\n\n    def next_delay(self):\n        return 1\n',
    "src/users.py": "def getUserById(key):\n    pass\n\n\ndef atomic_write_json(path):\n    # 数据校验\n    pass\n",
    "src/odd.py": (
        "MODE = 'multi-agent'\n\n\ndef fix():\n    # TODO: fix the --flag, don't ask; see a.b.c/d\n    return 1\n\n\n"
        "def shift(x):\n    return x <=> 1\n"
    ),
    "vendor/policy.py": "class RetryPolicy:\n    pass\n",
    "web/app.min.js": "class RetryPolicy{}\n",
    **{
        f"tests/test_policy_{n}.py": f"class RetryPolicy:\n    pass\n\n\ndef test_{n}():\n    assert RetryPolicy()\n"
        for n in range(12)
    },
    "README.md": "# Shop\n\n## Retry policy\n\nRetryPolicy says when to try again.\n",
    "settings.toml": "[retry]\nmax_attempts = 5\n",
}


class Room:
    """Files, their index and questions about them."""

    def __init__(self, root: str, file: str) -> None:
        self.root = root
        self.index = Index(root, file)
        self.index.take()

    def ask(self, request: Find | Query) -> Answer:
        view = View(root=self.root, freshness=Freshness(fresh=True), started_ns=time.perf_counter_ns())
        with self.index.snapshot() as snapshot:
            answer = run.find if isinstance(request, Find) else run.query
            return answer(snapshot, request, view)  # type: ignore[arg-type]

    def find(self, text: str, **options: Any) -> list[dict[str, Any]]:
        made = self.ask(Find(directory=b"/", text=text, output="json", **options))
        found: list[dict[str, Any]] = json.loads(made.out)["results"]
        return found

    def query(self, text: str, **options: Any) -> dict[str, Any]:
        made: dict[str, Any] = json.loads(self.ask(Query(directory=b"/", text=text, output="json", **options)).out)
        return made


def build(tmp_path: Any, files: dict[str, str]) -> Room:
    lay(str(tmp_path / "tree"), files)
    return Room(str(tmp_path / "tree"), str(tmp_path / "index.db"))


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Room:
    return build(tmp_path_factory.mktemp("shop"), FILES)


@pytest.mark.parametrize(
    ("text", "file", "line"),
    [
        ("multi-agent", "src/odd.py", 1),
        ("TODO: fix", "src/odd.py", 5),
        ("don't", "src/odd.py", 5),
        ("a.b.c", "src/odd.py", 5),
        ("a.b.c/d", "src/odd.py", 5),
        ('"--flag"', "src/odd.py", 5),
        ("--flag", "src/odd.py", 5),
        ("<=>", "src/odd.py", 10),
        ('"x <=> 1"', "src/odd.py", 10),
    ],
)
def test_punctuation_finds_its_line(shop: Room, text: str, file: str, line: int) -> None:
    """B033: `-`, `:`, `'`, `.`, `/` and `"` are text."""
    first = shop.find(text)[0]

    assert (first["file"], first["show_line"]) == (file, line)


TORTURE = [
    "", " ", "\n", "!!!", "AND", "OR", "NOT", "NEAR", "a AND", "OR b", "NOT fix", "NEAR(fix flag)", "fix*", "^fix",
    "name:fix", "{path name}:fix", "fix + flag", '"', '""', '"fix', "'", "(", ")", "fix)", "(fix", "-fix", "--", "*",
    "fix^2", "col : fix", ";DROP TABLE fts", "%", "_", "\\", "\x00", "fix\x00flag", "🎉", "🎉 fix", "数", "数据",
    "\ud800", "é", "ﬁx", "²", "a" * 8192, "fix " * 2000, "`", "``", "“fix”", "[", "a[b]c", "@", "#", "$", "::", ".",
    "..", "/", "//", "a/", ":1", "a:1", "\u202efix", "ß", "İ",
]  # fmt: skip


@pytest.mark.parametrize("text", TORTURE, ids=repr)
def test_no_text_is_syntax(shop: Room, text: str) -> None:
    """B033: whatever is asked gets an answer, by `find` and by `query`, with exit code 0 or 1."""
    for request in (Find(directory=b"/", text=text), Query(directory=b"/", text=text)):
        answer = shop.ask(request)

        assert answer.code in (0, 1) and answer.out


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=120))
def test_any_text_gets_an_answer(shop: Room, text: str) -> None:
    """No question raises."""
    assert shop.ask(Find(directory=b"/", text=text)).code in (0, 1)


def test_a_megabyte_is_too_long(shop: Room) -> None:
    """Over the limit is said, with both numbers."""
    with pytest.raises(TooLong, match="8,192"):
        shop.find("x" * 1_000_000)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("getUserById", "getUserById"),
        ("user by id", "getUserById"),
        ("get_user_by_id", "getUserById"),
        ("atomic_write_json", "atomic_write_json"),
        ("atomic write", "atomic_write_json"),
        ("数据", "atomic_write_json"),
        ("校验", "atomic_write_json"),
        ("数", "atomic_write_json"),
    ],
)
def test_names_are_found_by_their_words(shop: Room, text: str, name: str) -> None:
    """B035: whole identifiers, their words, and pairs of CJK characters."""
    assert shop.find(text)[0]["name"] == name


def test_the_definition_in_the_source_leads(shop: Room) -> None:
    """B037: neither twelve tests nor a vendored copy come before it, for `find` and for `query`, five times."""
    orders = {tuple((one["file"], one["line_start"]) for one in shop.find("RetryPolicy", limit=20)) for _ in range(5)}

    assert len(orders) == 1
    assert next(iter(orders))[0] == ("src/policy.py", 1)
    assert shop.query("RetryPolicy")["results"][0]["file"] == "src/policy.py"


def test_a_hit_by_name_has_the_definitions_own_span(shop: Room) -> None:
    """A method inside a chunk that holds the whole class is shown by itself."""
    first = shop.find("next_delay")[0]

    assert (first["name"], first["type"], first["line_start"], first["line_end"]) == ("next_delay", "method", 4, 5)
    assert first["qualified_name"] == "RetryPolicy.next_delay" and first["definition_line"] == 4


def test_no_result_twice(shop: Room) -> None:
    """A place that several retrievers find is one result."""
    places = [(one["file"], one["line_start"], one["line_end"]) for one in shop.find("retry policy", limit=50)]

    assert len(places) == len(set(places)) > 10


@pytest.mark.parametrize(
    ("options", "files"),
    [
        ({"languages": ("markdown",)}, {"README.md"}),
        ({"content": "docs"}, {"README.md"}),
        ({"content": "config"}, {"settings.toml"}),
        ({"paths": ("vendor",)}, {"vendor/policy.py"}),
        ({"paths": ("src/*.py",), "excludes": ("src/users.py",)}, {"src/policy.py"}),
        ({"kind": "section"}, {"README.md"}),
    ],
)
def test_filters_come_before_the_cut(shop: Room, options: dict[str, Any], files: set[str]) -> None:
    """A filter takes the best of what it leaves, not what is left of the best."""
    found = shop.find("retry policy", limit=1, **options)

    assert {one["file"] for one in found} <= files and found


def test_a_filter_by_kind_gives_that_kind_for_a_name(shop: Room) -> None:
    """--type class does not answer with functions that bear the name."""
    assert {one["type"] for one in shop.find("RetryPolicy", kind="class", limit=3)} == {"class"}


def test_a_filter_by_kind_looks_into_chunks(shop: Room) -> None:
    """A method whose class is one chunk with it is found as a method, with its own span."""
    found = shop.find("how to try again", kind="method")

    assert [(one["name"], one["line_start"], one["line_end"]) for one in found] == [("next_delay", 4, 5)]


def test_what_a_filter_removed_is_counted(shop: Room) -> None:
    """Nothing found says how much the filters kept out."""
    answer = shop.ask(Find(directory=b"/", text="getUserById", paths=("web/**",)))

    assert answer.code == 1
    assert "--path" in answer.out and "result" in answer.out


def test_nothing_found_names_the_nearest(shop: Room) -> None:
    """A name that nothing is called is explained, though a part of it is a word of the repo."""
    answer = shop.ask(Find(directory=b"/", text="frobnicate_policy"))

    assert answer.code == 1
    assert answer.out.startswith('nothing found for "frobnicate_policy" in ')


def test_explain_adds_up(shop: Room) -> None:
    """The parts of a score are its sum."""
    for one in shop.find("retry policy", explain=True):
        assert abs(sum(part["value"] for part in one["explain"]) - one["score"]) < 1e-3


def test_a_changed_file_is_not_verified(tmp_path: Any) -> None:
    """The stat of each hit is looked at: a file that was touched since makes the answer not fresh."""
    room = build(tmp_path, {"a.py": "def one():\n    return 1\n"})
    assert room.query("one")["fresh"] and room.find("one")[0]["verified"]

    with open(os.path.join(room.root, "a.py"), "a", encoding="utf-8") as file:
        file.write("# more\n")

    made = room.query("one")
    assert not made["results"][0]["verified"]
    assert not made["fresh"] and "changed" in made["fresh_reason"]


def big_class() -> str:
    methods = "".join(
        f'    def method_{n}(self, value):\n        """Step {n}."""\n        return value + {n}\n\n' for n in range(220)
    )
    asked = (
        '    def flush_journal(self, force):\n        """Write the journal to disk and empty it."""\n'
        + "".join(f"        self.part_{n} = force\n" for n in range(10))
        + "\n"
    )
    return f'class Journal:\n    """All that happened."""\n\n{methods}{asked}'


@pytest.mark.parametrize("text", ["Journal", "what does Journal do to flush to disk"])
@pytest.mark.parametrize("output", ["text", "json"])
def test_a_class_of_900_lines_in_500_tokens(tmp_path: Any, text: str, output: Any) -> None:
    """It comes as an outline with the members that matter, and the answer is within budget."""
    room = build(tmp_path, {"journal.py": big_class(), "use.py": "from journal import Journal\n\nJournal()\n"})

    answer = room.ask(Query(directory=b"/", text=text, budget=500, output=output))

    assert tokens.count(answer.out) <= 500
    first = json.loads(answer.out)["results"][0] if output == "json" else None
    assert first is None or (first["name"], first["render"]) == ("Journal", "outline")
    assert "class Journal" in answer.out
    if "flush" in text:
        assert "flush_journal" in answer.out


@pytest.mark.parametrize("budget", [120, 300, 600, 1200, 5000])
def test_every_budget_is_kept(shop: Room, budget: int) -> None:
    """For every kind of question, in text and in JSON."""
    for text in ("RetryPolicy", "retry policy", "multi-agent", "src/users.py", "who calls RetryPolicy"):
        for output in ("text", "json"):
            answer = shop.ask(Query(directory=b"/", text=text, budget=budget, output=output))  # type: ignore[arg-type]

            assert tokens.count(answer.out) <= budget, (text, output)


QUESTIONS = ["RetryPolicy", "retry policy", "user by id", "try again", "test", "policy delay", "path", "<=>"]


def places(snapshot: Snapshot) -> list[list[tuple[str, int, int, float]]]:
    found = []
    for text in QUESTIONS:
        scored = run.search(snapshot, text, Scope()).scored
        found.append([(*one.candidate.place, round(one.score, 6)) for one in scored])
    return found


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_history_does_not_matter(tmp_path: Any, seed: int) -> None:
    """P2: an index that lived through edits in any order answers like a new one, to the last place."""
    rnd = random.Random(seed)
    room = build(tmp_path, FILES)
    for _ in range(30):
        path = rnd.choice(sorted(FILES))
        lay(room.root, {path: FILES[path] + f"\n# {rnd.choice(['retry', 'policy', 'path', 'user'])}\n"})
        room.index.take(path)
        if rnd.random() < 0.5:
            lay(room.root, {path: FILES[path]})
            room.index.take(path)
        if rnd.random() < 0.3:
            os.unlink(os.path.join(room.root, path))
            room.index.take(path)
            lay(room.root, {path: FILES[path]})
            room.index.take(path)
    fresh = Index(room.root, str(tmp_path / "fresh.db"))
    fresh.take()

    with room.index.snapshot() as old, fresh.snapshot() as new:
        assert places(old) == places(new)


@pytest.mark.parametrize("spare", [1, lexicon.SPARE])
def test_ties_at_the_cut_go_by_path(tmp_path: Any, monkeypatch: pytest.MonkeyPatch, spare: int) -> None:
    """More equal files than the window holds: the first by path are kept, however they came in."""
    names = [f"d/{n:03}.py" for n in range(300)]
    monkeypatch.setattr(lexicon, "SPARE", spare)
    lay(str(tmp_path / "tree"), dict.fromkeys(names, "def same():\n    return tieword\n"))
    index = Index(str(tmp_path / "tree"), str(tmp_path / "index.db"))
    shuffled = list(names)
    random.Random(4).shuffle(shuffled)
    index.take(*shuffled)

    with index.snapshot() as snapshot:
        found = [one.candidate.file.path for one in run.search(snapshot, "where is tieword", Scope()).scored]

    assert found[:50] == names[:50]


def test_the_size_of_an_answer_is_in_it(shop: Room) -> None:
    """`tokens` counts the whole rendered answer, its own digits too."""
    answer = shop.ask(Query(directory=b"/", text="retry policy", output="json"))

    assert json.loads(answer.out)["stats"]["tokens"] == tokens.count(answer.out)


def test_an_answer_from_a_file_that_has_changed_is_refused_once(tmp_path: Any) -> None:
    """While another look is possible it is asked for; after that the answer says that it is not fresh."""
    room = build(tmp_path, {"a.py": "def changed_meanwhile():\n    return 1\n"})
    lay(room.root, {"a.py": "def changed_meanwhile():\n    return 2  # longer\n"})
    request = Find(directory=b"/", text="changed_meanwhile", output="json")
    view = View(root=room.root, freshness=Freshness(fresh=True), started_ns=1, again=True)

    with room.index.snapshot() as snapshot, pytest.raises(run.Overtaken):
        run.find(snapshot, request, view)
    told = json.loads(room.ask(request).out)

    assert (told["fresh"], told["results"][0]["verified"]) == (False, False)


def test_code_comes_before_a_target_of_its_name(tmp_path: Any) -> None:
    """`make check` is not what defines check()."""
    room = build(
        tmp_path, {"Makefile": "check: all\n\t./run\n", "src/sys.c": "static int check(void) {\n  return 1;\n}\n"}
    )

    assert [one["file"] for one in room.find("check")][:2] == ["src/sys.c", "Makefile"]


def test_a_class_of_which_the_header_was_found_shows_its_members(tmp_path: Path) -> None:
    """A line that only opens a long class is nothing to read; what the class can do is."""
    lay(
        str(tmp_path / "r"),
        {
            "gate.py": 'class Turnstile:\n    """Lets visitors through, one at a time."""\n\n'
            + "".join(
                f"    def step_{n}(self):\n        return self.move({n}, {n + 1}, {n + 2})\n\n" for n in range(60)
            )
        },
    )
    room = Room(str(tmp_path / "r"), str(tmp_path / "index.db"))

    request = Query(directory=b"/", text="letting visitors through one at a time", output="json")
    row = json.loads(room.ask(request).out)["results"][0]

    assert (row["name"], row["line_start"], row["render"]) == ("Turnstile", 1, "outline")
    assert "visitors" in row["code"] or "def step_" in row["code"]
    assert row["code"].count("def step_") > 3
