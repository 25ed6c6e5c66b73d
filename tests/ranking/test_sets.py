"""The labelled sets of this repository are whole: what `ctx bench` takes from them is what they say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ctxclient.bench import datasets
from ctxclient.bench.datasets import Question

SETS = Path(__file__).with_name("sets")
# Per set: its questions, and how many of each category.
COUNTS = {
    "redis": {"exact": 50, "broad": 50},
    "next": {"exact": 20, "broad": 20},
    "reports": {"report": 60},
    "django": {"meaning": 80, "apart": 95},
}


def questions(name: str) -> list[Question]:
    """Return the questions of all repositories of a set."""
    return [one for each in datasets.load(str(SETS / name)) for one in each.questions]


def written(name: str) -> list[dict[str, Any]]:
    """Return the questions of a set as they are in the files."""
    return [one for path in sorted((SETS / name / "labels").glob("*.json")) for one in json.loads(path.read_text())]


def test_every_set_is_known() -> None:
    """A folder with repositories is a set, and has its counts here."""
    assert {path.parent.name for path in SETS.glob("*/repos.json")} == set(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_a_set_has_its_questions(name: str) -> None:
    """The number per category is the one promised, and no question is asked twice or empty."""
    found = questions(name)

    counted = {category: sum(1 for one in found if one.category == category) for category in COUNTS[name]}
    assert counted == COUNTS[name]
    assert len(found) == sum(counted.values())
    assert all(one.query == one.query.strip() != "" for one in found)
    assert len({one.query for one in found}) == len(found)


@pytest.mark.parametrize("name", COUNTS)
def test_every_repository_has_labels_and_no_labels_are_left_over(name: str) -> None:
    """repos.json and labels/ name the same repositories, each at a fixed commit."""
    repositories = [each.repository for each in datasets.load(str(SETS / name))]

    assert sorted(each.name for each in repositories) == sorted(
        path.stem for path in (SETS / name / "labels").glob("*.json")
    )
    assert all(each.commit and each.language and each.url.startswith("https://") for each in repositories)


@pytest.mark.parametrize("name", COUNTS)
def test_places_are_places(name: str) -> None:
    """Every question has a place that answers it; lines are in order; a path is relative; none stands twice."""
    for one in questions(name):
        assert one.relevant, one.query
        assert len(set(one.targets)) == len(one.targets), one.query
        for span in one.targets:
            assert span.path and not span.path.startswith("/"), one.query
            assert not {"", ".", ".."} & set(span.path.split("/")), one.query
            assert (span.start_line, span.end_line) == (0, 0) or 1 <= span.start_line <= span.end_line, one.query


@pytest.mark.parametrize("name", COUNTS)
def test_a_question_has_only_known_fields(name: str) -> None:
    """A field with a typo would be read as missing."""
    allowed = {"query", "category", "relevant", "secondary"} | ({"source"} if name == "reports" else set())

    for one in written(name):
        assert set(one) == allowed, one["query"]
        spans = [place for place in one["relevant"] + one["secondary"] if not isinstance(place, str)]
        assert all(set(place) == {"path", "start_line", "end_line"} for place in spans), one["query"]


def test_every_report_says_where_it_is_from() -> None:
    """The issue, the commit that mended it, and whose words it was written after; at least ten repositories."""
    found = written("reports")

    issues = [one["source"]["issue"] for one in found]
    assert all("/" in issue and issue.rpartition("#")[2].isdigit() for issue in issues)
    assert len(set(issues)) == len(found)
    assert all(len(one["source"]["fix"]) == 40 for one in found)
    assert {one["source"]["words"] for one in found} == {"issue", "fix"}
    repositories = [each.repository for each in datasets.load(str(SETS / "reports"))]
    assert len(repositories) >= 10
    assert len({each.language for each in repositories}) >= 6
