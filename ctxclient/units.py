"""The texts of the service units, and whether a file is one that we wrote. Pure, but for reading the templates.

Runs in the client process, for `ctx daemon install` and `uninstall`. Each unit carries the hash of its own text: one
that somebody edited, or wrote himself, is never overwritten or removed.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from ctxprotocol import endpoint
from ctxprotocol.errors import ServiceRefused

# What of the caller's environment decides where a daemon keeps its things.
PLACES = ("CTX_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")
SOCKET, SERVICE, PLIST = "ctxd.socket", "ctxd.service", "local.ctxd.plist"
MARK = re.compile(r"^(?:#|<!--) Written by ctx daemon install; hash of all else here: ([0-9a-f]{16})(?: -->)?\n", re.M)

State = Literal["absent", "ours", "edited", "foreign"]


def state_of(path: str) -> State:
    """Say whose the file at `path` is; a link is somebody else's."""
    if not os.path.lexists(path):
        return "absent"
    if os.path.islink(path):
        return "foreign"
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        text = file.read()
    mark = MARK.search(text)
    if mark is None:
        return "foreign"
    return "ours" if _hash(text[: mark.start()] + text[mark.end() :]) == mark[1] else "edited"


def systemd(program: Sequence[str], state_dir: str, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the texts of socket and service by their names; `program` is how ctxd is called."""
    places = [f"Environment={_quoted(f'{name}={value}')}" for name, value in _places(environ)]
    call = " ".join(_quoted(word).replace("$", "$$") for word in program)
    service = "\n".join(
        each for line in _template("systemd", SERVICE).splitlines() for each in (_service_line(line, call, places))
    )
    listen = f"ListenStream={endpoint.socket_path(state_dir).replace('%', '%%')}"
    own = state_dir == endpoint.state_directory({"HOME": os.path.expanduser("~")})
    socket = _template("systemd", SOCKET)
    if not own:
        socket = re.sub(r"^ListenStream=.*$", lambda _: listen, socket, flags=re.M)
    return {SOCKET: _marked(socket, "# {}"), SERVICE: _marked(service + "\n", "# {}")}


def launchd(program: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the text of the launch agent."""
    from xml.sax.saxutils import escape

    called = "".join(f"\t\t<string>{escape(word)}</string>\n" for word in program)
    places = "".join(
        f"\t\t<key>{name}</key>\n\t\t<string>{escape(value)}</string>\n" for name, value in _places(environ)
    )
    text = _template("launchd", PLIST).replace("\t\t<string>ctxd</string>\n", called)
    text = text.replace("Variables</key>\n\t<dict>\n", f"Variables</key>\n\t<dict>\n{places}")
    # An XML declaration must be the first thing in its file.
    return _marked(text, "<!-- {} -->", after=text.index("\n") + 1)


def _service_line(line: str, call: str, places: Sequence[str]) -> Sequence[str]:
    if line == "ExecStart=ctxd start":
        return (f"ExecStart={call} start", *places)
    return () if line.startswith("# The full path of") else (line,)


def _places(environ: Mapping[str, str]) -> list[tuple[str, str]]:
    found = [(name, environ.get(name, "")) for name in PLACES]
    for name, value in found:
        if any(ord(char) < 32 for char in value):
            raise ServiceRefused(f"{name} holds a control character: no unit can name it")
    return [(name, os.path.abspath(value)) for name, value in found if value]


def _quoted(word: str) -> str:
    """Return a word as a unit file writes it (systemd.syntax(7)): specifiers doubled, in quotes where need be."""
    word = word.replace("%", "%%")
    if re.fullmatch(r"[\w@%+=:,./-]+", word, re.A):
        return word
    return '"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _marked(text: str, comment: str, after: int = 0) -> str:
    mark = comment.format(f"Written by ctx daemon install; hash of all else here: {_hash(text)}")
    return f"{text[:after]}{mark}\n{text[after:]}"


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def _template(folder: str, name: str) -> str:
    """Return a unit of packaging/: beside this module in an installation, beside the package in a checkout."""
    here = os.path.dirname(os.path.abspath(__file__))
    for place in (here, os.path.dirname(here)):
        path = os.path.join(place, "packaging", folder, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                return file.read()
    raise ServiceRefused(f"packaging/{folder}/{name} is missing from this installation", "install ctx again")
