"""`ctx completion`: the script that lets a shell complete `ctx`. Runs in the client process."""

from __future__ import annotations

import json
from typing import Any

import click
from click.shell_completion import ShellComplete, get_completion_class

from ctxclient import plain
from ctxclient.commands import options

SHELLS = ("bash", "zsh", "fish", "powershell")
VARIABLE = "_CTX_COMPLETE"


@click.command(
    "completion",
    epilog=options.examples(
        'eval "$(ctx completion bash)"                                      # in ~/.bashrc; zsh alike in ~/.zshrc',
        "ctx completion fish > ~/.config/fish/completions/ctx.fish",
        "ctx completion powershell | Out-String | Invoke-Expression         # in $PROFILE",
    ),
)
@click.argument("shell", type=click.Choice(SHELLS), metavar="SHELL")
@options.common
def completion(shell: str, as_json: bool, **_: Any) -> int:
    """Print the script that lets SHELL complete ctx: bash, zsh, fish or powershell."""
    words = script(shell)
    if as_json:
        words = json.dumps({"schema": 1, "shell": shell, "script": words}, separators=(",", ":")) + "\n"
    return plain.deliver(words.encode(), b"", 0)


def script(shell: str) -> str:
    """Return the script for one of SHELLS."""
    from ctxclient import cli

    kind = get_completion_class(shell)
    assert kind is not None
    # Not kind.source: for bash it runs the bash on this machine, to complain about its version.
    return ShellComplete.source(kind(cli.ctx, {}, "ctx", VARIABLE)).strip("\n") + "\n"
