"""`ctx callers`, `ctx callees`, `ctx deps`. Runs in the client process."""

from __future__ import annotations

import os
from typing import Any

import click

from ctxclient import completing, plain
from ctxclient.commands import options
from ctxprotocol.messages import Callees, Callers, Deps

kind = click.option(
    "--type",
    "kind",
    metavar="KIND",
    shell_complete=completing.kinds,
    help="Only this kind of reference: call, type, extends ...",
)


@click.command(
    "callers",
    epilog=options.examples("ctx callers create_pool", "ctx callers Pool.take --type call", "ctx callers src/a.py:12"),
)
@click.argument("name", metavar="NAME")
@options.waits
@options.limit("50")
@options.languages
@options.paths
@options.excludes
@kind
def callers(name: str, **given: Any) -> int:
    """List what refers to a name: each line, what it stands in, how sure it is.

    NAME is a name, also qualified (A.b, A::b, A#b), PATH:NAME, or FILE:LINE of a definition. Each reference is sure,
    ambiguous or unresolved, with the rule that said so.
    """
    return options.send(Callers, {**given, "name": _named(name)})


@click.command("callees", epilog=options.examples("ctx callees Pool.take", "ctx callees src/pool.py:12 --json"))
@click.argument("name", metavar="NAME")
@options.waits
@options.limit("50")
@options.languages
@options.paths
@options.excludes
@kind
def callees(name: str, **given: Any) -> int:
    """List what a definition refers to, with the place of each.

    NAME is a name, also qualified (A.b, A::b, A#b), PATH:NAME, or FILE:LINE of a definition.
    """
    return options.send(Callees, {**given, "name": _named(name)})


@click.command("deps", epilog=options.examples("ctx deps src/pool.py", "ctx deps src/pool.py --reverse --depth 2"))
@click.argument("file", metavar="FILE", shell_complete=completing.files)
@options.waits
@options.limit("50")
@options.languages
@options.paths
@options.excludes
@click.option("--depth", type=click.IntRange(1, 100), metavar="N", help="How many steps to follow (1).")
@click.option("--reverse", is_flag=True, help="Show what imports the file instead.")
def deps(file: str, **given: Any) -> int:
    """Show what a file imports, or with --reverse what imports it."""
    if not file:
        raise click.BadParameter("an empty name is no file.", param_hint="FILE")
    return options.send(Deps, {**given, "file": os.fsencode(file)})


def _named(name: str) -> str:
    if not name:
        raise click.BadParameter("an empty name is none.", param_hint="NAME")
    return plain.text(name)
