"""What a run was measured on, without names of hosts, users or folders. Runs in the client process."""

from __future__ import annotations

import os
import platform

import msgspec

from ctxclient.bench.git import Git, GitFailed
from ctxprotocol import endpoint


class Machine(msgspec.Struct, frozen=True):
    """Processors that this process may use, Python, system, and which ctx; `commit` "" outside a checkout of it."""

    cpus: int
    python: str
    system: str
    version: str
    commit: str = ""

    def line(self) -> str:
        """Return it as one line."""
        commit = f" at {self.commit[:12]}" if self.commit else ""
        return f"ctx {self.version}{commit}, Python {self.python}, {self.system}, {self.cpus} CPUs"


def machine() -> Machine:
    """Look at this machine."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return Machine(
        cpus=cpus,
        python=platform.python_version(),
        system=f"{platform.system()} {platform.machine()}",
        version=endpoint.VERSION,
        commit=_commit(),
    )


def edited(since: float) -> bool:
    """Say whether the daemon's code was changed after `since`, in seconds since 1970."""
    times = (
        os.stat(os.path.join(folder, name)).st_mtime
        for folder, _, names in os.walk(os.path.join(_source(), "ctxd"))
        for name in names
        if name.endswith(".py")
    )
    return max(times, default=0.0) > since


def _source() -> str:
    """Return the directory that the packages lie in."""
    return os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def _commit() -> str:
    """Return the commit of the checkout that this program runs from."""
    try:
        git = Git.at(_source())
        return (git.commit("HEAD") or "") if git is not None else ""
    except (GitFailed, OSError):
        return ""
