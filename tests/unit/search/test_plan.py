"""A question becomes words, names, paths and literal texts; nothing in it is syntax."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxd.search.question.plan import MAX_CHARACTERS, Plan, plan
from ctxprotocol.errors import TooLong


def words_of(made: Plan) -> list[str]:
    return [concept.text for concept in made.concepts if not concept.part]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("getUserById", "symbol"),
        ("Command", "symbol"),
        ("A::b", "symbol"),
        ("a.b.C#m", "symbol"),
        ("foo()", "symbol"),
        ("where is authentication handled", "prose"),
        ("user by id", "prose"),
        ("src/click/core.py", "path"),
        ("core.py:120", "path"),
        ("src\\click\\core.py(12,3)", "path"),
        ("core.py#L12-L14", "path"),
        ('"--flag"', "literal"),
        ("->", "literal"),
        ("ValueError: invalid literal for int()", "literal"),
    ],
)
def test_the_kind_of_a_question(text: str, kind: str) -> None:
    """A name, a path, a literal text and a sentence are told apart."""
    assert plan(text).kind == kind


@pytest.mark.parametrize(
    ("text", "segments"),
    [
        ("Pool::create", ("Pool", "create")),
        ("db.pool.Pool#create", ("db", "pool", "Pool", "create")),
        ("what does `Pool.create` do", ("Pool", "create")),
        ("why does createPool(cfg) fail", ("createPool",)),
        ("is create_pool used", ("create_pool",)),
        ("self->pool", ("self", "pool")),
    ],
)
def test_names_are_cut_at_their_joints(text: str, segments: tuple[str, ...]) -> None:
    """A code-shaped name is found in a sentence and split the way its language writes it."""
    first = plan(text).names[0]

    assert first.segments == segments
    assert first.coded


def test_a_path_keeps_its_line() -> None:
    """path:line, path#Lline and path(line) all say the same."""
    for text in ("see src/a.py:12 please", "src/a.py#L12", "src/a.py(12,4)", "src/a.py:12:7"):
        assert [(one.path, one.line) for one in plan(text).paths] == [("src/a.py", 12)]


def test_a_url_and_a_number_are_no_paths() -> None:
    """What only looks a little like a path is none."""
    assert not plan("see https://example.org/a.py and 3.11").paths


def test_frames_come_innermost_first() -> None:
    """Python prints the innermost frame last, others first."""
    python = plan('Traceback:\n  File "/x/a.py", line 3, in f\n  File "/x/b.py", line 9, in g\nKeyError: 1')
    node = plan("Error: x\n    at inner (/x/b.js:9:1)\n    at outer (/x/a.js:3:2)")

    assert [(one.path, one.line, one.name) for one in python.frames] == [("/x/b.py", 9, "g"), ("/x/a.py", 3, "f")]
    assert [(one.path, one.line, one.name) for one in node.frames] == [("/x/b.js", 9, "inner"), ("/x/a.js", 3, "outer")]


def test_words_that_say_nothing_are_left_out_unless_nothing_else_is_there() -> None:
    """Stop words go, but a question of stop words alone keeps them."""
    assert words_of(plan("where is the session opened")) == ["session", "opened"]
    assert words_of(plan("what is this")) == ["what", "is", "this"]


def test_a_name_stands_for_itself_and_for_the_phrase_of_its_parts() -> None:
    """RunContext is sought as it is and as `run context`."""
    (concept, *parts) = plan("RunContext").concepts

    assert concept.alternatives == (("runcontext",), ("run", "context"))
    assert [part.text for part in parts] == ["run", "context"] and all(part.part for part in parts)


def test_cjk_is_asked_by_pairs() -> None:
    """A run of CJK is cut as the index cuts it; one character may go on."""
    assert words_of(plan("数据校验")) == ["数据", "据校", "校验"]
    assert plan("数").concepts[0].prefix


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("tests for the pool", "tests"),
        ("who calls create_pool", "usage"),
        ("where is RetryPolicy used", "usage"),
        ("usages of Pool", "usage"),
        ("example of a charge", "examples"),
        ("benchmarks of the parser", "benchmarks"),
        ("how is hashing benchmarked", "benchmarks"),
        ("the microbenchmark of hashing", "benchmarks"),
        ("which bench is slow", "benchmarks"),
        ("man page of the tool", "docs"),
        ("the single header", "generated"),
        ("amalgamated sources", "generated"),
        ("translations of the guide", "translated"),
        ("how to translate the guide", "translated"),
        ("Japanese readme", "translated"),
        ("i18n of the guide", "translated"),
        ("数据校验", "translated"),
        ("как проверить", "translated"),
        ("documentation of refunds", "docs"),
        ("where is the port configured", "config"),
        ("deprecated functions", "legacy"),
    ],
)
def test_intents(text: str, intent: str) -> None:
    """What kind of file is asked for is heard."""
    assert intent in plan(text).intents


def test_a_plain_question_has_no_intent() -> None:
    """Ordinary prose lifts no penalty."""
    assert not plan("how are expired keys removed").intents
    assert not plan("latency in µs, O(n²), naïve Bayes – and 3 times at that").intents


def test_over_the_limit_is_a_clear_error() -> None:
    """1 MB of text is refused with its size and the limit."""
    with pytest.raises(TooLong, match="1,048,576"):
        plan("x" * 1_048_576)


def test_hostile_texts_at_the_limit_are_fast() -> None:
    """No pattern is quadratic in what a question may be."""
    started = time.thread_time()
    for unit in ("a", "a/", "'", '"', "a.", "_", "(", "A a", "#", "at ", 'File "', "数", "`", "\\", "<", "{", "%s "):
        plan(unit * (MAX_CHARACTERS // len(unit)))
    assert time.thread_time() - started < 5


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_legal_question(text: str) -> None:
    """Whatever is asked, there is a plan, and its words are words."""
    made = plan(text)

    assert made.kind in ("symbol", "prose", "literal", "path")
    for concept in made.concepts:
        for run in concept.alternatives:
            assert run and all(word and '"' not in word and "\0" not in word for word in run)


@pytest.mark.parametrize(
    ("text", "literals"),
    [
        ("Error: wrong number of arguments for '%s' command", ()),
        ("why does \"--flag\" need 'x'", ("--flag",)),
        ("'%'", ("%",)),
        ('"x"', ("x",)),
        ("'--'", ("--",)),
    ],
)
def test_what_stands_for_something_else_is_no_literal(text: str, literals: tuple[str, ...]) -> None:
    """A sign or two in quotes is looked for as it stands only where nothing else was said."""
    assert tuple(one for one in plan(text).literals if one != text) == literals
