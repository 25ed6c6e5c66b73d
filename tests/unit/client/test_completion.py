"""Completion: the scripts, and what the shells' protocol answers at each place of a line."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import typing
from collections.abc import Callable
from pathlib import Path

import pytest

from ctxclient import completing
from ctxprotocol.messages import Answer, Languages
from tests.unit.client.conftest import CTX, FakeDaemon, welcome

Run = Callable[..., subprocess.CompletedProcess[str]]
SHELLS = ("bash", "zsh", "fish", "powershell")


def offered(run: Run, line: str, shell: str = "bash") -> list[str]:
    """Return what is offered where `line` ends, as bash gets it: `type,value`."""
    words = line.split(" ")
    environ = {"_CTX_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    done = run(env={**os.environ, **environ})
    assert done.stderr == ""
    return done.stdout.splitlines()


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_a_script(shell: str, run: Run) -> None:
    """It names the command and the protocol; nothing is said on stderr."""
    done = run("completion", shell)

    assert (done.returncode, done.stderr) == (0, "")
    assert "_CTX_COMPLETE" in done.stdout and "ctx" in done.stdout and done.stdout.endswith("\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ctx comp", ["plain,completion"]),
        ("ctx daemon sta", ["plain,start", "plain,status"]),
        ("ctx find --ti", ["plain,--timeout"]),
        ("ctx find --color a", ["plain,auto", "plain,always"]),
        ("ctx find --type me", ["plain,method"]),
        ("ctx callers --type ex", ["plain,extends"]),
        ("ctx find --lang py", ["plain,python"]),
        ("ctx outline src/p", ["file,src/p"]),
        ("ctx deps src/p", ["file,src/p"]),
        ("ctx chunk src/p", ["file,src/p"]),
        ("ctx find --path src/p", ["file,src/p"]),
        ("ctx find -C src/p", ["dir,src/p"]),
        ("ctx status src/p", ["dir,src/p"]),
        ("ctx watch src/p", ["dir,src/p"]),
        ("ctx config set search.l", ["plain,search.limit"]),
        ("ctx completion z", ["plain,zsh"]),
        ("ctx fnd --li", []),
        ("ctx daemon strat x", []),
    ],
)
def test_what_is_offered(line: str, expected: list[str], state: str, run: Run) -> None:
    """Commands, options, their values, keys; files and directories are the shell's own to complete."""
    assert offered(run, line) == expected
    assert not os.path.exists(state), "completing must not make or start anything"


def test_the_running_daemon_names_its_languages(fake: FakeDaemon, run: Run) -> None:
    """All that it knows, not only the common ones."""
    fake.script = lambda peer: peer.say(welcome(), Answer(out="cobol\ncoffeescript\npython\n"))

    assert offered(run, "ctx files --lang co") == ["plain,cobol", "plain,coffeescript"]
    assert [type(request) for request in fake.requests] == [Languages]


@pytest.mark.parametrize(
    ("shell", "shown"),
    [("zsh", ["plain", "method", "_"]), ("fish", ["plain,method"]), ("powershell", ["plain", "method", "_"])],
)
def test_every_shell_is_answered_in_its_own_form(shell: str, shown: list[str], state: str, run: Run) -> None:
    """The same offer as each shell's script reads it."""
    line = "ctx find --type me"
    environ = {"_CTX_COMPLETE": f"{shell}_complete", "COMP_WORDS": line, "COMP_CWORD": "3"}
    if shell == "fish":
        environ |= {"COMP_WORDS": "ctx find --type", "COMP_CWORD": "me"}

    assert run(env={**os.environ, **environ}).stdout.splitlines() == shown


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes_for_real(state: str, tmp_path: Path) -> None:
    """The script, taken in by bash, fills COMPREPLY for a line as bash would."""
    script = """
        eval "$(ctx completion bash)"
        COMP_WORDS=(ctx find --type fun); COMP_CWORD=3
        compopt() { :; }
        _ctx_completion ctx fun --type
        echo "${COMPREPLY[@]}"
        complete -p ctx
    """
    environ = {**os.environ, "PATH": f"{Path(CTX).parent}:{os.environ['PATH']}"}

    done = subprocess.run(["bash", "--norc", "-c", script], env=environ, capture_output=True, text=True, check=False)

    assert done.stdout.splitlines() == ["function", "complete -o nosort -F _ctx_completion ctx"], done.stderr


def test_kinds_and_languages_are_the_daemons() -> None:
    """What the client offers by itself is what the daemon takes."""
    from ctxd import model
    from ctxd.parse import languages

    assert tuple(sorted(typing.get_args(model.SymbolKind))) == completing.KINDS
    assert tuple(sorted(typing.get_args(model.ReferenceKind))) == completing.REFERENCE_KINDS
    assert set(completing.COMMON_LANGUAGES) <= set(languages.names())


def test_completing_a_command_loads_none() -> None:
    """The first key press costs click alone."""
    code = (
        "import sys\nfrom ctxclient import cli\nimport click\n"
        "assert cli.ctx.shell_complete(click.Context(cli.ctx), 'fi')[0].value == 'find'\n"
        "print(*(name for name in sys.modules if name.startswith(('ctxclient.commands', 'msgspec'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == ""
