"""One name for the many spellings of a repository's address. Pure."""

from __future__ import annotations

import re

_URL = re.compile(r"[a-z][a-z0-9+.-]*://(?:[^/@]*@)?(?P<host>\[[^\]]*\]|[^/:]*)(?::(?P<port>\d*))?(?P<path>/.*)?", re.I)
_SHORT = re.compile(r"(?:[^/@]*@)?(?P<host>\[[^\]]*\]|[^/:]+):(?!//)(?P<path>.*)")
_DEFAULT_PORTS = ("", "22", "80", "443", "9418")


def normalised(url: str) -> str:
    """Return `host/path` for ssh, https and git addresses alike; a local path as it is; "" for "".

    User, password, default port, closing `.git` and `/` are dropped; the host is in lower case.
    """
    match = _URL.fullmatch(url)
    if match is None and not url.startswith(("/", ".")):
        match = _SHORT.fullmatch(url)
    if match is None or not match["host"]:
        return _bare(url.removeprefix("file://"))
    port = match.groupdict().get("port") or ""
    host = match["host"].lower() + (f":{port}" if port not in _DEFAULT_PORTS else "")
    return f"{host}/{_bare((match['path'] or '').lstrip('/'))}"


def _bare(path: str) -> str:
    return path.rstrip("/").removesuffix(".git").rstrip("/") or path
