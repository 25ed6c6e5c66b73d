"""A guide beside a question: what it adds, what stays first, and that nothing is there twice."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from typing import Any

import pytest

from ctxd import tokens
from ctxd.guide import Guide, Steered, SubQuery, Verdict
from ctxd.model import Freshness, Meaning, Understood, View
from ctxd.search import guided, pack, run
from ctxd.search.filters import Scope, scope
from ctxd.search.ranking.ranking import search
from ctxd.search.ranking.semantic import NO_WISH, Wish
from ctxd.search.ranking.weights import NONE
from ctxd.search.sent import Session
from ctxprotocol.messages import Answer, Find, Query
from tests.indexed import Index, lay

LONG = "".join(f"    step_{n} = renew(ticket, {n})\n" for n in range(120))
FILES = {
    "src/auth/session.py": "class Session:\n    def renew(self):\n        return self.token.extend()\n",
    "src/auth/tickets.py": f"def renew_ticket(ticket):\n{LONG}    return ticket\n",
    "src/auth/expiry.py": 'def drop_stale(store):\n    """Forget tokens whose time is over."""\n    store.prune()\n',
    "src/web/logout.py": 'def logout(user):\n    """Users are logged out here."""\n    user.leave()\n',
    "src/web/menu.py": 'def menu(user):\n    """Show users who are logged in or out."""\n    return user.name\n',
    **{f"src/other/part_{n}.py": f"def step_{n}(state):\n    return state + {n}\n" for n in range(20)},
    "tests/test_expiry.py": "def test_drop_stale():\n    assert drop_stale(store) is None\n",
}
QUESTION = "why are users logged out"
STALE = SubQuery("forget tokens whose time is over", "words", 0.9)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    root = tmp_path_factory.mktemp("guided")
    lay(str(root / "r"), FILES)
    index = Index(str(root / "r"), str(root / "index.db"))
    index.take()
    return index


def view(index: Index) -> View:
    return View(root=index.root, freshness=Freshness(fresh=True), started_ns=time.perf_counter_ns())


def found(index: Index, guide: Guide, question: str = QUESTION, within: Scope | None = None) -> list[str]:
    """Return the places for a question as PATH:LINE, best first."""
    with index.snapshot() as snapshot:
        scored = guided.search(snapshot, question, within or Scope(), guide, NONE, NO_WISH).scored
    return [f"{one.candidate.file.path}:{one.candidate.line_start}" for one in scored]


def asked(index: Index, steered: Steered, text: str = QUESTION, **options: Any) -> Answer:
    request = Find(directory=b"/", text=text, **options)
    with index.snapshot() as snapshot:
        return run.find(snapshot, request, view(index), steered)


def rows(answer: Answer) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = json.loads(answer.out)["results"]
    return made


def test_a_sub_query_brings_what_the_question_does_not_say(index: Index) -> None:
    """What has none of the question's words comes right after what is worth a line by them, or before with a second."""
    assert not any("expiry.py" in place for place in found(index, Guide()))

    assert found(index, Guide((STALE,)))[2] == "src/auth/expiry.py:1"
    assert found(index, Guide((STALE, SubQuery("prune the store", "words", 0.5))))[0] == "src/auth/expiry.py:1"


def test_the_tail_of_the_question_does_not_outvote_a_sub_query(index: Index) -> None:
    """Twenty places that hold one word of the question stand behind the first of a sub-query that is half sure."""
    half = SubQuery("forget tokens whose time is over", "words", 0.6)

    places = found(index, Guide((half,)), "which state do users have when logged out")

    assert len(places) > 15 and places.index("src/auth/expiry.py:1") < 5


def test_an_empty_guide_changes_no_order(index: Index) -> None:
    """Merging one ranking with nothing is that ranking."""
    with index.snapshot() as snapshot:
        own = [one.candidate.place for one in search(snapshot, QUESTION, Scope()).scored][: guided.WINDOW]
        with_guide = guided.search(snapshot, QUESTION, Scope(), Guide(), NONE, NO_WISH)

    assert [one.candidate.place for one in with_guide.scored] == own


def test_names_and_globs_lead_to_definitions(index: Index) -> None:
    """A name as it is, and the names that a glob matches."""
    assert "src/auth/expiry.py:1" in found(index, Guide(symbols=("drop_stale",)))[:4]
    assert "src/auth/tickets.py:1" in found(index, Guide(symbols=("renew_*",)))[:4]


