"""The hot path and click make the same bytes of the same command line, for lists derived from click's commands."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator

import click
import pytest

from ctxclient import cli, plain
from ctxclient.commands import options
from ctxprotocol import framing
from ctxprotocol.messages import Answer, AnyRequest

SEED = int(os.environ.get("CTX_TEST_SEED", "20260101"))
HOT = (
    *("query", "find", "symbols", "outline", "callers", "callees", "deps", "chunk", "files", "status"),
    "daemon status",
)
WORDS = ["pool", "a b", "-", "", "ünï", "a\udcffb", "*.py", "src/**", "x=y", "--", "-x", "--json", "0", "7"]
PLACES = ["a.py:1", "a.py:0", "a.py", ":3", "a b.py:12", "c:\\x.py:4", "a.py:99999999999", "a.py:2:3", "ü.c:5"]
VALUES = {
    "limit": ["1", "20", "1000000", "1000001", "0", "-1", " 5", "1_0", "+3", "x", "", "٣"],
    "budget": ["500", "0", "1200"],
    "around": ["0", "1", "1001"],
    "depth": ["1", "3", "0", "101"],
    "fresh_within_ms": ["0", "5000", "70000", "-1"],
    "index_wait_ms": ["0", "10", "0.5", "nan", "86401"],
    "timeout_ms": ["60", "1", "0", "1.5", "86400", "inf", "1e3"],
    "directory": [".", "..", "/", "sub", "a\udcff", "", "none/../sub"],
}


def command_of(name: str) -> click.Command:
    found: click.Command = cli.ctx
    for part in name.split():
        assert isinstance(found, click.Group)
        child = found.get_command(click.Context(found), part)
        assert child is not None
        found = child
    return found


def values_of(option: click.Option) -> list[str]:
    if isinstance(option.type, click.Choice):
        return [*map(str, option.type.choices), "other", "ALL"]
    return VALUES.get(str(option.name), WORDS)


def spellings(option: click.Option, value: str) -> Iterator[list[str]]:
    for flag in (*option.opts, *option.secondary_opts):
        if option.is_flag:
            yield [flag]
            continue
        yield [flag, value]
        yield [f"{flag}={value}"]
        if not flag.startswith("--"):
            yield [flag + value]


def words_for(name: str) -> list[list[str]]:
    if name == "chunk":
        return [[place] for place in PLACES]
    if name == "daemon status":
        return [[], ["x"]]
    return [[], *([word] for word in WORDS), ["two", "words"], ["--", "-x"], ["--", "--json", "--"], ["a", "--", "-b"]]


def derived(name: str) -> Iterator[list[str]]:
    """Every word, every option in every spelling with every value, alone; then once more, for repetition."""
    plain_words = ["a.py:3"] if name == "chunk" else [] if name == "daemon status" else ["w"]
    yield from words_for(name)
    for option in command_of(name).params:
        if not isinstance(option, click.Option):
            continue
        for value in values_of(option):
            for spelled in spellings(option, value):
                yield [*spelled, *plain_words]
                yield [*plain_words, *spelled, *spelled]
        yield [*plain_words, option.opts[0]]


def at_random(name: str, rng: random.Random) -> list[str]:
    """Some options and words in any order."""
    parts = [rng.choice(words_for(name))]
    found = [option for option in command_of(name).params if isinstance(option, click.Option)]
    parts += [
        rng.choice(list(spellings(option, rng.choice(values_of(option)[:3]))))
        for option in rng.choices(found, k=rng.randint(0, 5))
    ]
    rng.shuffle(parts)
    return [word for part in parts for word in part]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> list[AnyRequest]:
    """What click's commands asked for; there is no daemon."""
    requests: list[AnyRequest] = []

    def ask(request: AnyRequest, *, may_start: bool = True) -> Answer:
        requests.append(request)
        return Answer()

    monkeypatch.setattr(options, "ask", ask)
    monkeypatch.chdir(str(tmp_path))
    os.mkdir("sub")
    os.symlink("sub", "link")
    return requests


def by_click(argv: list[str], asked: list[AnyRequest]) -> bytes | None:
    asked.clear()
    code = cli.run(argv)
    assert len(asked) == (1 if code == 0 else 0)
    return framing.pack(asked[0]) if asked else None


