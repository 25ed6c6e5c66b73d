"""Where the daemon of this user listens, and whether that place is safely ours.

Values and checks only; used by client and daemon, which must come to the same path whatever else differs
between their environments. Imports nothing but sys and os: it is on the client's hot path, where each further
module costs milliseconds.
"""

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Protocol

    class Socket(Protocol):
        """What is needed of a socket object, of `socket` and of `_socket` alike."""

        def getsockopt(self, level: int, option: int, size: int, /) -> bytes:
            """Return an option's bytes."""


VERSION = "0.1.0"
PROTOCOL_VERSION = 1

# sun_path holds 108 bytes on Linux and 104 on macOS, with the closing NUL.
MAX_SOCKET_PATH_BYTES = 100
# Fixed, not TMPDIR or XDG_RUNTIME_DIR: client and daemon must agree also when only one of them has those.
SHORT_PLACE = "/tmp"

_TYPE_BITS = 0o170000
_DIRECTORY = 0o040000
_LINK = 0o120000


class UnsafePlace(OSError):
    """A directory that should be private to this user is not, or cannot be made so."""


def build() -> int:
    """Return when this copy was installed, in ns since 1970; orders two installations of one version."""
    try:
        return os.stat(__file__).st_mtime_ns
    except OSError:
        return 0


def version_key(version: str) -> tuple[int, ...]:
    """Return what two versions are compared by: the numbers of the dotted prefix; `1.2rc1` counts as 1.2."""
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if digits:
            numbers.append(int(digits[:9]))
        if digits != part or not digits:
            break
    return tuple(numbers)


def state_directory(environ: "Mapping[str, str]") -> str:
    """Return the absolute directory of all state: CTX_HOME, else the platform's place for a user's data.

    Raises UnsafePlace when neither the environment nor the user database names a home directory.
    """
    chosen = environ.get("CTX_HOME")
    if chosen:
        return os.path.abspath(chosen)
    if sys.platform == "win32":
        local = environ.get("LOCALAPPDATA") or os.path.join(_home(environ), "AppData", "Local")
        return os.path.abspath(os.path.join(local, "ctx"))
    data = environ.get("XDG_DATA_HOME", "")
    # The XDG rules: a relative path counts as not set.
    if os.path.isabs(data):
        return os.path.abspath(os.path.join(data, "ctx"))
    if sys.platform == "darwin":
        return os.path.join(_home(environ), "Library", "Application Support", "ctx")
    return os.path.join(_home(environ), ".local", "share", "ctx")


def _home(environ: "Mapping[str, str]") -> str:
    home = environ.get("HOME", "")
    if os.path.isabs(home):
        return os.path.abspath(home)
    if sys.platform != "win32":
        import pwd

        try:
            home = pwd.getpwuid(os.getuid()).pw_dir
        except KeyError:
            home = ""
    else:
        home = os.path.expanduser("~")
    if not os.path.isabs(home):
        raise UnsafePlace(
            "HOME is not set and this user has no home directory: set HOME or CTX_HOME to an absolute path"
        )
    return os.path.abspath(home)


def socket_path(state_dir: str) -> str:
    """Return the path of the daemon's socket: in `state_dir`, or a short one when that is too long.

    On Windows it is the name of the daemon's pipe.
    """
    if sys.platform == "win32":
        from ctxprotocol import windows

        return windows.pipe_name(windows.calls().own_sid(), state_dir)
    path = state_dir + "/ctxd.sock"
    if len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES:
        return path
    return f"{SHORT_PLACE}/ctx-{os.getuid()}-{_fnv1a(os.fsencode(state_dir)):016x}/ctxd.sock"


def _fnv1a(data: bytes) -> int:
    """64-bit FNV-1a: a name, not a secret; hashlib would cost the client its start-up time."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return value


def exports_path(state_dir: str) -> str:
    """Return the directory of the trees that `ctx bench` takes out of git: the one place in `state_dir` to index."""
    return os.path.join(state_dir, "bench")


def log_path(state_dir: str) -> str:
    """Return the path of the daemon's log."""
    return os.path.join(state_dir, "ctxd.log")


