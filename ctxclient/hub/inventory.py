"""Which models are on this machine, and which one `embed.model` names. Looks at files; loads no network.

Runs in the client process, for `ctx model`, `ctx config` and `ctx doctor`.
"""

from __future__ import annotations

import importlib.util
import os

import msgspec

from ctxprotocol import models
from ctxprotocol.models import Fetched, Named

# Whence a model is.
PACKAGE, HUB, DIRECTORY = "package", "hub", "directory"


class Row(msgspec.Struct, frozen=True):
    """A model of this machine, and whether `embed.model` names it now."""

    name: str
    origin: str
    revision: str
    licence: str
    size_bytes: int
    path: str
    in_use: bool


def rows(where: str, wanted: str) -> list[Row]:
    """Return the models of this machine; `wanted` is `embed.model`."""
    used = named(wanted, where)
    is_directory = wanted and _hub(wanted) is None
    directory = os.path.realpath(os.path.join(os.path.sep, os.path.expanduser(wanted))) if is_directory else ""
    found = []
    spec = importlib.util.find_spec(models.PACKAGED.package)
    if spec is not None and spec.origin is not None:
        path = os.path.dirname(spec.origin)
        size = _size(path)
        found.append(Row(models.PACKAGED.name, PACKAGE, "", models.PACKAGED.licence, size, shown(path), not wanted))
    for one in models.fetched(where):
        in_use = one == used or os.path.realpath(one.path) == directory
        path = shown(one.path)
        found.append(Row(one.name, HUB, one.record.sha, one.record.licence, one.size_bytes, path, in_use))
        directory = "" if in_use else directory
    if directory and os.path.isdir(directory):
        found.append(Row(shown(wanted), DIRECTORY, "", "", _size(directory), shown(directory), True))
    return found


def _size(path: str) -> int:
    """Return the size of the graph in a directory, with its weights; 0 where there is none."""
    for name in models.GRAPHS:
        graph = os.path.join(path, *name.split("/"))
        if os.path.isfile(graph):
            weights = graph + models.WEIGHTS_SUFFIX
            return os.path.getsize(graph) + (os.path.getsize(weights) if os.path.isfile(weights) else 0)
    return 0


def named(wanted: str, where: str) -> Fetched | None:
    """Return the fetched model that `embed.model` names, None when it names none that is here."""
    one = _hub(wanted)
    return models.find(where, one) if one is not None else None


def lacking(wanted: str, where: str) -> tuple[str, str] | None:
    """Return what to say, and what helps, where `embed.model` names a model of a hub that is not here."""
    one = _hub(wanted)
    if one is None or models.find(where, one) is not None:
        return None
    return f"embed.model names {one}, which is not fetched:", f"ctx model get {one}"


def _hub(wanted: str) -> Named | None:
    # As the daemon does, whose working directory is the root.
    return models.of_hub(wanted, os.path.sep) if wanted else None


def shown(path: str) -> str:
    """Return a path as text, whatever bytes are in it."""
    return os.fsencode(path).decode("utf-8", "backslashreplace")
