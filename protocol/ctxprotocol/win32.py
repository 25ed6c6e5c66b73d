"""The calls to Windows beyond Python's own, their argument types declared. Decides nothing: see windows.py.

Untested: no machine has run it. Overlapped reads and writes are those of `_winapi`, which keeps their buffers alive.
"""

from __future__ import annotations

import sys

assert sys.platform == "win32"

import _winapi  # noqa: E402
import ctypes  # noqa: E402
from ctypes import wintypes  # noqa: E402
from typing import Any  # noqa: E402

_INVALID_HANDLE = ctypes.c_void_p(-1).value
_UNLIMITED_INSTANCES = 255
_BUFFER_BYTES = 1 << 16
_TOKEN_QUERY = 0x8
_TOKEN_USER = 1
# A SID takes 68 bytes at most, and the pointer to it 16.
_TOKEN_USER_BYTES = 128
_QUERY_LIMITED_INFORMATION = 0x1000
_REVISION = 1
_FILE_OBJECT = 1
_OWNER_AND_DACL = 0x1 | 0x4
_PROTECTED_DACL = 0x4 | 0x80000000
_SEM_TIMEOUT = 121
_OPERATION_ABORTED = 995

_kernel = ctypes.WinDLL("kernel32", use_last_error=True)
_security = ctypes.WinDLL("advapi32", use_last_error=True)


class _Attributes(ctypes.Structure):
    """SECURITY_ATTRIBUTES."""

    _fields_ = (
        ("nLength", wintypes.DWORD),
        ("lpSecurityDescriptor", wintypes.LPVOID),
        ("bInheritHandle", wintypes.BOOL),
    )


def _call(library: ctypes.WinDLL, name: str, result: Any, *arguments: Any) -> Any:
    function = getattr(library, name)
    function.restype, function.argtypes = result, arguments
    return function


_BOOL, _DWORD, _HANDLE, _TEXT, _POINTER = (
    *(wintypes.BOOL, wintypes.DWORD, wintypes.HANDLE, wintypes.LPCWSTR, wintypes.LPVOID),
)
_TO_DWORD, _TO_HANDLE, _TO_POINTER = (ctypes.POINTER(each) for each in (_DWORD, _HANDLE, _POINTER))
_TO_ATTRIBUTES = ctypes.POINTER(_Attributes)

_create_pipe = _call(
    _kernel, "CreateNamedPipeW", _HANDLE, _TEXT, _DWORD, _DWORD, _DWORD, _DWORD, _DWORD, _DWORD, _TO_ATTRIBUTES
)
_create_file = _call(_kernel, "CreateFileW", _HANDLE, _TEXT, _DWORD, _DWORD, _TO_ATTRIBUTES, _DWORD, _DWORD, _HANDLE)
_create_directory = _call(_kernel, "CreateDirectoryW", _BOOL, _TEXT, _TO_ATTRIBUTES)
_wait_pipe = _call(_kernel, "WaitNamedPipeW", _BOOL, _TEXT, _DWORD)
_server_pid = _call(_kernel, "GetNamedPipeServerProcessId", _BOOL, _HANDLE, _TO_DWORD)
_client_pid = _call(_kernel, "GetNamedPipeClientProcessId", _BOOL, _HANDLE, _TO_DWORD)
_open_process = _call(_kernel, "OpenProcess", _HANDLE, _DWORD, _BOOL, _DWORD)
_current_process = _call(_kernel, "GetCurrentProcess", _HANDLE)
_close_handle = _call(_kernel, "CloseHandle", _BOOL, _HANDLE)
_local_free = _call(_kernel, "LocalFree", _POINTER, _POINTER)
_open_token = _call(_security, "OpenProcessToken", _BOOL, _HANDLE, _DWORD, _TO_HANDLE)
_token_information = _call(_security, "GetTokenInformation", _BOOL, _HANDLE, ctypes.c_int, _POINTER, _DWORD, _TO_DWORD)
_sid_to_text = _call(_security, "ConvertSidToStringSidW", _BOOL, _POINTER, _TO_POINTER)
_text_to_descriptor = _call(
    _security,
    "ConvertStringSecurityDescriptorToSecurityDescriptorW",
    *(_BOOL, _TEXT, _DWORD, _TO_POINTER, _TO_DWORD),
)
_descriptor_to_text = _call(
    _security,
    "ConvertSecurityDescriptorToStringSecurityDescriptorW",
    *(_BOOL, _POINTER, _DWORD, _DWORD, _TO_POINTER, _TO_DWORD),
)
_named_security = _call(
    _security,
    "GetNamedSecurityInfoW",
    *(_DWORD, _TEXT, ctypes.c_int, _DWORD, _TO_POINTER, _TO_POINTER, _TO_POINTER, _TO_POINTER, _TO_POINTER),
)
_set_file_security = _call(_security, "SetFileSecurityW", _BOOL, _TEXT, _DWORD, _POINTER)


def _error(path: str = "", number: int = 0) -> OSError:
    """Return the error of the last call, or of a number that a call returned."""
    number = number or ctypes.get_last_error()
    return OSError(0, ctypes.FormatError(number).strip(), path or None, number)


