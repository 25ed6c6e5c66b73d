"""A Windows of a few hundred lines: its pipes, share modes and descriptors as its documentation says, in this process.

It stands for ctxprotocol/win32.py and for asyncio's proactor, which only Windows has. It has never been checked against
the real one: what passes here is decided rightly if Windows does what it says.
"""

from __future__ import annotations

import asyncio
import os
import re
import select
import socket
import threading
import time
from collections.abc import Callable

from ctxprotocol import windows

ME, OTHER = "S-1-5-21-1-2-3-1001", "S-1-5-21-1-2-3-1002"
INVALID_PARAMETER = 87
_ALLOWED = re.compile(r"\(A;[^;]*;(?:GA|FA);;;([^)]+)\)")


def failure(number: int, text: str = "") -> OSError:
    """Return an error as Windows' Python makes it."""
    kinds: dict[int, type[OSError]] = {
        2: FileNotFoundError,
        5: PermissionError,
        32: PermissionError,
        183: FileExistsError,
    }
    error = kinds.get(number, OSError)(0, text or f"error {number}")
    error.winerror = number
    return error


class Instance:
    """One instance of a pipe: made, connected once, closed."""

    def __init__(self, name: str, pid: int) -> None:
        self.name, self.pid, self.client_pid = name, pid, 0
        self.ours, self.theirs = socket.socketpair()
        self.connected: list[Callable[[], object]] = []
        self.taken = False


