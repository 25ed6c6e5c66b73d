"""A child process that becomes as much of a Windows as an import can see: run by test_platforms.py.

Everything of others is loaded first, as on Linux; then what Windows does not have is taken out of the standard library,
`sys.platform` is changed, and our own modules are loaded anew. Prints what failed, a line each.
"""

from __future__ import annotations

import importlib
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import traceback

from tests.imports import PACKAGES, modules

# Modules, and names in them, that the documentation has as "Unix".
GONE = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty", "_posixsubprocess")
NAMES = {
    os: """O_NOFOLLOW O_CLOEXEC O_NONBLOCK O_DIRECTORY O_SYNC getuid geteuid getgid getegid getpgid getpgrp setsid
        setuid nice pread pwrite preadv fchown chown lchown fork forkpty killpg mkfifo mknod getloadavg statvfs fstatvfs
        sysconf sched_getaffinity sched_yield uname wait3 wait4 fchdir chroot posix_fadvise posix_fallocate
        copy_file_range memfd_create getgroups initgroups WNOHANG""",
    signal: "SIGKILL SIGHUP SIGPROF SIGALRM SIGUSR1 SIGUSR2 SIGPIPE SIGCHLD SIGQUIT setitimer ITIMER_PROF alarm",
    socket: "AF_UNIX SOCK_CLOEXEC SO_PEERCRED",
    sys.modules["_socket"]: "AF_UNIX SOCK_CLOEXEC SO_PEERCRED",
    select: "poll epoll",
}
# And what it has instead.
INSTEAD = {
    os: {"O_BINARY": 0, "O_NOINHERIT": 0},
    signal: {"SIGBREAK": 21},
    # It decided when it was loaded; from Python 3.13 on it would ask for O_NONBLOCK.
    shutil: {"_use_fd_functions": False},
    subprocess: {"CREATE_NO_WINDOW": 0x08000000, "CREATE_NEW_PROCESS_GROUP": 0x200},
}
# Of one platform only, and loaded nowhere else.
ELSEWHERE = ("ctxd.watch.inotify", "ctxd.watch.kernel", "ctxd.watch.mounts", "ctxprotocol.win32")
# Where something is to be taken that only `python -m` may have.
SCRIPTS = ("ctxd.__main__",)


def load_all(skipped: tuple[str, ...]) -> list[str]:
    """Load our modules; return what failed."""
    failed = []
    for name in modules():
        if name in (*skipped, *SCRIPTS):
            continue
        try:
            importlib.import_module(name)
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            failed.append(f"{name}: {type(error).__name__}: {error} ({where.filename}:{where.lineno})")
    return failed


def become_windows() -> None:
    """Take ours out again, and what Windows does not have."""
    for name in [each for each in sys.modules if each.split(".")[0] in PACKAGES]:
        del sys.modules[name]
    for name in GONE:
        sys.modules[name] = None  # type: ignore[assignment]
    for module, names in NAMES.items():
        for name in names.split():
            if hasattr(module, name):
                delattr(module, name)
    for module, more in INSTEAD.items():
        for name, value in more.items():
            setattr(module, name, value)
    sys.platform = "win32"


def use() -> list[str]:
    """Take the lock, listen, dial and let go, over the fake of the calls; return what was not as it should be."""
    from tests.fakewindows import Machine, Proactor

    machine, failed = Machine(), []
    daemon, other = machine.process(), machine.process()

    from ctxclient import transport
    from ctxd import instance, namedpipe
    from ctxprotocol import endpoint, windows

    namedpipe._Asyncio = lambda: Proactor(daemon)  # type: ignore[assignment, misc]
    with tempfile.TemporaryDirectory() as place:
        state = f"{place}/ctx"
        windows.calls = lambda: daemon  # type: ignore[assignment, return-value]
        ours = instance.Instance(state)
        windows.calls = lambda: other  # type: ignore[assignment, return-value]
        try:
            instance.Instance(state)
            failed.append("the lock was taken twice")
        except instance.AlreadyRunning:
            pass
        windows.calls = lambda: daemon  # type: ignore[assignment, return-value]
        listener, passed = ours.listen({"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": "1"})
        windows.calls = lambda: other  # type: ignore[assignment, return-value]
        connected = transport.dial(endpoint.socket_path(state))
        if passed or connected is None or ours.socket_lost() or ours.directory_lost():
            failed.append("the daemon's pipe was not found where it is")
        if connected is not None:
            connected.close()
        listener.close()
        ours.unbind()
        ours.release()
        if transport.dial(endpoint.socket_path(state)) is not None or machine.open_files:
            failed.append("something was left open")
    machine.close()
    return failed


def main() -> None:
    """Print what failed, before and after."""
    print(*load_all(("ctxprotocol.win32",)), sep="\n")
    pair, family = socket.socketpair, socket.AF_UNIX
    become_windows()
    socket.socketpair = lambda: pair(family)  # type: ignore[assignment, misc]  # for the fake
    failed = load_all(ELSEWHERE)
    print(*failed, *(use() if not failed else ()), sep="\n")
    from ctxclient import cli

    print("help:", cli.run(["--help"]))


if __name__ == "__main__":
    main()
