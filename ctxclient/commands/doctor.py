"""`ctx doctor`: checks the installation and says what to do. Runs in the client process; starts nothing."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from ctxclient import checks, plain
from ctxclient.commands import options
from ctxclient.failures import printable
from ctxclient.finding import BAD, NOTE, OK, Check

MARKS = {OK: "ok", NOTE: "note", BAD: "FIX"}


@click.command("doctor", epilog=options.examples("ctx doctor", "ctx doctor --json"))
@options.common
def doctor(as_json: bool, color: str, **_: Any) -> int:
    """Check the installation and say what to do; exit 1 if something needs doing."""
    found = checks.all_checks()
    code = 1 if any(check.state == BAD for check in found) else 0
    out = _as_json(found) if as_json else _as_text(found, plain.color(color, os.environ))
    return plain.deliver(out.encode("utf-8", "backslashreplace"), b"", code)


def _as_json(found: list[Check]) -> str:
    rows = [
        {"name": check.name, "state": check.state, "detail": check.detail, "remedy": check.remedy or None}
        for check in found
    ]
    good = all(check.state != BAD for check in found)
    return json.dumps({"schema": 1, "ok": good, "results": rows}, separators=(",", ":")) + "\n"


def _as_text(found: list[Check], colored: bool) -> str:
    bold, off = ("\x1b[1m", "\x1b[0m") if colored else ("", "")
    lines = []
    for check in found:
        line = f"{MARKS[check.state]:<5} {check.name:<10} {printable(check.detail)}"
        lines.append(f"{bold}{line}{off}" if check.state == BAD else line)
        if check.remedy:
            lines.append(f"      {'':<10} -> {printable(check.remedy)}")
    needed = sum(check.state == BAD for check in found)
    lines.append("" if needed else "all is well")
    if needed:
        lines[-1] = f"{needed} {'thing needs' if needed == 1 else 'things need'} doing"
    return "\n".join(lines) + "\n"
