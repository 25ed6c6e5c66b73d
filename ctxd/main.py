"""Composition root of the daemon: build, start, stop, in that order. Imported by nobody.

The lock is taken before anything heavy is imported, so that a second start costs little and says at once what it found.
"""

from __future__ import annotations

import os
import sys

from ctxprotocol.endpoint import UnsafePlace, state_directory

USAGE = """usage: ctxd start [--detach] | stop | status

  start     run in the foreground, as a service manager does; --detach starts it in the background
  stop      ask the running daemon to end
  status    say whether a daemon runs, and how it does

The daemon starts by itself with the first `ctx query`; see also: ctx daemon --help
"""


def main() -> None:
    """Entry point of `ctxd`."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Do what the arguments ask; return the exit code."""
    match arguments:
        case ["start"]:
            return start(by_client=False)
        case ["start", "--client"]:
            return start(by_client=True)
        case ["start", "--detach"] | ["stop"] | ["status"]:
            return _as_client(["start" if "--detach" in arguments else arguments[0]])
        case ["--help" | "-h" | "help"] | ["start" | "stop" | "status", "--help" | "-h"]:
            print(USAGE, end="")
            return 0
        case ["--version"]:
            from ctxprotocol.endpoint import VERSION

            print(f"ctxd {VERSION}")
            return 0
        case _:
            print(USAGE, end="", file=sys.stderr)
            return 2


def _as_client(arguments: list[str]) -> int:
    """Let the client's own commands do it: they know how to start, ask and stop a daemon."""
    from ctxclient import cli

    return cli.run(["daemon", *arguments])


def start(*, by_client: bool) -> int:
    """Run the daemon until it is stopped. `by_client`: a client started it, so it ends when idle."""
    from ctxd.instance import AlreadyRunning, Instance

    try:
        instance = Instance(state_directory(os.environ))
    except AlreadyRunning as found:
        print(f"ctxd: a daemon already runs for {found}", file=sys.stderr)
        return 1
    except (UnsafePlace, OSError) as error:
        print(f"ctxd: {_told(error)}", file=sys.stderr)
        return 4
    # From here on nothing we make is readable by others, not even for an instant.
    os.umask(0o077)
    from ctxd import daemon
    from ctxprotocol.errors import CtxError

    try:
        daemon.run(instance, os.environ, by_client=by_client)
    except CtxError as error:
        print(f"ctxd: {error.message}", file=sys.stderr)
        return error.code
    except OSError as error:
        print(f"ctxd: {_told(error)}", file=sys.stderr)
        return 4
    finally:
        instance.release()
    return 0


def _told(error: OSError) -> str:
    if error.filename is None:
        return str(error)
    return f"{os.fsdecode(error.filename)}: {error.strerror}"
