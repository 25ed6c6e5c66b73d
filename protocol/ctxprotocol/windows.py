"""What ctx asks of Windows, and what its answers mean: names, descriptors, flags, errors. Nothing here calls it.

Used by both sides. `Calls` are the calls themselves: `win32.py` has the real ones, which no machine has run yet.
"""

from __future__ import annotations

import ntpath
import os
import re
import sys
from typing import Protocol

from ctxprotocol.endpoint import UnsafePlace

FILE_NOT_FOUND, ACCESS_DENIED, SHARING_VIOLATION = 2, 5, 32
BROKEN_PIPE, PIPE_BUSY, NO_DATA, PIPE_NOT_CONNECTED = 109, 231, 232, 233
# The other end has closed, or is about to.
HUNG_UP = frozenset((BROKEN_PIPE, NO_DATA, PIPE_NOT_CONNECTED))

READ_WRITE, READ = 0xC0000000, 0x80000000
SHARE_NOTHING, SHARE_READ = 0, 1
OPEN_EXISTING, OPEN_ALWAYS = 3, 4
_OVERLAPPED = 0x40000000
# A link of that name is opened itself.
_OPEN_LINK = 0x00200000
# The server may ask who we are, and may not act as us: SECURITY_SQOS_PRESENT, SECURITY_IDENTIFICATION.
_ASK_WHO_ONLY = 0x00100000 | 0x00010000

# Access, share mode, disposition, flags of CreateFileW.
DIAL = (READ_WRITE, SHARE_NOTHING, OPEN_EXISTING, _OVERLAPPED | _ASK_WHO_ONLY)
# Shared with nobody, for reading, writing or deleting: who has it open has the lock, and its directory stays.
HOLD = (READ_WRITE, SHARE_NOTHING, OPEN_ALWAYS, _OPEN_LINK)
PROBE = (READ, SHARE_READ, OPEN_EXISTING, _OPEN_LINK)
# Open modes of CreateNamedPipeW: both directions, overlapped. FILE_FLAG_FIRST_PIPE_INSTANCE: refused where somebody
# else has a pipe of that name, who would get our clients.
NEXT_INSTANCE = 0x3 | _OVERLAPPED
FIRST_INSTANCE = NEXT_INSTANCE | 0x00080000
# Pipe mode: bytes, and PIPE_REJECT_REMOTE_CLIENTS. Not a deny of NETWORK in the descriptor: who logged in by ssh is it.
LOCAL_BYTES = 0x8

# The system and its administrators, as names and SIDs; what they may do no descriptor decides. CO and OW stand for
# whoever owns what is made below, which is us.
_ABOVE = frozenset(("SY", "BA", "CO", "OW", "S-1-5-18", "S-1-5-32-544", "S-1-3-0", "S-1-3-4"))
_ADMINISTRATOR = "LA"
_ENTRY = re.compile(r"\(([^()]*)\)")
_PARTS = re.compile(r"O:(?P<owner>[^:]*?)(?=[GDS]:|$)|D:(?P<dacl>.*?)(?=S:|$)")


class Pending(Protocol):
    """A read or write that goes on by itself."""

    def wait(self, wait_ms: int) -> bool:
        """Say whether it has ended within `wait_ms`, -1 being for ever."""

    def data(self) -> bytes:
        """Return what was read. Raises OSError with what ended it."""

    def count(self) -> int:
        """Return how many bytes were written. Raises OSError with what ended it."""

    def cancel(self) -> None:
        """Have it end, and wait for that; done already is fine."""


class Calls(Protocol):
    """Windows. Everything raises OSError with `winerror`."""

    def own_sid(self) -> str: ...

    def process_sid(self, pid: int) -> str: ...

    def create_pipe(self, name: str, open_mode: int, pipe_mode: int, descriptor: str) -> int: ...

    def open_file(self, path: str, access: int, share: int, disposition: int, flags: int) -> int: ...

    def wait_pipe(self, name: str, wait_ms: int) -> bool: ...

    def server_pid(self, handle: int) -> int: ...

    def client_pid(self, handle: int) -> int: ...

    def close(self, handle: int) -> None: ...

    def read(self, handle: int, size: int) -> Pending: ...

    def write(self, handle: int, data: bytes) -> Pending: ...

    def make_directory(self, path: str, descriptor: str) -> None: ...

    def descriptor(self, path: str) -> str: ...

    def set_descriptor(self, path: str, descriptor: str) -> None: ...


