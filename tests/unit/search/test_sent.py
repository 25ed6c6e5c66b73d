"""A session is not sent again what it has, as long as that has not changed; what is remembered is bounded."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from ctxd.model import Freshness, Hit, View
from ctxd.search import run, sent
from ctxd.search.sent import Session, Sessions
from ctxprotocol.errors import UsageFailed
from ctxprotocol.messages import Query
from tests.indexed import Index, lay

POOL = (
    "class Pool:\n    def take(self):\n        return self.free.pop()\n\n"
    "    def give(self, one):\n        self.free.append(one)\n"
)


class Agent:
    """Asks about a directory, with a session or without."""

    def __init__(self, root: str, file: str) -> None:
        self.root, self.sessions = root, Sessions()
        lay(root, {"pool.py": POOL, "other.py": "def drain(pool):\n    pool.clear()\n"})
        self.index = Index(root, file)
        self.index.take()

    def ask(self, text: str, session: str = "", **options: Any) -> str:
        request = Query(directory=b"/", text=text, session=session, **options)
        view = View(root=self.root, freshness=Freshness(fresh=True), started_ns=time.perf_counter_ns())
        with self.index.snapshot() as snapshot:
            return run.query(snapshot, request, view, self.sessions.of(self.root, session)).out

    def first(self, text: str, session: str = "", **options: Any) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.ask(text, session, output="json", **options))["results"][0]
        return found


@pytest.fixture
def agent(tmp_path: Path) -> Agent:
    return Agent(str(tmp_path / "shop"), str(tmp_path / "index.db"))


def hit(text: str, first: int = 1, file: str = "a.py", lines: tuple[int, ...] = ()) -> Hit:
    last = first + text.count("\n")
    return Hit(
        file=file, line_start=first, line_end=last, type="gap", name="", language="python", code=text, lines=lines
    )


def test_what_was_sent_is_a_line_that_says_so(agent: Agent) -> None:
    """The second time there is no code, in both outputs."""
    assert "self.free.pop()" in agent.ask("Pool", "one")

    assert agent.ask("Pool", "one").startswith("Pool — pool.py:1-6 (sent before)\n")
    again = agent.first("Pool", "one")
    assert again["render"] == "stub" and again["sent_before"] is True and "code" not in again


def test_a_member_of_what_was_sent_was_sent(agent: Agent) -> None:
    """Lines are known again wherever they were shown."""
    agent.ask("Pool", "one")

    assert agent.first("Pool.take", "one")["sent_before"]


def test_other_sessions_and_none_are_sent_all(agent: Agent) -> None:
    """A session knows its own, and without one nothing is remembered."""
    agent.ask("Pool", "one")
    agent.ask("Pool")

    assert agent.first("Pool", "two")["render"] == "full"
    assert agent.first("Pool")["render"] == "full"


def test_changed_lines_are_sent_again(agent: Agent) -> None:
    """One changed line makes a body new; lines above that move it do not."""
    agent.ask("Pool", "one")
    lay(agent.root, {"pool.py": f"import os\n\n\n{POOL}"})
    agent.index.take("pool.py")
    assert agent.first("Pool", "one")["sent_before"]

    lay(agent.root, {"pool.py": POOL.replace("pop()", "pop(0)")})
    agent.index.take("pool.py")

    assert "pop(0)" in agent.first("Pool", "one")["code"]


def test_another_worktree_is_another_session(agent: Agent) -> None:
    """The same name in another worktree has been sent nothing."""
    agent.sessions.of("/elsewhere", "one").add([hit(POOL, file="pool.py")])  # type: ignore[union-attr]

    assert agent.first("Pool", "one")["render"] == "full"


def test_what_did_not_fit_was_not_sent(agent: Agent) -> None:
    """A line about a place is not its code."""
    agent.ask("Pool", "one", stubs=True)

    assert agent.first("Pool", "one")["render"] == "full"


def test_an_outline_is_known_by_each_of_its_runs() -> None:
    """Lines that were left out are news; those that were shown are not, alone or together."""
    session = Session()
    session.add([hit("a\nb\nd\ne", lines=(1, 2, 8, 9))])

    assert session.knows(hit("a\nb", first=40))
    assert session.knows(hit("b\ne", lines=(2, 9)))
    assert not session.knows(hit("b\nc", first=2))
    assert not session.knows(hit("a\nb", file="b.py"))


def test_sessions_are_bounded() -> None:
    """The longest unused is forgotten."""
    sessions = Sessions()
    sessions.of("/r", "first").add([hit("x")])  # type: ignore[union-attr]
    sessions.of("/r", "second").add([hit("x")])  # type: ignore[union-attr]
    for number in range(sent.MAX_SESSIONS - 1):
        assert sessions.of("/r", "first").knows(hit("x"))  # type: ignore[union-attr]
        sessions.of("/r", f"more {number}")

    assert sessions.of("/r", "first").knows(hit("x"))  # type: ignore[union-attr]
    assert not sessions.of("/r", "second").knows(hit("x"))  # type: ignore[union-attr]


def test_runs_and_bytes_of_a_session_are_bounded() -> None:
    """The oldest lines are forgotten: they are sent again, and no more."""
    session = Session()
    for number in range(sent.MAX_RUNS + 1):
        session.add([hit(f"line {number}")])
    assert not session.knows(hit("line 0"))
    assert session.knows(hit("line 1"))

    session.add([hit("\n".join(f"long {n}" for n in range(sent.MAX_BYTES // 8 - 10)))])

    assert session.knows(hit("long 5\nlong 6"))
    assert not session.knows(hit("line 1"))


def test_no_session_without_a_name() -> None:
    """The empty name is none, and a text is none either."""
    assert Sessions().of("/r", "") is None
    with pytest.raises(UsageFailed, match="200 characters"):
        Sessions().of("/r", "x" * 201)