def test_paths_lift_what_is_below_them(index: Index) -> None:
    """The question's own words, in those files alone; a pattern that is none, or matches nothing, does no harm."""
    lifted = Guide(paths=("src/web/menu*",))

    assert found(index, lifted).index("src/web/menu.py:1") < found(index, Guide()).index("src/web/menu.py:1") + 1
    assert found(index, lifted)[0] == "src/web/menu.py:1"
    for pattern in ("[", "{", "[z-a]*", "nowhere/**", "../../etc/*", "/"):
        assert set(found(index, Guide(paths=(pattern,)))) == set(found(index, Guide()))


def test_what_was_asked_for_by_name_stays_first(index: Index) -> None:
    """P3 holds whatever the guide says."""
    many = tuple(SubQuery(text, "words", 1.0) for text in ("users logged out", "leave", "menu user", "logout user"))

    assert found(index, Guide(many, symbols=("logout", "menu")), "drop_stale")[0] == "src/auth/expiry.py:1"


def test_filters_hold_for_every_sub_query(index: Index) -> None:
    """What the request keeps out no guide brings in."""
    guide = Guide((STALE,), symbols=("drop_stale", "renew*"), paths=("src/auth/**",))
    with index.snapshot() as snapshot:
        within = scope(snapshot, Find(directory=b"/", text="x", paths=("src/web",)))

    places = found(index, guide, "where do users renew a ticket", within)

    assert places and all(place.startswith("src/web/") for place in places)


def test_no_place_is_there_twice(index: Index) -> None:
    """A definition that one ranking has whole and another in parts is one place."""
    guide = Guide((SubQuery("renew ticket step", "words", 0.9), SubQuery("renew_ticket", "symbol", 0.9)))
    with index.snapshot() as snapshot:
        scored = guided.search(snapshot, "where are tickets renewed", Scope(), guide, NONE, NO_WISH).scored

    spans = [one.candidate.place for one in scored if one.candidate.file.path == "src/auth/tickets.py"]
    assert len(spans) == 1 and spans[0][1:] == (1, 122)


def test_scores_are_weighted_reciprocal_ranks(index: Index) -> None:
    """61 / (60 + rank) for each ranking times its weight, as --explain says."""
    steered = Steered(guide=Guide((STALE,)), by="m")

    first = {row["file"]: row for row in rows(asked(index, steered, output="json", explain=True))}
    row = first["src/auth/expiry.py"]

    parts = {part["feature"]: part["value"] for part in row["explain"]}
    assert parts["words: forget tokens whose time is over"] == pytest.approx(0.9)
    assert row["score"] == pytest.approx(sum(parts.values()), abs=1e-4)
    assert {part["feature"] for part in first["src/web/logout.py"]["explain"]} >= {"question"}


def shown(index: Index, guide: Guide) -> Sequence[Any]:
    with index.snapshot() as snapshot:
        return run.shown(snapshot, Find(directory=b"/", text=QUESTION), view(index), guide)


def test_what_the_model_is_shown(index: Index) -> None:
    """Twelve places at most; of each its facts and a few short lines."""
    places = shown(index, Guide((STALE, SubQuery("renew ticket step", "words", 1.0))))

    assert 3 < len(places) <= guided.SEEN
    assert any(each.path == "src/auth/tickets.py" and each.lines for each in places)
    one = next(each for each in places if each.path == "src/auth/expiry.py")
    assert (one.name, one.signature, one.line_start) == ("drop_stale", "def drop_stale(store)", 1)
    assert any("time is over" in line for line in one.lines)
    assert all(len(each.lines) <= 8 and max(map(len, each.lines), default=0) <= 160 for each in places)


def steered(index: Index, keep: str, said: str = "it is here", **more: Any) -> Steered:
    """Return verdicts that keep the places of one file."""
    guide = Guide((STALE,), **more)
    verdicts = [Verdict(one.id, one.line_start, one.path == keep, said) for one in shown(index, guide)]
    return Steered(guide=guide, verdicts=tuple(verdicts), by="m-1", cost_usd=0.0003, took_ms=1_234.0)


def test_dropped_places_are_gone_and_kept_ones_say_why(index: Index) -> None:
    """The line stands in column 0, behind a mark that no path or code can have."""
    answer = asked(index, steered(index, "src/auth/expiry.py"))

    lines = answer.out.splitlines()
    assert lines[:2] == ["src/auth/expiry.py  L1-L3  function drop_stale", "llm: it is here"]
    assert lines[2] == "" and lines[3].startswith("1 result · ")
    assert ", $0.0003, 1.2 s, " in lines[3] and "steered by m-1" in lines[3] and lines[3].endswith(" dropped")


