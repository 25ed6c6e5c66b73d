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


def _commit() -> str:
    """Return the commit of the checkout that this program runs from."""
    source = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    try:
        git = Git.at(source)
        return (git.commit("HEAD") or "") if git is not None else ""
    except (GitFailed, OSError):
        return ""
