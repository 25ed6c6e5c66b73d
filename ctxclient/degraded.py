"""States in which ctx works, but worse than it could, or not for long: each with what to do about it.

Runs in the client process, for `ctx doctor`. Reads only; starts nothing. What the daemon knows it is asked.
"""

from __future__ import annotations

import getpass
import glob
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

from ctxclient import client, launch, units
from ctxclient import service as services
from ctxclient.finding import BAD, NOTE, OK, Check
from ctxclient.hub import inventory
from ctxprotocol import endpoint, models, settings
from ctxprotocol.errors import CtxError
from ctxprotocol.messages import DaemonStatus

# The cache is bounded when it is written to; what it may be over by is what one flush adds.
CACHE_SLACK = 1.1
RUN_WAIT_S = 10.0
SHOWN_LINES = 3
RESTART = "ctx daemon restart"


def files(state_dir: str) -> Iterator[Check]:
    """Check what lies in the state directory: the configuration, the socket, the cache, what was set aside."""
    config = settings.Config()
    path = settings.config_path(state_dir, os.environ)
    try:
        with open(path, encoding="utf-8") as file:
            config = settings.parse(file.read(), path)
        yield Check("config", OK, f"{path} can be used")
    except FileNotFoundError:
        pass
    except CtxError as error:
        yield Check(
            "config", BAD, error.message, error.hint or f"edit {path}, or take the key out: ctx config unset KEY"
        )
    except (OSError, UnicodeDecodeError) as error:
        yield Check("config", BAD, f"{path}: {error}", f"make {path} a readable file of UTF-8 text, or remove it")
    yield from _socket(endpoint.socket_path(state_dir))
    yield from _cache(state_dir, config.daemon_cache_bytes)
    lacking = inventory.lacking(config.embed_model, models.directory(state_dir))
    if lacking and config.embed_enabled and not config.embed_providers:
        yield Check("model", BAD, f"{lacking[0].rstrip(':')}; words are searched all the same", lacking[1])
    if aside := glob.glob(f"{glob.escape(state_dir)}/**/*.damaged", recursive=True):
        size = sum(os.path.getsize(each) for each in aside) / (1 << 20)
        yield Check(
            "damage", NOTE, f"{len(aside)} damaged files were set aside ({size:.0f} MB), the first is {aside[0]}"
        )


def _socket(path: str) -> Iterator[Check]:
    try:
        found = os.lstat(path)
    except OSError:
        return
    if stat.S_ISSOCK(found.st_mode) and found.st_mode & 0o077:
        detail = f"{path} lets others connect (mode {found.st_mode & 0o777:o}); the daemon refuses them all the same"
        yield Check("socket", BAD, detail, f"chmod 600 {path}")


def _cache(state_dir: str, bound: int) -> Iterator[Check]:
    size = sum(os.path.getsize(path) for path in glob.glob(f"{glob.escape(state_dir)}/cache-*.db"))
    if size > CACHE_SLACK * bound:
        detail = f"the cache of parse results has {size / 1e9:.1f} GB, daemon.cache_bytes allows {bound / 1e9:.1f}"
        yield Check("cache", BAD, detail, f"ctx daemon stop && rm {state_dir}/cache-*.db  (it fills again by itself)")


def last_start(state_dir: str, daemon: Check) -> Iterator[Check]:
    """Say why the last daemon that a client started did not stay, where none runs."""
    if daemon.state != OK or "not running" not in daemon.detail:
        return
    try:
        with open(endpoint.start_log_path(state_dir), "rb") as file:
            said = file.read().decode("utf-8", "replace").splitlines()[-SHOWN_LINES:]
    except OSError:
        return
    if not said:
        return
    told = " ".join(line.strip() for line in said)
    remedy = f"see {endpoint.log_path(state_dir)}, mend that, then: ctx daemon start"
    if "newer version" in told:
        remedy = "upgrade ctx: this state directory is of a newer version, which an older one does not write to"
    yield Check("start", BAD, f"the last start failed: {told}", remedy)