class Machine:
    """What all processes share. `enforcing`: descriptors are kept to."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.processes: dict[int, str] = {}
        self.pipes: dict[str, tuple[str, int]] = {}
        self.handles: dict[int, object] = {}
        self.open_files: dict[int, tuple[str, int, int]] = {}
        self.descriptors: dict[str, str] = {}
        self.enforcing = True
        self.most_instances = 255
        self._last = 100

    def process(self, sid: str = ME, *, remote: bool = False) -> Windows:
        """Return a new process of a user, of another machine when `remote`."""
        pid = self.number()
        self.processes[pid] = sid
        return Windows(self, pid, sid, remote)

    def number(self) -> int:
        self._last += 4
        return self._last

    def instances(self, name: str) -> list[Instance]:
        return [each for each in self.handles.values() if isinstance(each, Instance) and each.name == name]

    def lets_in(self, descriptor: str, sid: str) -> bool:
        return not self.enforcing or sid in _ALLOWED.findall(descriptor)

    def close(self) -> None:
        """Close what tests left open."""
        for held in self.handles.values():
            for each in (held.ours, held.theirs) if isinstance(held, Instance) else (held,):
                each.close()  # type: ignore[attr-defined]


class Windows:
    """The calls of one process; see ctxprotocol.windows.Calls."""

    def __init__(self, machine: Machine, pid: int, sid: str, remote: bool) -> None:
        self.machine, self.pid, self.sid, self.remote = machine, pid, sid, remote
        self.opened: list[tuple[str, int, int, int, int]] = []
        self.waited: list[int] = []
        self._servers: dict[int, int] = {}

    def own_sid(self) -> str:
        return self.sid

    def process_sid(self, pid: int) -> str:
        if pid not in self.machine.processes:
            raise failure(INVALID_PARAMETER)
        return self.machine.processes[pid]

    def create_pipe(self, name: str, open_mode: int, pipe_mode: int, descriptor: str) -> int:
        with self.machine.changed:
            there = self.machine.instances(name)
            if there and (open_mode & 0x80000 or not self.machine.lets_in(self.machine.pipes[name][0], self.sid)):
                raise failure(windows.ACCESS_DENIED)
            if len(there) >= self.machine.most_instances:
                raise failure(windows.PIPE_BUSY)
            self.machine.pipes[name] = (descriptor, pipe_mode)
            handle = self.machine.number()
            self.machine.handles[handle] = Instance(name, self.pid)
            self.machine.changed.notify_all()
            return handle

    def open_file(self, path: str, access: int, share: int, disposition: int, flags: int) -> int:
        self.opened.append((path, access, share, disposition, flags))
        if path.startswith("\\\\.\\pipe\\"):
            return self._dial(path)
        for _, other_access, other_share in [each for each in self.machine.open_files.values() if each[0] == path]:
            if not _shares(other_share, access) or not _shares(share, other_access):
                raise failure(windows.SHARING_VIOLATION)
        if disposition == windows.OPEN_EXISTING and not os.path.exists(path):
            raise failure(windows.FILE_NOT_FOUND)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))
        handle = self.machine.number()
        self.machine.open_files[handle] = (path, access, share)
        return handle

    def _dial(self, name: str) -> int:
        with self.machine.changed:
            there = self.machine.instances(name)
            if not there:
                raise failure(windows.FILE_NOT_FOUND)
            descriptor, pipe_mode = self.machine.pipes[name]
            if not self.machine.lets_in(descriptor, self.sid) or (self.remote and pipe_mode & 0x8):
                raise failure(windows.ACCESS_DENIED)
            free = next((each for each in there if not each.taken), None)
            if free is None:
                raise failure(windows.PIPE_BUSY)
            free.taken, free.client_pid = True, self.pid
            handle = self.machine.number()
            self.machine.handles[handle] = free.theirs
            self._servers[handle] = free.pid
            for call in free.connected:
                call()
            return handle

    def wait_pipe(self, name: str, wait_ms: int) -> bool:
        self.waited.append(wait_ms)

        def free() -> bool:
            there = self.machine.instances(name)
            return not there or any(not each.taken for each in there)

        with self.machine.changed:
            return self.machine.changed.wait_for(free, wait_ms / 1e3)

    def server_pid(self, handle: int) -> int:
        return self._servers[handle]

    def client_pid(self, handle: int) -> int:
        found = self.machine.handles[handle]
        assert isinstance(found, Instance)
        return found.client_pid

    def close(self, handle: int) -> None:
        with self.machine.changed:
            if self.machine.open_files.pop(handle, None) is None:
                found = self.machine.handles.pop(handle)
                if isinstance(found, Instance):
                    found.ours.close()
                    if not found.taken:
                        found.theirs.close()
                else:
                    found.close()  # type: ignore[attr-defined]
            self.machine.changed.notify_all()

    def read(self, handle: int, size: int) -> Pending:
        return Pending(self._socket(handle), size=size)

    def write(self, handle: int, data: bytes) -> Pending:
        return Pending(self._socket(handle), data=data)

    def _socket(self, handle: int) -> socket.socket:
        found = self.machine.handles[handle]
        return found.ours if isinstance(found, Instance) else found  # type: ignore[return-value]

    def make_directory(self, path: str, descriptor: str) -> None:
        try:
            os.mkdir(path)
        except FileExistsError:
            raise failure(183) from None
        self.machine.descriptors[path] = descriptor

    def descriptor(self, path: str) -> str:
        return self.machine.descriptors[path]

    def set_descriptor(self, path: str, descriptor: str) -> None:
        self.machine.descriptors[path] = descriptor


def _shares(share: int, access: int) -> bool:
    wanted = (1 if access & 0x80000000 else 0) | (2 if access & 0x40000000 else 0)
    return not wanted & ~share


class Pending:
    """One overlapped read or write on a socket."""

    def __init__(self, end: socket.socket, size: int = 0, data: bytes = b"") -> None:
        self._end, self._size, self._data = end, size, data
        self.cancelled = False

    def wait(self, wait_ms: int) -> bool:
        ends = None if wait_ms < 0 else wait_ms / 1e3
        read, write, _ = select.select(*(([self._end], []) if self._size else ([], [self._end])), [], ends)
        return bool(read or write)

    def data(self) -> bytes:
        found = self._end.recv(self._size)
        if not found:
            raise failure(windows.BROKEN_PIPE)
        return found

    def count(self) -> int:
        try:
            return self._end.send(self._data[:4096])
        except (BrokenPipeError, ConnectionResetError):
            raise failure(windows.NO_DATA) from None

    def cancel(self) -> None:
        self.cancelled = True


class Held:
    """An instance in the server's hands."""

    def __init__(self, system: Windows, handle: int) -> None:
        self.system, self.handle, self.closed = system, handle, False

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            self.system.close(self.handle)


class Proactor:
    """What is needed of asyncio's loop, on any loop."""

    def __init__(self, system: Windows) -> None:
        self.system = system
        self.serving: list[asyncio.Task[object]] = []

    def hold(self, handle: int) -> Held:
        return Held(self.system, handle)

    async def accept(self, held: Held) -> None:
        instance = self.system.machine.handles[held.handle]
        assert isinstance(instance, Instance)
        loop, came = asyncio.get_running_loop(), asyncio.Event()
        with self.system.machine.changed:
            instance.connected.append(lambda: loop.call_soon_threadsafe(came.set))
            if instance.taken:
                came.set()
        await came.wait()

    def serve(self, held: Held, protocol: asyncio.Protocol) -> None:
        loop = asyncio.get_running_loop()
        instance = self.system.machine.handles[held.handle]
        assert isinstance(instance, Instance)
        end = instance.ours.dup()
        end.setblocking(False)
        held.close()
        self.serving.append(loop.create_task(loop.connect_accepted_socket(lambda: protocol, end)))


def wait_for(condition: Callable[[], bool], wait_s: float = 10.0) -> None:
    """Wait until something is so."""
    ends = time.monotonic() + wait_s
    while not condition():
        assert time.monotonic() < ends
        time.sleep(0.005)
