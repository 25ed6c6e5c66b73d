"""`ctx watch`: what the daemon does in a worktree, live. Runs in the client process, until it is interrupted."""

from __future__ import annotations

import os
from typing import Any

import click

from ctxclient import plain
from ctxclient.cli import INTERRUPTED_CODE
from ctxclient.client import ReaderGone, ask
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
        answer = ask(request, take=_print)
    except KeyboardInterrupt:
        return INTERRUPTED_CODE
    except ReaderGone:
        return 0
    return plain.deliver(answer.out.encode(), answer.notes.encode(), answer.code)


def _print(line: str) -> None:
    """Write to standard output at once. Raises ReaderGone, OSError."""
    view = memoryview(line.encode())
    while view:
        try:
            view = view[os.write(1, view) :]
        except BrokenPipeError:
            raise ReaderGone from None
        except BlockingIOError:
            import select

            select.select([], [1], [])