def calls() -> Calls:
    """Return the real ones. Raises OSError on another platform."""
    if sys.platform == "win32":
        from ctxprotocol.win32 import Win32

        return Win32()
    raise OSError("this is not Windows")


def code(error: OSError) -> int:
    """Return Windows' number of an error, 0 where it is none of Windows'."""
    return getattr(error, "winerror", None) or 0


def pipe_name(sid: str, state_dir: str) -> str:
    r"""Return the name of the daemon's pipe: `\\.\pipe\ctx-` and a hash of whose it is and for which state.

    Names of pipes are known to everybody, and need not tell where someone keeps what.
    """
    import hashlib  # late: whoever takes the daemon's lock loads this module, on every platform

    place = ntpath.normcase(ntpath.normpath(state_dir))
    whose = hashlib.sha256(f"{sid}\0{place}".encode("utf-8", "surrogatepass"))
    return rf"\\.\pipe\ctx-{whose.hexdigest()[:32]}"


def pipe_descriptor(sid: str) -> str:
    """Return the descriptor of a pipe that is ours, protected from inherited rights, and open to us alone."""
    return f"O:{sid}D:P(A;;GA;;;{sid})"


def directory_descriptor(sid: str) -> str:
    """Return the descriptor of a directory that is ours, with all that will be made in it."""
    return f"O:{sid}D:P(A;OICI;FA;;;{sid})"


def owner(descriptor: str) -> str:
    """Return the owner in a descriptor's text, "" for none."""
    return next((match["owner"] for match in _PARTS.finditer(descriptor) if match["owner"] is not None), "")


def strangers(descriptor: str, sid: str) -> tuple[str, ...]:
    """Return whom else than us and the system a descriptor's text lets in; "everyone" where it has no list.

    What is not understood counts as a stranger, and denials count as nothing.
    """
    lists = [match["dacl"] for match in _PARTS.finditer(descriptor) if match["dacl"] is not None]
    if not lists or "NO_ACCESS_CONTROL" in lists[0]:
        return ("everyone",)
    found = []
    for entry in _ENTRY.findall(lists[0]):
        fields = entry.split(";")
        if fields[0] in ("D", "OD", "XD") and len(fields) >= 6:
            continue
        whom = fields[5] if len(fields) >= 6 else entry
        if whom not in _ABOVE and not _is_own(whom, sid):
            found.append(whom)
    if _ENTRY.sub("", lists[0]).strip("PARINO_"):
        found.append("a rule that ctx does not understand")
    return tuple(found)


def _is_own(whom: str, sid: str) -> bool:
    return whom == sid or (whom == _ADMINISTRATOR and sid.endswith("-500"))


def make_private(directory: str, asked: Calls) -> None:
    """Create `directory` for this user alone, its missing parents too, or verify that it is so.

    One of ours that lets others in is closed to them. Raises UnsafePlace, or the call's OSError.
    """
    sid = asked.own_sid()
    missing = []
    while not os.path.lexists(directory):
        missing.append(directory)
        if os.path.dirname(directory) == directory:
            break
        directory = os.path.dirname(directory)
    for path in reversed(missing):
        try:
            asked.make_directory(path, directory_descriptor(sid))
        except FileExistsError:
            pass  # another client was faster; what it made is verified now
        directory = path
    _verify(directory, sid, asked)


def _verify(directory: str, sid: str, asked: Calls) -> None:
    if os.path.islink(directory) or not os.path.isdir(directory):
        raise UnsafePlace(f"{directory} is not a directory of its own")
    found = asked.descriptor(directory)
    # What an administrator makes belongs to all administrators.
    if (whose := owner(found)) not in _ABOVE and not _is_own(whose, sid):
        raise UnsafePlace(f"{directory} belongs to {whose or 'nobody'}, not to you ({sid})")
    if strangers(found, sid):
        asked.set_descriptor(directory, directory_descriptor(sid))
