"""The options that commands share, and how their values become a request.

Runs in the client process. plain.py knows the same options by its own table; the tests hold the two together.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click
import msgspec

from ctxclient import completing, plain
from ctxclient.client import ask
from ctxprotocol.errors import RootGone
from ctxprotocol.messages import AnyRequest, InWorktree, Request

Callback = TypeVar("Callback", bound=Callable[..., Any])
Wanted = TypeVar("Wanted", bound=Request)

DAY_S = 86_400


class Seconds(click.ParamType):  # type: ignore[type-arg]
    """Seconds on the command line, whole or not; milliseconds for the program."""

    name = "seconds"

    def __init__(self, lowest: float) -> None:
        self.lowest = lowest

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return milliseconds."""
        try:
            seconds = float(value)
        except ValueError:
            seconds = math.nan
        if not self.lowest <= seconds <= DAY_S:
            self.fail(f"{value!r} is not a number of seconds from {self.lowest:g} to {DAY_S}.", param, ctx)
        return round(seconds * 1000)


class Place(click.ParamType):  # type: ignore[type-arg]
    """The name of a directory; whether it is one is for the daemon to say."""

    name = "directory"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name as it is; an empty one is refused."""
        if not value:
            self.fail("an empty name is no directory.", param, ctx)
        return str(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> completing.Items:
        """Let the shell complete it."""
        return completing.directories(ctx, param, incomplete)


def _all(*options: Callable[[Callback], Callback]) -> Callable[[Callback], Callback]:
    def decorate(callback: Callback) -> Callback:
        for option in reversed(options):
            callback = option(callback)
        return callback

    return decorate


timeout = click.option(
    "--timeout", "timeout_ms", type=Seconds(0.001), metavar="S", help="How long the answer may take (60)."
)
common = _all(
    click.option("-C", "--dir", "directory", type=Place(), metavar="DIR", help="Act as if started in DIR."),
    click.option("--json", "as_json", is_flag=True, help="Print one JSON object."),
    click.option(
        "--color", type=click.Choice(["auto", "always", "never"]), default="auto", help="Colors (also NO_COLOR)."
    ),
)
waits = _all(
    common,
    timeout,
    click.option(
        "--fresh-within",
        "fresh_within_ms",
        type=click.IntRange(0, DAY_S * 1000),
        metavar="MS",
        help="How long to wait for freshness (5000); 0: do not wait.",
    ),
    click.option(
        "--index-wait",
        "index_wait_ms",
        type=Seconds(0),
        metavar="S",
        help="How long to wait for a first index (10; on a terminal until it is done).",
    ),
)


def limit(default: str, envvar: str | None = None) -> Callable[[Callback], Callback]:
    """Return the option --limit; `default` is for its help."""
    return click.option(
        "--limit",
        type=click.IntRange(1, plain.MILLION),
        metavar="N",
        envvar=envvar,
        help=f"How many results ({default}).",
    )


languages = click.option(
    "--lang",
    "--language",
    "languages",
    multiple=True,
    metavar="L",
    shell_complete=completing.languages,
    help="Only this language: ts, python, .go ...",
)
paths = click.option(
    "--path",
    "paths",
    multiple=True,
    metavar="GLOB",
    shell_complete=completing.files,
    help="Only paths that match.",
)
excludes = click.option(
    "--exclude",
    "excludes",
    multiple=True,
    metavar="GLOB",
    shell_complete=completing.files,
    help="No paths that match.",
)
kind = click.option(
    "--type",
    "kind",
    metavar="KIND",
    shell_complete=completing.kinds,
    help="Only this kind: function, class, method ...",
)
content = click.option(
    "--content", type=click.Choice(["code", "docs", "config", "all"]), default="all", help="Only this content (all)."
)
filters = _all(languages, paths, excludes, kind, content)


def examples(*lines: str) -> str:
    """Return an epilog for --help."""
    return "\n".join(["\b", "Examples:" if len(lines) > 1 else "Example:", *(f"  {line}" for line in lines)])


def send(kind_of_request: type[Wanted], given: dict[str, Any], word: str = "") -> int:
    """Ask the daemon for what click parsed (`given`), print the answer and return the exit code.

    `word` is a directory named without an option: it is taken from the one that -C names.
    """
    request = build(kind_of_request, given, word)
    return deliver(request)


def deliver(request: Request, *, may_start: bool = True) -> int:
    """Ask, print the answer and return the exit code."""
    assert isinstance(request, AnyRequest)
    answer = ask(request, may_start=may_start)
    return plain.deliver(answer.out.encode(), answer.notes.encode(), answer.code)


def build(kind_of_request: type[Wanted], given: dict[str, Any], word: str = "") -> Wanted:
    """Return the request for what click parsed; fields at their default are not set, so that they are not sent."""
    fields = dict(given)
    # Before the command (as with git) and after it: the second is taken from the first.
    context = click.get_current_context(silent=True)
    directories = (context.find_root().obj if context else None, fields.pop("directory", None), word)
    places = [name for name in directories if name]
    fields["output"] = "json" if fields.pop("as_json", False) else "text"
    fields["width"] = plain.width()
    fields["color"] = plain.color(fields["color"], os.environ)
    if issubclass(kind_of_request, InWorktree):
        try:
            fields["directory"] = plain.place(*places)
        except FileNotFoundError as error:
            raise RootGone("the current directory does not exist any more", "cd to one that does") from error
        fields["chosen"] = bool(places)
        fields["root"] = plain.place(os.environ["CTX_ROOT"]) if os.environ.get("CTX_ROOT") else b""
        fields["home"] = os.fsencode(os.environ.get("HOME", ""))
        if fields.get("index_wait_ms") is None and os.isatty(2):
            fields["index_wait_ms"] = -1
    for name in ("languages", "paths", "excludes"):
        if name in fields:
            fields[name] = tuple(map(plain.text, fields[name]))
    if fields.get("kind"):
        fields["kind"] = plain.text(fields["kind"])
    defaults = {field.name: field.default for field in msgspec.structs.fields(kind_of_request)}
    return kind_of_request(
        **{name: value for name, value in fields.items() if value is not None and value != defaults[name]}
    )


def words(found: Sequence[str]) -> str:
    """Return the text that the words of a command line make; a single `-` stands for standard input."""
    if list(found) != ["-"]:
        return plain.text(" ".join(found))
    import sys

    return sys.stdin.buffer.read().decode("utf-8", "replace").strip()
