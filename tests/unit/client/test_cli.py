"""The command line as a person meets it: transcripts of help and of mistakes."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Callable

import click
import pytest

from ctxclient import cli
from ctxclient.cli import COMMANDS

Run = Callable[..., subprocess.CompletedProcess[str]]

TRANSCRIPTS = """\
$ ctx find x --limt 3
ctx: no such option: --limt
  did you mean --limit or --llm or --timeout?
  a text that begins with - goes after --: ctx find -- --limt
  usage: ctx find [OPTIONS] TEXT
  more: ctx find --help
exit 2

$ ctx finde pool
ctx: no such command: finde
  did you mean ctx find?
exit 2

$ ctx where is authentication handled
ctx: no such command: where
  to ask a question: ctx query "where is authentication handled"
exit 2

$ ctx xyzzy
ctx: no such command: xyzzy
  to search for it: ctx find xyzzy
  commands: ctx --help
exit 2

$ ctx
ctx: no command given
  to ask a question: ctx query TEXT
  all commands: ctx --help
exit 2

$ ctx find
ctx: missing TEXT
  usage: ctx find [OPTIONS] TEXT
  more: ctx find --help
exit 2

$ ctx find -x
ctx: no such option: -x
  a text that begins with - goes after --: ctx find -- -x
  usage: ctx find [OPTIONS] TEXT
  more: ctx find --help
exit 2

$ ctx chunk a.py
ctx: invalid value for 'FILE:LINE': 'a.py' is not FILE:LINE, as in src/pool.py:12
  usage: ctx chunk [OPTIONS] FILE:LINE
  more: ctx chunk --help
exit 2

$ ctx find x --limit 0
ctx: invalid value for '--limit': 0 is not in the range 1<=x<=1000000
  usage: ctx find [OPTIONS] TEXT
  more: ctx find --help
exit 2

$ ctx find x --timeout nan
ctx: invalid value for '--timeout': 'nan' is not a number of seconds from 0.001 to 86400
  usage: ctx find [OPTIONS] TEXT
  more: ctx find --help
exit 2

$ ctx find x --content history
ctx: invalid value for '--content': 'history' is not one of 'code', 'docs', 'config', 'all'
  usage: ctx find [OPTIONS] TEXT
  more: ctx find --help
exit 2

$ ctx daemon strat
ctx: no such command: daemon strat
  did you mean ctx daemon start?
exit 2

$ ctx find x --color alwys
ctx: invalid value for '--color': 'alwys' is not one of 'auto', 'always', 'never'
  did you mean always?
  usage: ctx find [OPTIONS] TEXT
  more: ctx find --help
exit 2

$ ctx completion bsh
ctx: invalid value for 'SHELL': 'bsh' is not one of 'bash', 'zsh', 'fish', 'powershell'
  did you mean bash?
  usage: ctx completion [OPTIONS] SHELL
  more: ctx completion --help
exit 2

$ ctx find x --lang
ctx: option '--lang' requires an argument
  as in --lang VALUE
exit 2

$ ctx grep pool
ctx: no such command: grep
  did you mean ctx find?
exit 2

$ ctx help
ctx: no such command: help
  did you mean ctx --help?
exit 2

$ ctx symbols a b
ctx: got unexpected extra argument (b)
  words that belong together go in quotes
  usage: ctx symbols [OPTIONS] [PATTERN]
  more: ctx symbols --help
exit 2

$ ctx find x --maxmemory
ctx: no such option: --maxmemory
  a text that begins with - goes after --: ctx find -- --maxmemory
  usage: ctx find [OPTIONS] TEXT
  more: ctx find --help
exit 2

$ ctx daemon status
ctx: no daemon is running
  ctx daemon start starts one
exit 3

$ ctx daemon stop
no daemon was running
exit 0

$ ctx find x
ctx: no daemon of this version is running, and CTX_NO_START forbids to start one
exit 3

$ ctx --version
ctx 0.1.0
exit 0
"""


@pytest.mark.parametrize("story", TRANSCRIPTS.split("\n\n"), ids=lambda story: story.split("\n")[0])
def test_transcript(story: str, state: str, run: Run) -> None:
    """A mistake is answered with what to do instead."""
    command = story.split("\n")[0].removeprefix("$ ctx").split()

    done = run(*command)

    shown = f"$ {' '.join(['ctx', *command])}\n{done.stdout}{done.stderr}exit {done.returncode}"
    assert shown == story.rstrip("\n")


@pytest.mark.parametrize(
    ("command", "code", "error"),
    [
        (["find", "--json", "x", "--limit", "b"], 2, "usage"),
        (["find", "--jsn", "--json"], 2, "usage"),
        (["daemon", "status", "--json"], 3, "daemon_unreachable"),
        (["repos", "--json"], 3, "daemon_unreachable"),
    ],
)
def test_errors_as_json(command: list[str], code: int, error: str, state: str, run: Run) -> None:
    """With --json every error is one object on stdout, and the exit code is the same."""
    done = run(*command)

    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (code, "")
    assert (found["schema"], found["error"]["code"]) == (1, error)
    assert found["error"]["message"] and "hint" in found["error"]


def leaves(group: click.Group, name: str = "") -> list[tuple[str, click.Command]]:
    found: list[tuple[str, click.Command]] = []
    for child in group.list_commands(click.Context(group)):
        command = group.get_command(click.Context(group), child)
        assert command is not None
        found += [(f"{name} {child}".strip(), command)]
        if isinstance(command, click.Group):
            found += leaves(command, child)
    return found


@pytest.mark.parametrize(
    ("name", "command"), leaves(cli.ctx), ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_command_has_help_with_an_example(name: str, command: click.Command) -> None:
    """--help of each command shows a call of it, and describes each option."""
    text = command.get_help(click.Context(command, info_name=f"ctx {name}"))

    assert f"ctx {name}" in text.partition("Example")[2]
    options = [option for option in command.params if isinstance(option, click.Option)]
    assert all(option.help for option in options)
    if not isinstance(command, click.Group):
        assert {"--dir", "--json", "--color"} <= {flag for option in options for flag in option.opts}


def test_help_lists_every_command_with_its_own_line(run: Run) -> None:
    """The lines of `ctx --help` are those of the commands themselves."""
    listed = run("--help").stdout

    for name, (_, _, line) in COMMANDS.items():
        command = cli.ctx.get_command(click.Context(cli.ctx), name)
        assert command is not None and command.help is not None
        assert f"  {name:<11} {line}" in listed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_is_there(shell: str, run: Run) -> None:
    """Each shell gets its completion script from click."""
    import os

    done = run(env={**os.environ, "_CTX_COMPLETE": f"{shell}_source"})

    assert done.returncode == 0 and "_CTX_COMPLETE" in done.stdout


def test_a_gone_directory_is_told(state: str, run: Run, tmp_path) -> None:
    """The current directory was removed: exit 4 and what to do."""
    gone = tmp_path / "gone"
    gone.mkdir()
    script = f"cd {gone} && rmdir {gone} && {shlex.quote(sys.executable)} -m ctxclient.fast find x"

    done = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True)

    assert (done.returncode, done.stderr.splitlines()[0]) == (4, "ctx: the current directory does not exist any more")


def test_loading_cli_loads_no_command() -> None:
    """`import ctxclient.cli` brings click, and neither msgspec nor any command."""
    code = "import sys, ctxclient.cli; print(*sys.modules)"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )

    assert "click" in loaded
    assert not {"msgspec", "asyncio", "apsw", "psutil", "subprocess", "ctxd"} & loaded
    assert not any(name.startswith("ctxclient.commands") for name in loaded)
