"""`ctx watch`: what the daemon does in a worktree, live. Runs in the client process, until it is interrupted."""

from __future__ import annotations

from typing import Any

import click

from ctxclient import live, plain
from ctxclient.cli import INTERRUPTED_CODE
from ctxclient.client import ask
from ctxclient.commands import options
from ctxprotocol.messages import Watch


@click.command("watch", epilog=options.examples("ctx watch", "ctx watch --json | jq .changed"))
@click.argument("dir", required=False, metavar="[DIR]", type=options.Place())
@options.common
def watch(dir: str | None, **given: Any) -> int:
    """Follow what the daemon does in a directory, live.

    A line for each thing that happens: files that changed or went, and how long their commit took; events that were
    lost; rebuilds; whether answers are fresh. Ends with Ctrl-C.
    """
    request = options.build(Watch, given, dir or "")
    try:
        answer = ask(request, take=live.say)
    except KeyboardInterrupt:
        return INTERRUPTED_CODE
    except live.ReaderGone:
        return 0
    return plain.deliver(answer.out.encode(), answer.notes.encode(), answer.code)