def running(state_dir: str) -> Iterator[Check]:
    """Ask the running daemon how it and its worktrees are."""
    if launch.probe(endpoint.socket_path(state_dir)) is None:
        return
    try:
        status = json.loads(client.ask(DaemonStatus(output="json"), may_start=False).out)
    except (CtxError, ValueError) as error:
        yield Check("daemon", BAD, f"it does not say how it is: {error}", RESTART)
        return
    yield from _core(int(status["pid"]))
    worktrees = status.get("worktrees", [])
    found = [check for worktree in worktrees for check in worktree_checks(worktree)]
    yield from found or [Check("worktrees", OK, f"{len(worktrees)} attached, nothing is wrong with the open ones")]


def _core(pid: int) -> Iterator[Check]:
    """A core file would hold what secrets the daemon has read."""
    try:
        with open(f"/proc/{pid}/limits", encoding="ascii") as limits:
            soft = next((line.split()[4] for line in limits if line.startswith("Max core file size")), "0")
    except (OSError, IndexError):
        return
    if soft != "0":
        yield Check("core", BAD, f"the daemon may leave core files (limit {soft})", RESTART)


def worktree_checks(worktree: Mapping[str, Any]) -> Iterator[Check]:
    """Give what is degraded about one worktree of `ctx daemon status --json`."""
    root = str(worktree["root"])
    again = f"ctx -C {root} update --full" if " " not in root else f"ctx -C '{root}' update --full"
    watching, phase, error = worktree["watching"], worktree["phase"], worktree["last_error"]
    if phase == "closed":
        return
    if phase in ("failed", "damaged") or (error and not worktree["fresh"]):
        full = error and "disk full" in error
        remedy = f"free some room on the disk of {root} or of the index" if full else f"mend that, then: {again}"
        yield Check("worktree", BAD, f"{root}: {error or phase}", remedy)
    elif error:
        yield Check("worktree", NOTE, f"{root}: the last error, which is over: {error}")
    if worktree["rebuilds"]:
        detail = f"{root}: the index was built anew {worktree['rebuilds']}x after damage"
        yield Check("worktree", NOTE, f"{detail}; if this goes on, look at the disk")
    if watching["state"] == "degraded":
        remedy = watching["remedy"] or "raise the limits of inotify (below), then: ctx daemon restart"
        yield Check("watching", BAD, f"{root}: {watching['reason'] or 'a limit was hit'}; it is scanned", remedy)
    elif watching["state"] == "scanning":
        detail = f"{root}: {watching['reason'] or 'events prove nothing here'}; each question scans the tree"
        yield Check("watching", BAD if watching["remedy"] else NOTE, detail, watching["remedy"])


def service(state_dir: str) -> Iterator[Check]:
    """Check the user service, where one is installed: whose the units are, enabled, of this installation, lingering."""
    try:
        found = services.manager()
    except CtxError:
        return
    states = {path: units.state_of(path) for path in found.texts}
    if not any(state in ("ours", "edited") for state in states.values()):
        return
    if edited := [path for path, state in states.items() if state == "edited"]:
        yield Check("service", NOTE, f"{edited[0]} was edited; ctx daemon install leaves it alone")
    missing = [path for path, state in states.items() if state == "absent"]
    old = [path for path, state in states.items() if state == "ours" and _read(path) != found.texts[path]]
    if missing or old:
        detail = f"{(missing or old)[0]} is {'missing' if missing else 'of another installation or version'}"
        yield Check("service", BAD, detail, "ctx daemon install")
    elif not any(os.path.lexists(link) for link in found.links[:1]):
        yield Check("service", BAD, "the service is installed and not enabled", "ctx daemon install")
    elif not edited:
        yield Check("service", OK, f"installed and enabled for {state_dir}")
    yield from _linger()


def _linger() -> Iterator[Check]:
    if shutil.which("loginctl") is None:
        return
    user = getpass.getuser()
    try:
        done = subprocess.run(
            ["loginctl", "show-user", user, "--property=Linger"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RUN_WAIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    if done.stdout.strip() == "Linger=no":
        detail = "the service ends when you log out, and the next command starts it"
        yield Check("linger", NOTE, f"{detail}; where it should stay: loginctl enable-linger {user}")


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace", newline="") as file:
        return file.read()
