"""A plan: what the model is told, and what of its reply is taken."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxd.guide import Guide, SubQuery
from ctxd.steer import decompose
from ctxd.steer.decompose import Facts
from ctxd.steer.formats import Unfit

QUERY = {"text": "expired session", "strategy": "words", "weight": 0.9}
PLAN: dict[str, Any] = {"queries": [QUERY], "symbols": ["Session"], "paths": ["src/auth/**"], "results": 4}


def test_a_plan_is_taken_as_it_is() -> None:
    """Sub-queries in order, patterns once each, a weight of nothing is no sub-query."""
    idle = {"text": "idle", "strategy": "meaning", "weight": 0}
    plan = {**PLAN, "queries": [QUERY, idle], "symbols": ["Session", " Session ", "re*"]}

    guide = decompose.read(json.dumps(plan))

    assert guide == Guide((SubQuery("expired session", "words", 0.9),), ("Session", "re*"), ("src/auth/**",), 4)


@pytest.mark.parametrize(
    "changed",
    [
        {"queries": []},
        {"queries": [QUERY] * (decompose.MOST_QUERIES + 1)},
        {"queries": [{**QUERY, "text": ""}]},
        {"queries": [{**QUERY, "text": " \u00a0 "}]},
        {"queries": [{**QUERY, "text": "x" * 201}]},
        {"queries": [{**QUERY, "text": "a\nb"}]},
        {"queries": [{**QUERY, "text": "a\x1b[2Jb"}]},
        {"queries": [{**QUERY, "text": "a\u202eb"}]},
        {"queries": [{**QUERY, "strategy": "shell"}]},
        {"queries": [{**QUERY, "weight": 1.5}]},
        {"queries": [{**QUERY, "weight": "0.5"}]},
        {"queries": [{**QUERY, "weight": True}]},
        {"queries": [{**QUERY, "command": "rm"}]},
        {"queries": [{"text": "a"}]},
        {"queries": "expired session"},
        {"symbols": ["a"] * (decompose.MOST_SYMBOLS + 1)},
        {"symbols": ["x" * 101]},
        {"symbols": [7]},
        {"paths": ["a"] * (decompose.MOST_PATHS + 1)},
        {"paths": None},
        {"results": 0},
        {"results": 2.5},
        {"results": 1_000_000_000_000_000_000_000},
        {"open": "/etc/passwd"},
    ],
    ids=str,
)
def test_what_is_not_a_plan_is_none(changed: dict[str, Any]) -> None:
    """One fault anywhere, and nothing of it is used."""
    decompose.read(json.dumps(PLAN))

    with pytest.raises(Unfit):
        decompose.read(json.dumps({**PLAN, **changed}))


@pytest.mark.parametrize(
    "text",
    [
        *("", "null", "[]", "{}", '"plan"', "Sure! Here is the plan:", f"```json\n{json.dumps(PLAN)}\n```"),
        *(json.dumps(PLAN)[:-1], json.dumps(PLAN) + "x", "[" * 100_000, '{"queries":' + "[" * 100_000, "\ud800"),
        json.dumps(PLAN).replace("expired", "\\ud800"),
    ],
    ids=range(13),
)
def test_what_is_not_json_of_that_shape_is_none(text: str) -> None:
    """However it is broken, it is Unfit and nothing else."""
    with pytest.raises(Unfit):
        decompose.read(text)


@given(st.text(max_size=300))
def test_any_text_is_a_plan_or_unfit(text: str) -> None:
    """Whatever a model says."""
    try:
        decompose.read(text)
    except Unfit as unfit:
        assert unfit.message == "the reply is no plan"


def test_the_model_is_told_little() -> None:
    """The question, languages, directories; of each no more than the bounds; a trace's beginning and end."""
    facts = Facts(tuple(f"l{n}" for n in range(99)), tuple(f"{n}{'d' * 200}" for n in range(99)))

    data = json.loads(decompose.ask("first " + "x" * 9_000 + " last", facts).data)

    assert set(data) == {"question", "languages", "directories"}
    assert data["question"].startswith("first ") and data["question"].endswith(" last")
    assert len(data["question"]) < 3_010
    assert len(data["languages"]) == decompose.MOST_LANGUAGES
    assert len(data["directories"]) == decompose.MOST_DIRECTORIES
    assert max(map(len, data["directories"])) == 60