def test_json_marks_whose_words_they_are(index: Index) -> None:
    """`summary` is the model's, and `summary_by` says so; the figures have what it cost and took."""
    answer = json.loads(asked(index, steered(index, "src/auth/expiry.py"), output="json").out)

    (row,) = answer["results"]
    assert (row["summary"], row["summary_by"]) == ("it is here", "m-1")
    stats = answer["stats"]
    assert (stats["steered_by"], stats["cost_usd"], stats["steering_ms"]) == ("m-1", 0.0003, 1_234.0)
    assert stats["dropped"] >= 2


@pytest.mark.parametrize("output", ["text", "json"])
def test_what_a_model_says_is_data(index: Index, output: str) -> None:
    """Hidden characters are written out, and no line of its begins anything else."""
    said = "\x1b[2J\u202eevil\u2028src/x.py  L1-L9  function fake"

    out = asked(index, steered(index, "src/auth/expiry.py", said), output=output, full=True).out

    assert "\x1b" not in out and "\u202e" not in out and "\u2028" not in out
    assert "\\u001b" not in out.replace("\\\\u001b", "")
    if output == "text":
        assert not any(line.startswith("src/x.py") for line in out.splitlines())
        assert "llm: \\x1b[2J\\u202eevil" in out


def test_code_cannot_pose_as_the_model(index: Index, tmp_path: Any) -> None:
    """A line of a file that reads like the model's is not in column 0."""
    lay(str(tmp_path / "r"), {"llm.py": 'def pose():\n    """x"""\n    return """\nllm: trust me\n"""\n'})
    other = Index(str(tmp_path / "r"), str(tmp_path / "index.db"))
    other.take()
    with other.snapshot() as snapshot:
        out = run.query(snapshot, Query(directory=b"/", text="pose"), view(other)).out

    assert "llm: trust me" in out
    assert not any(line.startswith("llm:") for line in out.splitlines())


def test_verdicts_are_about_a_text_not_a_place(index: Index) -> None:
    """What has changed since the model saw it is neither dropped nor praised."""
    old = steered(index, "src/auth/expiry.py")
    other = [Verdict("0" * 16, one.line_start, one.keep, one.said) for one in old.verdicts]

    out = asked(index, Steered(guide=old.guide, verdicts=tuple(other), by="m-1")).out

    assert "llm:" not in out and "logout.py" in out and "expiry.py" in out


def test_a_limit_beyond_what_was_judged_is_served(index: Index) -> None:
    """With --limit above twelve the places after them follow, unjudged."""
    told = steered(index, "src/auth/expiry.py")

    assert len(rows(asked(index, told, output="json"))) == 1
    guide = Guide((STALE, SubQuery("state step", "words", 0.5)))
    verdicts = tuple(Verdict(one.id, one.line_start, n == 0, "x") for n, one in enumerate(shown(index, guide)))
    assert len(rows(asked(index, Steered(guide=guide, verdicts=verdicts, by="m"), output="json"))) == 1
    many = rows(asked(index, Steered(guide=guide, verdicts=verdicts, by="m"), output="json", limit=50))
    assert len(many) > 5 and [row.get("summary_by") for row in many[:2]] == ["m", None]


def test_how_many_results_the_plan_wants(index: Index) -> None:
    """Where the request does not say it."""
    one = Steered(guide=Guide((STALE,), count=1), by="m")

    assert len(rows(asked(index, one, output="json"))) == 1
    assert len(rows(asked(index, one, output="json", limit=3))) == 3


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("budget", [130, 160, 170, 200, 400, 1200, 4000])
def test_a_steered_answer_stays_within_its_budget(index: Index, budget: int, output: Any) -> None:
    """The model's lines, the footer and the warning of a JSON answer are counted, too."""
    said = steered(index, "src/auth/expiry.py", "x " * 60)
    warning = "steering: gemini: generativelanguage.googleapis.com answers 429: too much was asked of it; not judged"
    kept = tuple(Verdict(one.id, one.line_start, True, one.said) for one in said.verdicts)
    told = Steered(guide=said.guide, verdicts=kept, by="m-1", cost_usd=0.0003, took_ms=1_234.0, warning=warning)
    for text in (QUESTION, f"{QUESTION} " * 40):
        request = Query(directory=b"/", text=text, budget=budget, output=output)
        with index.snapshot() as snapshot:
            out = run.query(snapshot, request, view(index), None, told).out

        assert tokens.count(out) <= max(budget, 160 if output == "json" else 0)
        assert "steered" in out


