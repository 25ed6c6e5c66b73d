"""`ctx outline`, `ctx chunk`, `ctx files`, `ctx status`. Runs in the client process."""

from __future__ import annotations

import os
from typing import Any

import click

from ctxclient import completing
from ctxclient.commands import options
from ctxprotocol.messages import Chunk, Files, Outline, Status

MAX_LINE = (1 << 31) - 1


class FileLine(click.ParamType):  # type: ignore[type-arg]
    """A place written as FILE:LINE."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Return the file and the line."""
        if isinstance(value, tuple):
            return value
        file, _, line = str(value).rpartition(":")
        if not (file and line.isascii() and line.isdigit() and 0 < int(line[:10]) <= MAX_LINE):
            self.fail(f"{value!r} is not FILE:LINE, as in src/pool.py:12", param, ctx)
        return file, int(line)


@click.command("outline", epilog=options.examples("ctx outline src/pool.py"))
@click.argument("file", metavar="FILE", shell_complete=completing.files)
@options.waits
@options.limit("50")
@options.languages
@options.paths
@options.kind
def outline(file: str, **given: Any) -> int:
    """Show the definitions of one file as an indented tree with signatures."""
    return options.send(Outline, {**given, "file": _named(file)})


@click.command("chunk", epilog=options.examples("ctx chunk src/pool.py:12", "ctx chunk src/pool.py:12 --around 1"))
@click.argument("place", metavar="FILE:LINE", type=FileLine(), shell_complete=completing.files)
@options.waits
@click.option("--around", type=click.IntRange(0, 1000), metavar="N", help="Its neighbours on each side, too (0).")
def chunk(place: tuple[str, int], **given: Any) -> int:
    """Show the chunk that holds a line."""
    return options.send(Chunk, {**given, "file": _named(place[0]), "line": place[1]})


@click.command("files", epilog=options.examples("ctx files --lang python", "ctx files --path 'src/**' --limit 1000"))
@click.argument("dir", required=False, metavar="[DIR]", type=options.Place())
@options.waits
@options.limit("50")
@options.languages
@options.paths
@options.excludes
@options.content
def files(dir: str | None, **given: Any) -> int:
    """List the indexed paths."""
    return options.send(Files, given, dir or "")


@click.command("status", epilog=options.examples("ctx status", "ctx status --skipped"))
@click.argument("dir", required=False, metavar="[DIR]", type=options.Place())
@options.waits
@click.option("--skipped", is_flag=True, help="List the skipped files, each with its reason.")
def status(dir: str | None, **given: Any) -> int:
    """Show what is indexed: files, chunks, symbols by language, what was skipped, how fresh it is."""
    return options.send(Status, given, dir or "")


def _named(file: str) -> bytes:
    if not file:
        raise click.BadParameter("an empty name is no file.", param_hint="FILE")
    return os.fsencode(file)