def client_log_path(state_dir: str) -> str:
    """Return the path where the client notes its own unexpected failures."""
    return os.path.join(state_dir, "ctx.log")


def start_log_path(state_dir: str) -> str:
    """Return the path of what a daemon that a client started writes to stderr: why it could not start."""
    return os.path.join(state_dir, "start.log")


def replaced_path(state_dir: str) -> str:
    """Return the path of the empty file whose time says when a client last replaced the daemon."""
    return os.path.join(state_dir, "replaced")


def daemon_lock_path(state_dir: str) -> str:
    """Return the path of what the daemon holds for life: the state directory itself, on Windows a file in it."""
    return os.path.join(state_dir, "ctxd.lock") if sys.platform == "win32" else state_dir


def start_lock_path(state_dir: str) -> str:
    """Return the path of the lock that clients hold while they start a daemon."""
    return os.path.join(state_dir, "start.lock")


def make_private(directory: str) -> None:
    """Create `directory` for this user alone (0700, its missing parents too), or verify that it is so.

    A state directory of ours that lets others in is closed to them. The short place in /tmp is refused:
    others could have filled it before. Raises UnsafePlace, or the system call's OSError, each with the path.
    """
    if sys.platform == "win32":
        from ctxprotocol import windows

        windows.make_private(directory, windows.calls())
        return
    _create(directory)
    found = os.lstat(directory)
    _refuse_foreign(directory, found)
    if not found.st_mode & 0o077:
        return
    if os.path.dirname(directory) == SHORT_PLACE and os.path.basename(directory).startswith("ctx-"):
        raise UnsafePlace(f"{directory} lets other users in (mode {found.st_mode & 0o7777:o}): remove it")
    os.chmod(directory, 0o700)


def check_place(socket: str) -> None:
    """Verify that the directory of an existing socket is ours and closed to writes of others.

    Raises UnsafePlace, or FileNotFoundError when there is no such directory.
    """
    directory = os.path.dirname(socket)
    found = os.lstat(directory)
    _refuse_foreign(directory, found)
    if found.st_mode & 0o022:
        raise UnsafePlace(f"{directory} can be written by other users (mode {found.st_mode & 0o7777:o})")


def check_peer(connection: "Socket") -> None:
    """Verify that the process at the other end of a Unix socket is this user's; raises UnsafePlace."""
    if sys.platform == "win32":
        return  # a pipe lets nobody else in, and whoever dials or accepts asks for the process at the other end
    uid = _peer_uid(connection)
    if uid is not None and uid != os.geteuid():
        raise UnsafePlace(f"the process at the socket runs as user id {uid}, not as you ({os.geteuid()})")


def _peer_uid(connection: "Socket") -> int | None:
    """Return whose process is at the other end; None where there is no more to ask than the place, which is checked."""
    if sys.platform == "linux":
        # SO_PEERCRED: struct ucred {pid, uid, gid}, of whoever called listen() or connect().
        return int.from_bytes(connection.getsockopt(1, 17, 12)[4:8], sys.byteorder)
    if sys.platform == "darwin":
        # LOCAL_PEERCRED at SOL_LOCAL: struct xucred {version, uid, groups}.
        return int.from_bytes(connection.getsockopt(0, 1, 76)[4:8], sys.byteorder)
    return None


def _create(directory: str) -> None:
    missing = []
    while not os.path.lexists(directory):
        missing.append(directory)
        parent = os.path.dirname(directory)
        if parent == directory:
            break
        directory = parent
    for path in reversed(missing):
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            pass  # another client was faster; what it made is verified by the caller


def _refuse_foreign(directory: str, found: os.stat_result) -> None:
    kind = found.st_mode & _TYPE_BITS
    if kind == _LINK:
        raise UnsafePlace(f"{directory} is a symbolic link, not a directory of its own")
    if kind != _DIRECTORY:
        raise UnsafePlace(f"{directory} is not a directory")
    if sys.platform != "win32" and found.st_uid != os.geteuid():
        raise UnsafePlace(f"{directory} belongs to user id {found.st_uid}, not to you ({os.geteuid()})")
