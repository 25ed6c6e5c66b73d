"""`ctx init`, `ctx update`, `ctx forget`, `ctx repos`. Runs in the client process."""

from __future__ import annotations

from typing import Any

import click

from ctxclient.commands import options
from ctxprotocol.messages import Forget, Init, Repos, Update


@click.command("init", epilog=options.examples("ctx init", "ctx init ~/notes"))
@click.argument("dir", required=False, metavar="[DIR]", type=options.Place())
@options.waits
def init(dir: str | None, **given: Any) -> int:
    """Attach exactly this directory and index it; also a home directory or a plain folder."""
    return options.send(Init, given, dir or "")


@click.command("update", epilog=options.examples("ctx update", "ctx update --full"))
@click.argument("dir", required=False, metavar="[DIR]", type=options.Place())
@options.waits
@click.option("--full", is_flag=True, help="Build a new index beside the old one.")
def update(dir: str | None, **given: Any) -> int:
    """Bring the index up to date now."""
    return options.send(Update, given, dir or "")


@click.command("forget", epilog=options.examples("ctx forget ."))
@click.argument("dir", metavar="DIR", type=options.Place())
@options.waits
def forget(dir: str, **given: Any) -> int:
    """Detach a directory and delete its index; the directory itself is not touched."""
    return options.send(Forget, given, dir)


@click.command("repos", epilog=options.examples("ctx repos"))
@options.common
@options.timeout
def repos(**given: Any) -> int:
    """List what is attached."""
    return options.send(Repos, given)