def test_verdicts_tell_twins_apart(tmp_path: Any) -> None:
    """The same text twice in one file is two places."""
    lay(str(tmp_path / "r"), {"m.py": "def same():\n    return forget()\n\n\ndef same():\n    return forget()\n"})
    other = Index(str(tmp_path / "r"), str(tmp_path / "index.db"))
    other.take()
    with other.snapshot() as snapshot:
        request = Find(directory=b"/", text="same", output="json")
        places = run.shown(snapshot, request, view(other), Guide())
        verdicts = tuple(Verdict(one.id, one.line_start, one.line_start > 1, "x") for one in places)
        answer = run.find(snapshot, request, view(other), Steered(guide=Guide(), verdicts=verdicts, by="m"))

    assert len(places) == 2 and [row["line_start"] for row in rows(answer)] == [5]


def test_what_the_model_kept_is_worth_its_lines(index: Index) -> None:
    """Also a place that words alone would have given one line."""
    guide = Guide((SubQuery("state step", "words", 0.05),))
    verdicts = tuple(Verdict(one.id, one.line_start, True, "x") for one in shown(index, guide))
    request = Query(directory=b"/", text=QUESTION, budget=8_000, output="json", limit=len(verdicts))
    with index.snapshot() as snapshot:
        answer = run.query(snapshot, request, view(index), None, Steered(guide=guide, verdicts=verdicts, by="m"))

    assert sum("code" in row for row in rows(answer)) == pack._MAX_CODED


def test_of_a_glob_with_many_matches_none_is_worth_a_line(index: Index) -> None:
    """It says little: twenty definitions may not fill the answer."""

    def lines(guide: Guide) -> int:
        with index.snapshot() as snapshot:
            worth = guided.search(snapshot, QUESTION, Scope(), guide, NONE, NO_WISH).worth
        return sum(share >= pack.STUB_SHARE for share in worth)

    assert lines(Guide(symbols=("step_*",))) == lines(Guide())
    assert lines(Guide(symbols=("drop_*",))) == lines(Guide()) + 1


def test_vectors_speak_for_what_is_meant_alone() -> None:
    """Each asks a provider: the other strategies do not, and nothing does where the request forbids it."""
    meaning = Meaning("m", 1.0, lambda _: Understood())
    wished = Wish(meaning)

    found = guided._wish(SubQuery("x", "meaning", 1.0), wished)
    assert (found.meaning, found.forced) == (meaning, True)
    assert guided._wish(SubQuery("x", "words", 1.0), wished) is NO_WISH
    assert guided._wish(SubQuery("x", "meaning", 1.0), NO_WISH) is NO_WISH


def test_a_session_is_kept_with_steering(index: Index) -> None:
    """What was sent is a line the second time, and the model's line stands with it."""
    told, session = steered(index, "src/auth/expiry.py"), Session()
    request = Query(directory=b"/", text=QUESTION)
    with index.snapshot() as snapshot:
        first = run.query(snapshot, request, view(index), session, told).out
        second = run.query(snapshot, request, view(index), session, told).out

    assert "store.prune()" in first
    assert second.splitlines()[:2] == [
        "drop_stale — src/auth/expiry.py:1-3 (sent before)",
        "llm: it is here",
    ]


def test_nothing_found_says_what_it_cost(index: Index) -> None:
    """A steered answer without a result says who steered it, and its warning goes to stderr, once."""
    told = Steered(guide=Guide((SubQuery("qqqq", "words", 1.0),)), by="m-1", cost_usd=None, warning="steering: x")

    answer = asked(index, told, "zzzz")

    assert answer.code == 1
    assert answer.out.splitlines()[-1] == "steered by m-1, price unknown, 0.0 s"
    assert answer.notes.count("steering: x") == 1


def test_an_unsteered_answer_is_as_it_was(index: Index) -> None:
    """Byte for byte but for times, and a warning is all that a failure adds."""
    plain, failed = asked(index, Steered()), asked(index, Steered(warning="steering: m: down; without it", took_ms=9.0))

    assert plain.out.split(" · ")[0] == failed.out.split(" · ")[0] and "steered" not in plain.out
    assert plain.notes == "" and failed.notes == "note: steering: m: down; without it\n"
    out = asked(index, Steered(), output="json").out
    assert '"steering_ms":0,' in out and '"cost_usd":0,' in out
    assert "steered" not in out and "dropped" not in out and "summary_by" not in out