def by_hand(argv: list[str]) -> bytes | None:
    parsed = plain.parse(argv, os.environ)
    return plain.encode(*parsed) if parsed else None


@pytest.mark.parametrize("name", HOT)
def test_derived_lists_give_the_same_bytes(name: str, asked: list[AnyRequest]) -> None:
    """Where the hot path answers at all, it sends what click would send; and it answers the plain lists."""
    sure = refused = 0
    for rest in derived(name):
        argv = [*name.split(), *rest]
        fast, slow = by_hand(argv), by_click(argv, asked)
        sure += fast is not None
        refused += slow is None
        assert fast is None or fast == slow, argv
    assert sure > (5 if name == "daemon status" else 40)
    assert refused > 0


@pytest.mark.parametrize("name", HOT)
def test_random_lists_give_the_same_bytes(name: str, asked: list[AnyRequest]) -> None:
    """So do options and words in any order and number."""
    rng = random.Random(f"{SEED} {name}")
    for round_ in range(80):
        argv = [*name.split(), *at_random(name, rng)]
        fast = by_hand(argv)
        if fast is not None:
            assert fast == by_click(argv, asked), f"seed {SEED}, round {round_}: {argv}"


@pytest.mark.parametrize("name", HOT)
def test_every_plain_option_is_known_to_the_hot_path(name: str, asked: list[AnyRequest]) -> None:
    """An option that click has and the hot path does not would silently cost 50 ms."""
    good = {"directory": "sub", "color": "never", "content": "docs"}
    words = ["a.py:3"] if name == "chunk" else [] if name == "daemon status" else ["w"]
    for option in command_of(name).params:
        if not isinstance(option, click.Option):
            continue
        for spelled in spellings(option, good.get(str(option.name), "3")):
            if spelled[0] not in ("-h", "--help") and (spelled[0].startswith("--") or len(spelled) > 1):
                argv = [*name.split(), *words, *spelled]
                assert by_hand(argv) is not None, argv


SURROUNDINGS = [
    {},
    {"HOME": "/home/ü", "CTX_ROOT": "link"},
    {"CTX_ROOT": "/a/b/../c", "CTX_SEARCH_LIMIT": "9", "CTX_SEARCH_BUDGET": "700"},
    {"CTX_SEARCH_LIMIT": "many"},
    {"CTX_SEARCH_BUDGET": "0", "NO_COLOR": "1"},
    {"CTX_SEARCH_LIMIT": "", "CTX_ROOT": ""},
]


@pytest.mark.parametrize("surroundings", SURROUNDINGS)
@pytest.mark.parametrize("terminal", [frozenset(), frozenset({1}), frozenset({2}), frozenset({1, 2})])
def test_surroundings_travel_alike(
    surroundings: dict[str, str],
    terminal: frozenset[int],
    asked: list[AnyRequest],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Directories, variables and terminals of the caller reach the request alike on both ways."""
    monkeypatch.setattr(os, "isatty", lambda descriptor: descriptor in terminal)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "xterm")
    for name, value in surroundings.items():
        monkeypatch.setenv(name, value)

    for name in HOT:
        words = ["a.py:3"] if name == "chunk" else [] if name == "daemon status" else ["w"]
        for rest in ([], ["-C", "link"], ["--color", "always"], ["--limit", "2"], ["--index-wait", "3"]):
            argv = [*name.split(), *words, *rest]
            fast, slow = by_hand(argv), by_click(argv, asked)
            assert fast == slow or (fast is None and rest[:1] == ["--limit"]) or slow is None, argv
            assert fast is None or slow is not None, argv


def test_defaults_are_the_messages_own() -> None:
    """The hot path's table of fields and defaults is that of the messages."""
    from ctxprotocol import messages

    kinds = {kind.__struct_config__.tag: kind for kind in AnyRequest.__args__}
    for tag, fields in plain.FIELDS.items():
        kind = kinds[tag]
        assert fields == kind.__struct_fields__
        for name in fields:
            default = {field.name: field.default for field in messages.msgspec.structs.fields(kind)}[name]
            if name in plain.DEFAULTS:
                assert plain.DEFAULTS[name] == default, (tag, name)
