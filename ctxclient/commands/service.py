"""`ctx daemon install` and `uninstall`: ctxd as a service of this user. Runs in the client process."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ctxclient import plain
from ctxclient.commands import options
from ctxclient.failures import printable

if TYPE_CHECKING:
    from ctxclient.service import Done

UNREACHABLE = "the service manager cannot be reached from here (no session of its own?); where it can be:"


@click.command("install", epilog=options.examples("ctx daemon install"))
@options.common
def install(as_json: bool, **_: Any) -> int:
    """Make the daemon a service of yours: systemd on Linux, launchd on macOS (untested).

    Writes the units into your own directory, with the full path of ctxd, and enables them. A unit that ctx did not
    write, or that was edited, stops it before anything is done. Without it the daemon starts by itself all the same.
    """
    from ctxclient import service

    return _tell(service.install(service.manager()), as_json, "")


@click.command("uninstall", epilog=options.examples("ctx daemon uninstall"))
@options.common
def uninstall(as_json: bool, **_: Any) -> int:
    """Take `install` back: disable the service and remove exactly the files that it wrote."""
    from ctxclient import service

    return _tell(service.uninstall(service.manager()), as_json, "nothing was installed")


def _tell(done: Done, as_json: bool, nothing: str) -> int:
    if as_json:
        found = {"schema": 1, "done": done.steps, "left": done.left}
        return plain.deliver((json.dumps(found, separators=(",", ":")) + "\n").encode(), b"", 0)
    lines = done.steps or [nothing]
    out = "".join(f"{printable(line)}\n" for line in lines)
    notes = "".join(f"{line}\n" for line in [UNREACHABLE, *(f"  {command}" for command in done.left)] if done.left)
    return plain.deliver(out.encode("utf-8", "backslashreplace"), notes.encode(), 0)
