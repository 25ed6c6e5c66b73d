"""`ctx auth` as a person meets it: what it asks, says and refuses; a key is in no output."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.unit.client.conftest import CTX

Run = Callable[..., subprocess.CompletedProcess[str]]
KEY = "sk-veryverysecretkey"


def test_a_key_is_set_listed_and_removed(state: str, run: Run) -> None:
    """Each step says where; the second removal says that there was none."""
    done = [
        run("auth", "list"),
        run("auth", "set", "openai", input=f"{KEY}\n", stdin=None),
        run("auth", "set", "voyage", "--from-env", "MY_KEY", env={**os.environ, "MY_KEY": KEY}),
        run("auth", "list"),
        run("auth", "remove", "openai"),
        run("auth", "remove", "openai"),
    ]

    kept = f"in {state}/keys.json (mode 600)"
    assert [(each.returncode, each.stdout, each.stderr) for each in done] == [
        (0, "no keys are kept; ctx auth set NAME keeps one\n", ""),
        (0, f"the key of openai is kept {kept}\n", ""),
        (0, f"the key of voyage is kept {kept}\n", ""),
        (0, f"openai  {kept}\nvoyage  {kept}\n", ""),
        (0, f"the key of openai is forgotten; it was {kept}\n", ""),
        (1, "", "ctx: no key of openai is kept\n  ctx auth list\n"),
    ]
    assert json.loads(Path(state, "keys.json").read_text())["keys"]["voyage"]["key"] == KEY


def test_json_has_no_key(state: str, run: Run) -> None:
    """Names and places alone."""
    kept = run("auth", "set", "openai", "--json", input=KEY, stdin=None).stdout
    listed = json.loads(run("auth", "list", "--json").stdout)
    removed = json.loads(run("auth", "remove", "openai", "--json").stdout)

    assert json.loads(kept) == {"schema": 1, "name": "openai", "kept": "file"}
    assert (listed["results"], removed["was"]) == ([{"name": "openai", "kept": "file"}], "file")


@pytest.mark.parametrize(
    ("args", "text", "says"),
    [
        (["openay"], KEY, "did you mean openai?"),
        (["nobody-knows"], KEY, "known: voyage, openai"),
        (["openai"], "", "the key is empty"),
        (["openai"], f"{KEY} {KEY}", "holds a blank"),
        (["openai", "--from-env", "NOT_SET_HERE"], "", "NOT_SET_HERE is not set here"),
        (["openai", KEY], "", "ps and the shell's history"),
    ],
)
def test_what_is_no_name_or_no_key_is_refused(state: str, run: Run, args: list[str], text: str, says: str) -> None:
    """With the reason, exit 2, and never with the key."""
    done = run("auth", "set", *args, input=text, stdin=None)

    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr and KEY not in done.stderr
    assert not Path(state, "keys.json").exists()


def test_a_provider_of_the_configuration_may_have_a_key(state: str, run: Run) -> None:
    """Also one whose name is the person's own."""
    Path(state).mkdir(0o700)
    Path(state, "config.toml").write_text(
        '[[llm.providers]]\nname = "house"\nendpoint = "https://llm.example/v1"\nkind = "openai"\nmodel = "m"\n'
    )

    assert run("auth", "set", "house", input=KEY, stdin=None).returncode == 0
    completed = run(
        env={**os.environ, "_CTX_COMPLETE": "bash_complete", "COMP_WORDS": "ctx auth set h", "COMP_CWORD": "3"}
    )
    assert "house" in completed.stdout


def test_on_a_terminal_the_key_is_asked_for_without_echo(state: str) -> None:
    """What is typed does not appear."""
    ours, theirs = pty.openpty()
    child = subprocess.Popen(
        [CTX, "auth", "set", "openai"], stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    try:
        shown = b""
        while b"not shown" not in shown:
            shown += os.read(ours, 1024)
        os.write(ours, f"{KEY}\n".encode())
        try:
            while piece := os.read(ours, 1024):
                shown += piece
        except OSError:
            pass  # the other end is closed
        assert child.wait(30) == 0
    finally:
        os.close(ours)
    assert KEY.encode() not in shown and b"is kept" in shown
    assert KEY in Path(state, "keys.json").read_text()
