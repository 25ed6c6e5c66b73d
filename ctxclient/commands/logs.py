"""`ctx daemon logs`: the daemon's log on standard output. Runs in the client process."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from ctxclient import live, plain
from ctxclient.cli import INTERRUPTED_CODE
from ctxclient.commands import options
from ctxclient.failures import printable
from ctxclient.log import Log
from ctxprotocol import endpoint
from ctxprotocol.errors import CtxError

# How soon a new line shows.
LOOK_MS = 200


@click.command(
    "logs", epilog=options.examples("ctx daemon logs", "ctx daemon logs -f", "ctx daemon logs -n 500 | grep ERROR")
)
@click.option("-f", "--follow", is_flag=True, help="Go on with each line that is written, until Ctrl-C.")
@click.option(
    "-n", "--lines", type=click.IntRange(0, plain.MILLION), default=50, metavar="N", help="How many lines (50)."
)
@options.common
def logs(follow: bool, lines: int, as_json: bool, color: str, **_: Any) -> int:
    """Show the daemon's log: its last lines, and with -f those that come. No daemon need run."""
    path = endpoint.log_path(endpoint.state_directory(os.environ))
    return show(path, lines, follow, as_json, plain.color(color, os.environ))


def show(path: str, lines: int, follow: bool, as_json: bool, colored: bool) -> int:
    """Print the last `lines` lines, go on if told to, and return the exit code."""
    try:
        with Log(path) as log:
            last = log.last(lines)
            if not follow:
                return _all(path, last, as_json, colored)
            for line in last or ():
                live.say(_written(line, as_json, colored))
            while True:
                live.wait(wait_ms=LOOK_MS)
                for line in log.news():
                    live.say(_written(line, as_json, colored))
    except KeyboardInterrupt:
        return INTERRUPTED_CODE
    except live.ReaderGone:
        return 0
    except OSError as error:
        raise CtxError(f"cannot read {error.filename or path}: {error.strerror}", "ctx doctor") from error


def _all(path: str, lines: list[str] | None, as_json: bool, colored: bool) -> int:
    """Print what there is; exit code 1 when no daemon has written anything yet."""
    missing = f"ctx: no daemon has written a log yet: {printable(path)}\n" if lines is None else ""
    if as_json:
        where = os.fsencode(path).decode("utf-8", "backslashreplace")
        found = {"schema": 1, "path": where, "results": [{"line": line} for line in lines or ()]}
        out, missing = json.dumps(found, ensure_ascii=False, separators=(",", ":")) + "\n", ""
    else:
        out = "".join(_written(line, False, colored) for line in lines or ())
    return plain.deliver(out.encode("utf-8", "backslashreplace"), missing.encode(), 1 if lines is None else 0)


def _written(line: str, as_json: bool, colored: bool) -> str:
    if as_json:
        return json.dumps({"schema": 1, "line": line}, ensure_ascii=False, separators=(",", ":")) + "\n"
    bold = colored and (" ERROR " in line or " WARNING " in line)
    return f"\x1b[1m{printable(line)}\x1b[0m\n" if bold else f"{printable(line)}\n"
