"""What `ctx doctor` looks at: one function per part of the installation, each returns what it found.

Runs in the client process. Reads only; starts nothing and creates nothing.
"""

from __future__ import annotations

import importlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator

from ctxclient import client, degraded, going, launch
from ctxclient.finding import BAD, NOTE, OK, Check
from ctxprotocol import endpoint
from ctxprotocol.errors import CtxError

NEWEST_TESTED = (3, 14)
PACKAGES = (
    "apsw",
    "certifi",
    "charset_normalizer",
    "click",
    "ctxd",
    "httpx",
    "msgspec",
    "pathspec",
    "platformdirs",
    "psutil",
    "re2",
    "tree_sitter",
    "tree_sitter_language_pack",
    "watchdog",
)
# A first index of a large repository, its rebuild and the cache.
ENOUGH_FREE_BYTES = 1 << 30
# One watch per directory: a monorepo has tens of thousands, and editors want theirs too.
ENOUGH_WATCHES = 65_536
# One instance per open worktree (16), beside what desktop programs hold.
ENOUGH_INSTANCES = 64
INOTIFY = "/proc/sys/fs/inotify"


def all_checks() -> list[Check]:
    """Return every check of this platform, in the order of what depends on what."""
    found = [python(), packages(), git()]
    try:
        state_dir = endpoint.state_directory(os.environ)
    except OSError as error:
        return [*found, Check("state", BAD, str(error), "set HOME or CTX_HOME")]
    running = daemon(state_dir)
    return [
        *(*found, state(state_dir), *degraded.files(state_dir), *going.providers(state_dir), running),
        *degraded.last_start(state_dir, running),
        *(degraded.running(state_dir) if running.state == OK else ()),
        *watches(),
        *degraded.service(state_dir),
    ]


def python() -> Check:
    """Check the interpreter's version."""
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] > NEWEST_TESTED:
        return Check("python", NOTE, f"{version} at {sys.executable} is newer than what ctx was tested with")
    return Check("python", OK, f"{version} at {sys.executable}")


def packages() -> Check:
    """Check that everything that the daemon imports can be imported here."""
    missing = []
    for name in PACKAGES:
        try:
            importlib.import_module(name)
        except Exception as error:  # a broken extension module can raise anything
            missing.append(f"{name} ({error})")
    if missing:
        again = f"{sys.executable} -m pip install --force-reinstall ctxd-context"
        return Check("packages", BAD, f"cannot import {', '.join(missing)}", again)
    return Check("packages", OK, f"ctx {endpoint.VERSION} and {len(PACKAGES)} packages can be imported")


def git() -> Check:
    """Check that git is there: it decides what is ignored."""
    found = shutil.which("git")
    if found is None:
        return Check("git", BAD, "not found", "install git: without it ctx follows ignore files by its own reading")
    try:
        done = subprocess.run([found, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Check("git", BAD, f"{found} does not run: {error}", "repair git")
    return Check("git", OK, f"{done.stdout.strip()} at {found}")


def state(state_dir: str) -> Check:
    """Check owner, mode, room of the state directory, and that it can be written."""
    try:
        found = os.lstat(state_dir)
    except FileNotFoundError:
        return _future_state(state_dir)
    except OSError as error:
        return Check("state", BAD, f"{state_dir}: {error.strerror}", "make it readable, or set CTX_HOME")
    try:
        endpoint.check_place(endpoint.log_path(state_dir))
    except endpoint.UnsafePlace as error:
        return Check("state", BAD, str(error), f"chmod 700 {state_dir}, or set CTX_HOME to a directory of your own")
    if found.st_mode & 0o077:
        return Check(
            "state", BAD, f"{state_dir} lets others in (mode {found.st_mode & 0o777:o})", f"chmod 700 {state_dir}"
        )
    if not os.access(state_dir, os.W_OK | os.X_OK):
        return Check("state", BAD, f"{state_dir} cannot be written", f"chmod 700 {state_dir}, or set CTX_HOME")
    return _room(state_dir, state_dir)


def _future_state(state_dir: str) -> Check:
    parent = state_dir
    while not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    if not os.access(parent, os.W_OK | os.X_OK):
        remedy = "make it writable, or set CTX_HOME to a directory that is"
        return Check("state", BAD, f"{state_dir} cannot be created: {parent} cannot be written", remedy)
    return _room(parent, f"{state_dir} (made at first use)")


def _room(directory: str, shown: str) -> Check:
    free = shutil.disk_usage(directory).free
    detail = f"{shown}, {free / (1 << 30):.1f} GiB free"
    if free < ENOUGH_FREE_BYTES:
        return Check("state", BAD, detail, "free some room, or set CTX_HOME to a larger disk")
    return Check("state", OK, detail)


def daemon(state_dir: str) -> Check:
    """Check that whoever listens at the socket is a daemon of this version."""
    path = endpoint.socket_path(state_dir)
    try:
        found = launch.probe(path, client.WELCOME_WAIT_S)
    except client.Garbled as error:
        return Check("daemon", BAD, f"{path} answers in another language: {error}", "ctx daemon restart")
    except CtxError as error:
        return Check("daemon", BAD, error.message, error.hint or "ctx daemon restart")
    if found is None:
        return Check("daemon", OK, f"not running; it starts by itself (socket {path})")
    who = f"ctxd {found.version} (pid {found.pid}) at {path}"
    if client.is_older(found):
        return Check("daemon", NOTE, f"{who} is older than this client; the next command replaces it")
    if endpoint.version_key(found.version) > endpoint.version_key(endpoint.VERSION):
        return Check("daemon", BAD, f"{who} is newer than this client ({endpoint.VERSION})", "upgrade this client")
    return Check("daemon", OK, f"{who} answers")


def watches() -> Iterator[Check]:
    """Check the kernel's limits on watching directories (Linux)."""
    for name, enough in (("max_user_watches", ENOUGH_WATCHES), ("max_user_instances", ENOUGH_INSTANCES)):
        try:
            with open(f"{INOTIFY}/{name}", encoding="ascii") as limit:
                allowed = int(limit.read())
        except (OSError, ValueError):
            continue
        key = f"fs.inotify.{name}"
        if allowed < enough:
            remedy = f"sudo sysctl -w {key}={enough * 8} (for good: a line in /etc/sysctl.d/60-ctx.conf)"
            yield Check(
                "inotify", BAD, f"{key} is {allowed:,}; below {enough:,} large repositories are scanned", remedy
            )
        else:
            yield Check("inotify", OK, f"{key} is {allowed:,}")
