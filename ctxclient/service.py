"""Make ctxd a service of this user, and take that back: systemd on Linux, launchd on macOS.

Runs in the client process. Files are looked at before anything is done: one that is not ours stops it all. Without a
service manager that can be reached from here the files are written and the commands are named.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import NamedTuple

from ctxclient import launch, units
from ctxprotocol import endpoint
from ctxprotocol.errors import ServiceRefused

# A manager that is busy with a login; beyond that it does not answer.
RUN_WAIT_S = 60.0
NOT_NEEDED = "none is needed: the daemon starts by itself with the first command"

Command = Sequence[str]


class Manager(NamedTuple):
    """A service manager: our units for it and what they hold, and its commands.

    `probe` succeeds when it can be reached. `halt` ends what an older unit of ours runs; it may have nothing to end.
    `links` are what it makes when a unit is enabled.
    """

    texts: dict[str, str]
    probe: Command
    halt: Command
    enable: tuple[Command, ...]
    disable: Command
    settle: tuple[Command, ...]
    links: tuple[str, ...] = ()


class Done(NamedTuple):
    """What was done, step by step, and what is left to the person."""

    steps: list[str]
    left: list[str]


def manager(platform: str = sys.platform) -> Manager:
    """Return the service manager of this platform. Raises ServiceRefused."""
    if platform == "darwin":
        return _launchd()
    if platform != "linux":
        raise ServiceRefused(f"ctx knows no service manager on this platform ({platform})", NOT_NEEDED)
    if shutil.which("systemctl") is None:
        raise ServiceRefused("there is no systemd on this machine", NOT_NEEDED)
    return _systemd(endpoint.state_directory(os.environ))


def _systemd(state_dir: str) -> Manager:
    configured = os.environ.get("XDG_CONFIG_HOME", "")
    base = configured if os.path.isabs(configured) else os.path.join(os.path.expanduser("~"), ".config")
    folder = os.path.join(base, "systemd", "user")
    call = ("systemctl", "--user")
    return Manager(
        texts={
            os.path.join(folder, name): text for name, text in units.systemd(_program(), state_dir, os.environ).items()
        },
        probe=(*call, "show-environment"),
        halt=(*call, "stop", units.SOCKET, units.SERVICE),
        enable=((*call, "daemon-reload"), (*call, "enable", "--now", units.SOCKET)),
        disable=(*call, "disable", "--now", units.SOCKET, units.SERVICE),
        settle=((*call, "daemon-reload"),),
        links=(
            os.path.join(folder, "sockets.target.wants", units.SOCKET),
            os.path.join(folder, "default.target.wants", units.SERVICE),
        ),
    )


def _launchd() -> Manager:
    path = os.path.join(os.path.expanduser("~"), "Library", "LaunchAgents", units.PLIST)
    domain = f"gui/{_uid()}"
    label = units.PLIST.removesuffix(".plist")
    out = ("launchctl", "bootout", f"{domain}/{label}")
    return Manager(
        texts={path: units.launchd(_program(), os.environ)},
        probe=("launchctl", "print", domain),
        halt=out,
        enable=(("launchctl", "bootstrap", domain, path),),
        disable=out,
        settle=(),
    )


def _uid() -> int:
    if sys.platform == "win32":
        return 0
    return os.getuid()


def _program() -> list[str]:
    """Return how the ctxd of this installation is called, by its full path."""
    beside = os.path.join(os.path.dirname(sys.executable), "ctxd")
    found = beside if os.access(beside, os.X_OK) else shutil.which("ctxd")
    return [os.path.abspath(found)] if found else [sys.executable, "-E", "-P", "-X", "utf8", "-m", "ctxd"]


def install(found: Manager) -> Done:
    """Write what is missing or out of date, and enable it where the manager can be reached. Raises ServiceRefused."""
    states = {path: units.state_of(path) for path in found.texts}
    _refuse_foreign(states)
    changed = [path for path, text in found.texts.items() if states[path] == "absent" or _read(path) != text]
    steps = [f"unchanged {path}" for path in found.texts if path not in changed]
    reachable = _succeeds(found.probe)
    if reachable and any(states[path] == "ours" for path in changed):
        _succeeds(found.halt)
    for path in changed:
        _write(path, found.texts[path])
        steps.append(f"wrote {path}")
    if not reachable:
        return Done(steps, [*map(" ".join, found.enable[:-1]), "ctx daemon stop", " ".join(found.enable[-1])])
    if changed:
        stopped = launch.stop(endpoint.state_directory(os.environ))
        steps += [f"stopped ctxd {stopped.version} (pid {stopped.pid})"] if stopped else []
    for command in found.enable:
        steps.append(_run(command))
    return Done(steps, [])


def uninstall(found: Manager) -> Done:
    """Disable and remove exactly what `install` wrote. Raises ServiceRefused."""
    states = {path: units.state_of(path) for path in found.texts}
    _refuse_foreign(states)
    ours = [path for path, state in states.items() if state == "ours"]
    if not ours:
        return Done([], [])
    reachable = _succeeds(found.probe)
    steps = [_run(found.disable)] if reachable else []
    for path in (*found.links, *ours):
        if path in ours or (os.path.islink(path) and os.path.realpath(path) in map(os.path.realpath, ours)):
            os.unlink(path)
            steps.append(f"removed {path}")
    if not reachable:
        return Done(steps, [" ".join(command) for command in found.settle])
    return Done([*steps, *map(_run, found.settle)], [])


def _refuse_foreign(states: dict[str, units.State]) -> None:
    for path, state in states.items():
        if state == "foreign":
            raise ServiceRefused(f"{path} was not written by ctx", "nothing was done; move it away first")
        if state == "edited":
            raise ServiceRefused(
                f"{path} was edited since ctx wrote it",
                f"nothing was done; keep your changes in {path}.d/*.conf, and move the file away",
            )


def _read(path: str) -> str:
    with open(path, encoding="utf-8", newline="") as file:
        return file.read()


def _write(path: str, text: str) -> None:
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        descriptor, beside = tempfile.mkstemp(prefix=".ctx-", dir=os.path.dirname(path))
        with open(descriptor, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
            file.write(text)
        os.chmod(beside, 0o644)
        os.replace(beside, path)
    except OSError as error:
        raise ServiceRefused(f"cannot write {path}: {error.strerror}") from error


def _succeeds(command: Command) -> bool:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=RUN_WAIT_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _run(command: Command) -> str:
    """Run a command of the manager and return the step. Raises ServiceRefused with what it said."""
    called = " ".join(command)
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RUN_WAIT_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ServiceRefused(f"{called} failed: {error}") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip() or f"exit {done.returncode}").splitlines()[-1]
        raise ServiceRefused(f"{called} failed: {said}", "journalctl --user -u ctxd.service may know more")
    return f"ran {called}"
