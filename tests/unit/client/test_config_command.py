"""`ctx config` as a person meets it: what it prints, what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxprotocol.settings import KEYS

Run = Callable[..., subprocess.CompletedProcess[str]]

STORY = """\
$ ctx config get search.limit
5
exit 0

$ ctx config set search.limit 10
search.limit is 10, in CONFIG
exit 0

$ ctx config set search.limit 10
search.limit is 10, in CONFIG; it was so before
exit 0

$ ctx config get search.limit
10
exit 0

$ ctx config set index.ignore gen/ *.min.css
index.ignore is gen/ *.min.css, in CONFIG
exit 0

$ ctx config get index.ignore
gen/
*.min.css
exit 0

$ ctx config set daemon.log_level debug
daemon.log_level is debug, in CONFIG
note: counts when the daemon starts: ctx daemon restart
exit 0

$ ctx config unset search.limit
search.limit is 5, the default
exit 0

$ ctx config set index.follow_symlinks yes
ctx: index.follow_symlinks cannot be 'yes'
  it takes true or false
exit 2

$ ctx config set search.limit 0
ctx: search.limit cannot be '0'
  it takes a number from 1 to 1000
exit 2

$ ctx config set daemon.log_level loud
ctx: daemon.log_level cannot be 'loud'
  it takes one of debug, info, warning, error
exit 2

$ ctx config get budget
ctx: unknown key budget
  did you mean search.budget?
exit 2

$ ctx config get search.limt
ctx: unknown key search.limt
  did you mean search.limit?
exit 2

$ ctx config get colour
ctx: unknown key colour
  all keys: ctx config list
exit 2

$ ctx config lst
ctx: no such command: config lst
  did you mean ctx config list?
exit 2

$ ctx config path
CONFIG
exit 0
"""


def test_story(state: str, run: Run) -> None:
    """One file through its life, and each mistake with what to do instead."""
    config = f"{state}/config.toml"
    for scene in STORY.rstrip("\n").split("\n\n"):
        command = scene.split("\n")[0].removeprefix("$ ctx ").split()

        done = run(*command)

        shown = f"$ ctx {' '.join(command)}\n{done.stdout}{done.stderr}exit {done.returncode}"
        assert shown.replace(config, "CONFIG") == scene
    with open(config) as file:
        assert file.read() == '[search]\n\n[index]\nignore = ["gen/", "*.min.css"]\n\n[daemon]\nlog_level = "debug"\n'


def test_list_says_where_each_value_comes_from(state: str, run: Run) -> None:
    """Default, file, or this request's environment, for every key; the same without the word."""
    run("config", "set", "index.max_files", "77")
    environ = {**os.environ, "CTX_SEARCH_LIMIT": "3"}

    text = run("config", "list", env=environ).stdout
    rows = {row["key"]: row for row in json.loads(run("config", "--json", env=environ).stdout)["results"]}

    assert set(rows) == set(KEYS)
    assert {key: row["origin"] for key, row in rows.items() if row["origin"] != "default"} == {
        "index.max_files": "file",
        "search.limit": "environment",
    }
    assert (rows["search.limit"]["value"], rows["search.limit"]["default"]) == (3, 5)
    lines = [line.split() for line in text.splitlines()]
    assert ["search.limit", "3", "(environment:", "CTX_SEARCH_LIMIT)"] in lines
    assert ["index.max_files", "77", "(file)"] in lines and ["search.budget", "1200", "(default)"] in lines


def test_a_variable_that_means_nothing_is_told(state: str, run: Run) -> None:
    """As `find` tells it: exit 2."""
    done = run("config", "list", env={**os.environ, "CTX_SEARCH_BUDGET": "much"})

    assert (done.returncode, done.stderr.splitlines()[0]) == (2, "ctx: CTX_SEARCH_BUDGET is 'much'")


@pytest.mark.parametrize("command", [["list"], ["get", "search.limit"], ["set", "search.limit", "3"]])
def test_a_broken_file_is_named_and_stays(command: list[str], state: str, run: Run) -> None:
    """Exit 4 with line and column; the bytes are the person's."""
    os.makedirs(state, 0o700)
    path = Path(state) / "config.toml"
    path.write_text("search.limit = = 3\n")

    done = run("config", *command)

    assert done.returncode == 4 and f"{path}: Invalid value (at line 1, column 16)" in done.stderr
    assert path.read_text() == "search.limit = = 3\n"


def test_the_file_lies_where_the_platform_keeps_it(run: Run, tmp_path: Path) -> None:
    """Without CTX_HOME: below XDG_CONFIG_HOME, which is not made before it is needed."""
    environ = {**os.environ, "XDG_CONFIG_HOME": str(tmp_path / "c")}

    where = run("config", "path", env=environ).stdout.strip()
    assert where == str(tmp_path / "c/ctx/config.toml") and not (tmp_path / "c").exists()
    assert run("config", "set", "search.limit", "2", env=environ).returncode == 0

    assert Path(where).read_text() == "[search]\nlimit = 2\n"
