"""How the client says that something went wrong: a line or two, or JSON, and the exit code; no traceback ever.

Runs in the client process, at its end. Standard library only: it must work where the installation is broken.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from ctxprotocol import endpoint, files

INTERNAL_CODE = 4
UNREACHABLE_CODE = 3


def show(error: str, message: str, hint: str = "", *, code: int, argv: Sequence[str]) -> int:
    """Print a failure in the form that `argv` asks for and return its exit code."""
    if wants_json(argv):
        import json

        body = {"schema": 1, "error": {"code": error, "message": message, "hint": hint or None}}
        _write(1, json.dumps(body, ensure_ascii=False, separators=(",", ":")) + "\n")
    else:
        lines = [f"ctx: {printable(message)}", *(f"  {printable(line)}" for line in hint.splitlines())]
        _write(2, "\n".join(lines) + "\n")
    return code


def show_timeout(seconds: float, argv: Sequence[str]) -> int:
    """Say that the daemon is there but did not answer in time."""
    return show(
        "daemon_unreachable",
        f"timed out: the daemon did not answer within {seconds:g} s",
        "it may be busy: see ctx daemon status, or give it longer with --timeout",
        code=UNREACHABLE_CODE,
        argv=argv,
    )


def show_unwritable(error: OSError) -> int:
    """Say that the answer could not be written to stdout or stderr."""
    return show("output_failed", f"cannot write the answer: {error.strerror}", code=INTERNAL_CODE, argv=())


def unexpected(error: BaseException, argv: Sequence[str]) -> int:
    """Note a fault of ours in the client's log and print one line with the id to find it by."""
    identity = os.urandom(4).hex()
    try:
        where = f"see {note(identity, error)}"
    except OSError as trouble:
        where = f"{type(error).__name__}: {error}; no log could be written: {trouble}"
    return show("internal", f"internal error {identity}; {where}", code=INTERNAL_CODE, argv=argv)


def note(identity: str, error: BaseException) -> str:
    """Append the traceback of `error` to the client's log; return the log's path. Raises OSError."""
    import time
    import traceback

    state_dir = endpoint.state_directory(os.environ)
    endpoint.make_private(state_dir)
    path = endpoint.client_log_path(state_dir)
    trace = "".join(traceback.format_exception(error))
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | files.NO_FOLLOW, 0o600)
    try:
        entry = f"{stamp} {identity} ctx {endpoint.VERSION} python {sys.version.split()[0]}\n{trace}\n"
        os.write(descriptor, entry.encode("utf-8", "backslashreplace"))
    finally:
        os.close(descriptor)
    return path


def wants_json(argv: Sequence[str]) -> bool:
    """Say whether the command line asks for JSON; it may be one that cannot be parsed."""
    for word in argv:
        if word == "--":
            return False
        if word == "--json":
            return True
    return False


def printable(message: str) -> str:
    """Escape what could steer a terminal; line breaks become spaces."""
    plain = " ".join(message.splitlines())
    return "".join(char if char.isprintable() else f"\\x{ord(char):02x}" for char in plain)


def _write(descriptor: int, words: str) -> None:
    data = words.encode("utf-8", "backslashreplace")
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        pass  # nobody is left to tell
