"""Whatever is asked, an answer has no more tokens than its budget, and no line of a file twice."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ctxd import tokens
from ctxd.model import Freshness, View
from ctxd.search import run
from ctxd.store.snapshot import Snapshot
from ctxprotocol.messages import Query
from tests.indexed import Index, lay

LONG = "def balance_ledger(entries):\n" + "".join(f"    total_{n} = add(entries[{n}], rate)\n" for n in range(200))
WIDE = "class Ledger:\n" + "".join(
    f'    def entry_{n}(self):\n        """Return entry {n} of the ledger."""\n        return self.rows[{n}]\n\n'
    for n in range(60)
)
FILES = {
    "src/ledger.py": WIDE,
    "src/balance.py": f"RATE = 2\nLIMIT = 3\n\n\n{LONG}\n\ndef add(entry, rate):\n    return entry + rate\n",
    "src/config.c": "".join(f"#define LEDGER_{n} {n} /* limit of the ledger */\n" for n in range(80)),
    **{f"src/part_{n}.py": f"def settle_{n}(ledger):\n    return ledger.entry_{n}() + {n}\n" for n in range(20)},
    "web/ünï.js": "// Sperre für das Hauptbuch 帳簿 — 残高\nexport function ledger() { return '\\u001b[31m' }\n",
    "README.md": "# Ledger\n\nHow entries are settled.\n\n## Limits\n\nThe rate is two.\n",
}
WORDS = [
    *("ledger", "Ledger", "balance_ledger", "entry_7", "settle", "LEDGER_12", "limit", "rate", "how", "does", "the"),
    *("src/balance.py:40", '"rows"', "who calls add", "tests for", "zzz", "帳簿", "\x00", "\n", "--", "Ledger.entry_3"),
]


@pytest.fixture(scope="module")
def snapshot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Snapshot]:
    root = tmp_path_factory.mktemp("budget")
    lay(str(root / "r"), FILES)
    index = Index(str(root / "r"), str(root / "index.db"))
    index.take()
    with index.snapshot() as snapshot:
        yield snapshot


def ask(snapshot: Snapshot, text: str, budget: int, output: str, **options: bool) -> str:
    view = View(root="/r", freshness=Freshness(fresh=True), started_ns=time.perf_counter_ns())
    request = Query(directory=b"/", text=text, budget=budget, output=output, **options)  # type: ignore[arg-type]
    return run.query(snapshot, request, view).out


questions = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join),
    st.lists(st.sampled_from(WORDS), min_size=100, max_size=300).map(" ".join),
    st.text(max_size=60),
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=questions,
    budget=st.one_of(st.integers(50, 400), st.integers(50, 4000)),
    output=st.sampled_from(["text", "json"]),
    option=st.sampled_from(["", "full", "stubs", "explain"]),
)
def test_no_answer_is_over_its_budget(snapshot: Snapshot, text: str, budget: int, output: str, option: str) -> None:
    """By the daemon's own counter; only the bare envelope of JSON may be more than the smallest budgets."""
    options = {option: True} if option else {}

    size = tokens.count(ask(snapshot, text, budget, output, **options))

    assert size <= (max(budget, 130) if output == "json" else budget)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=questions, budget=st.integers(130, 6000), full=st.booleans())
def test_no_line_of_a_file_is_sent_twice(snapshot: Snapshot, text: str, budget: int, full: bool) -> None:
    """However definitions, their members and the lines between them overlap."""
    shown: list[tuple[str, int]] = []

    for row in json.loads(ask(snapshot, text, budget, "json", full=full))["results"]:
        code = row["code"].split("\n") if "code" in row else []
        numbers = row.get("lines") or range(row["line_start"], row["line_start"] + len(code))
        shown += [(row["file"], number) for number in list(numbers)[: len(code)]]

    assert len(shown) == len(set(shown))


def test_an_answer_says_its_own_size(snapshot: Snapshot) -> None:
    """What the footer says is what is printed."""
    out = ask(snapshot, "how does the ledger settle", 700, "text")

    assert f"{tokens.count(out)} tokens" in out.splitlines()[-1]
