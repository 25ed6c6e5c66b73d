"""`ctx query`, `ctx find`, `ctx symbols`. Runs in the client process."""

from __future__ import annotations

from typing import Any

import click

from ctxclient import plain
from ctxclient.commands import options
from ctxprotocol.messages import Find, Query, Symbols

explain = click.option("--explain", is_flag=True, help="Show every part of each score.")
semantic = click.option(
    "--semantic/--no-semantic",
    default=None,
    help="Search by meaning too, or never (default: where words find little).",
)

llm = click.option(
    "--llm/--no-llm", help="Let the language model of llm.providers plan the search and judge what was found."
)


@click.command(
    "query",
    epilog=options.examples(
        'ctx query "where is authentication handled"',
        'ctx query "retry policy" --budget 3000 --path "src/**"',
        'ctx query "who calls retry" --session "$$"',
        "pytest 2>&1 | tail -40 | ctx query -",
    ),
)
@click.argument("text", nargs=-1, required=True, metavar="TEXT")
@options.waits
@options.limit("as the budget allows", "CTX_SEARCH_LIMIT")
@options.filters
@click.option(
    "--budget",
    type=click.IntRange(1, plain.MILLION),
    metavar="TOKENS",
    envvar="CTX_SEARCH_BUDGET",
    help="How many tokens the answer may use (1200).",
)
@click.option("--full", is_flag=True, help="Show whole code with line numbers.")
@click.option("--stubs", is_flag=True, help="Show one line per result, no code.")
@explain
@semantic
@llm
@click.option("--session", metavar="ID", help="Leave out code that was sent to this session before.")
def query(text: tuple[str, ...], **given: Any) -> int:
    """Compile the context for a question into a token budget.

    TEXT is any text: a question, a name, an error message. `-` reads it from standard input.
    """
    given["session"] = plain.text(given["session"] or "")
    return options.send(Query, {**given, "text": options.words(text)})


@click.command(
    "find",
    epilog=options.examples(
        "ctx find create_pool", 'ctx find "expired keys" --lang c --limit 10', "ctx find -- --maxmemory"
    ),
)
@click.argument("text", nargs=-1, required=True, metavar="TEXT")
@options.waits
@options.limit("5", "CTX_SEARCH_LIMIT")
@options.filters
@click.option("--full", is_flag=True, help="Show the code with line numbers.")
@explain
@semantic
@llm
def find(text: tuple[str, ...], **given: Any) -> int:
    """Find ranked places for a text, with one line about each.

    TEXT is a name or any text. `-` reads it from standard input.
    """
    return options.send(Find, {**given, "text": options.words(text)})


@click.command(
    "symbols",
    epilog=options.examples("ctx symbols create_pool", "ctx symbols 'Pool*' --type class", "ctx symbols Pool.close"),
)
@click.argument("pattern", required=False, default="", metavar="[PATTERN]")
@options.waits
@options.limit("50")
@options.filters
def symbols(pattern: str, **given: Any) -> int:
    """List defined names.

    PATTERN is a name, exact (also qualified: A.b, A::b, A#b), or a glob with * and ?; without it all are listed.
    """
    return options.send(Symbols, {**given, "pattern": plain.text(pattern)})
