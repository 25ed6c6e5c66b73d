"""`ctx daemon`: the daemon from the client's side. Runs in the client process."""

from __future__ import annotations

import json
import os
from typing import Any

import click

from ctxclient import launch, plain
from ctxclient.cli import Subcommands
from ctxclient.commands import options
from ctxclient.commands.logs import logs
from ctxclient.commands.service import install, uninstall
from ctxprotocol import endpoint
from ctxprotocol.messages import DaemonStatus, Welcome


@click.group("daemon", cls=Subcommands, epilog=options.examples("ctx daemon status", "ctx daemon logs -f"))
def daemon() -> None:
    """Look at, start, stop or install the daemon. It starts by itself when it is needed."""


@daemon.command("status", epilog=options.examples("ctx daemon status --json"))
@options.common
@options.timeout
def status(**given: Any) -> int:
    """Show version, process, uptime, socket, worktrees, queue, times and memory; never starts a daemon."""
    return options.deliver(options.build(DaemonStatus, given), may_start=False)


@daemon.command("start", epilog=options.examples("ctx daemon start"))
@options.common
def start(as_json: bool, **_: Any) -> int:
    """Start the daemon if none runs; an older one is replaced."""
    return _tell("running", launch.ensure(_state()), as_json)


@daemon.command("stop", epilog=options.examples("ctx daemon stop"))
@options.common
def stop(as_json: bool, **_: Any) -> int:
    """Stop the daemon, whatever its version, and wait until it has ended."""
    return _tell("stopped", launch.stop(_state()), as_json)


@daemon.command("restart", epilog=options.examples("ctx daemon restart"))
@options.common
def restart(as_json: bool, **_: Any) -> int:
    """Stop the daemon if one runs, and start it again."""
    launch.stop(_state())
    return _tell("running", launch.start(_state()), as_json)


daemon.add_command(logs)
daemon.add_command(install)
daemon.add_command(uninstall)


def _state() -> str:
    return endpoint.state_directory(os.environ)


def _tell(state: str, welcome: Welcome | None, as_json: bool) -> int:
    if as_json:
        found = {"state": state if welcome else "not running"}
        known = {"version": welcome.version, "pid": welcome.pid} if welcome else {}
        words = json.dumps({"schema": 1, **found, **known}, separators=(",", ":"))
    elif welcome is None:
        words = "no daemon was running"
    else:
        words = f"ctxd {welcome.version} (pid {welcome.pid}) {'is running' if state == 'running' else 'has stopped'}"
    return plain.deliver(f"{words}\n".encode(), b"", 0)