class _Freed:
    """A pointer that the system allocated, given back at the end of a `with`."""

    def __init__(self) -> None:
        self.pointer = ctypes.c_void_p()

    def __enter__(self) -> ctypes.c_void_p:
        return self.pointer

    def __exit__(self, *_: object) -> None:
        _local_free(self.pointer)


class Pending:
    """An overlapped operation."""

    def __init__(self, overlapped: _winapi.Overlapped) -> None:
        self._overlapped = overlapped

    def wait(self, wait_ms: int) -> bool:
        """Wait for its event; Ctrl-C ends the wait of the main thread."""
        allowed = _winapi.INFINITE if wait_ms < 0 else wait_ms
        return _winapi.WaitForMultipleObjects([self._overlapped.event], False, allowed) != _winapi.WAIT_TIMEOUT

    def data(self) -> bytes:
        """Return what was read."""
        count = self.count()
        return (self._overlapped.getbuffer() or b"")[:count]

    def count(self) -> int:
        """Return how many bytes went."""
        return self._overlapped.GetOverlappedResult(True)[0]

    def cancel(self) -> None:
        """End it, and wait until the kernel has let go of the buffer."""
        self._overlapped.cancel()
        try:
            self.count()
        except OSError:
            pass  # aborted, as asked, or the other end went first


class Win32:
    """See windows.Calls."""

    def own_sid(self) -> str:
        return self._sid(_current_process())

    def process_sid(self, pid: int) -> str:
        process = _open_process(_QUERY_LIMITED_INFORMATION, False, pid)
        if not process:
            raise _error()
        try:
            return self._sid(process)
        finally:
            _close_handle(process)

    def create_pipe(self, name: str, open_mode: int, pipe_mode: int, descriptor: str) -> int:
        with _Freed() as made:
            attributes = self._attributes(descriptor, made)
            handle = _create_pipe(
                *(name, open_mode, pipe_mode, _UNLIMITED_INSTANCES),
                *(_BUFFER_BYTES, _BUFFER_BYTES, 0, ctypes.byref(attributes)),
            )
            if handle in (None, _INVALID_HANDLE):
                raise _error(name)
        return int(handle)

    def open_file(self, path: str, access: int, share: int, disposition: int, flags: int) -> int:
        handle = _create_file(path, access, share, None, disposition, flags, None)
        if handle in (None, _INVALID_HANDLE):
            raise _error(path)
        return int(handle)

    def wait_pipe(self, name: str, wait_ms: int) -> bool:
        return bool(_wait_pipe(name, wait_ms))

    def server_pid(self, handle: int) -> int:
        return self._pid(_server_pid, handle)

    def client_pid(self, handle: int) -> int:
        return self._pid(_client_pid, handle)

    def close(self, handle: int) -> None:
        if not _close_handle(handle):
            raise _error()

    def read(self, handle: int, size: int) -> Pending:
        return Pending(_winapi.ReadFile(handle, size, overlapped=True)[0])

    def write(self, handle: int, data: bytes) -> Pending:
        return Pending(_winapi.WriteFile(handle, data, overlapped=True)[0])

    def make_directory(self, path: str, descriptor: str) -> None:
        with _Freed() as made:
            attributes = self._attributes(descriptor, made)
            if not _create_directory(path, ctypes.byref(attributes)):
                raise _error(path)

    def descriptor(self, path: str) -> str:
        with _Freed() as found, _Freed() as text:
            none = ctypes.POINTER(ctypes.c_void_p)()
            number = _named_security(
                *(path, _FILE_OBJECT, _OWNER_AND_DACL, none, none, none, none, ctypes.byref(found))
            )
            if number:
                raise _error(path, number)
            if not _descriptor_to_text(found, _REVISION, _OWNER_AND_DACL, ctypes.byref(text), None):
                raise _error(path)
            return ctypes.wstring_at(text.value or 0)

    def set_descriptor(self, path: str, descriptor: str) -> None:
        with _Freed() as made:
            self._attributes(descriptor, made)
            if not _set_file_security(path, _PROTECTED_DACL, made):
                raise _error(path)

    def _attributes(self, descriptor: str, made: ctypes.c_void_p) -> _Attributes:
        """Return attributes with a descriptor that is written to `made`, which the caller frees afterwards."""
        if not _text_to_descriptor(descriptor, _REVISION, ctypes.byref(made), None):
            raise _error()
        return _Attributes(ctypes.sizeof(_Attributes), made, False)

    def _pid(self, ask: Any, handle: int) -> int:
        pid = wintypes.DWORD()
        if not ask(handle, ctypes.byref(pid)):
            raise _error()
        return int(pid.value)

    def _sid(self, process: int) -> str:
        token = wintypes.HANDLE()
        if not _open_token(process, _TOKEN_QUERY, ctypes.byref(token)):
            raise _error()
        try:
            user = ctypes.create_string_buffer(_TOKEN_USER_BYTES)
            size = wintypes.DWORD()
            if not _token_information(token, _TOKEN_USER, user, _TOKEN_USER_BYTES, ctypes.byref(size)):
                raise _error()
            # TOKEN_USER begins with the pointer to a SID, which stands behind it in the same buffer.
            sid = ctypes.c_void_p.from_buffer(user)
            with _Freed() as text:
                if not _sid_to_text(sid, ctypes.byref(text)):
                    raise _error()
                return ctypes.wstring_at(text.value or 0)
        finally:
            _close_handle(token)
