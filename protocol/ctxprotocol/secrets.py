"""The keys of providers: where one is kept, and getting it. The client writes them, the daemon reads them.

One file beside the configuration, 0600 from its first instant, names every key. A key is in it, or, where the package
`keyring` has a keyring that is worth it, in that: then the file only says so. Every function here may block, on a
disk or on whoever guards the keyring; never call one on an event loop.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Literal

import msgspec

from ctxprotocol import files
from ctxprotocol.errors import CtxError, UsageFailed
from ctxprotocol.lock import file_lock

Where = Literal["keyring", "file"]
FILE = "keys.json"
# What the entries of the keyring are called.
_SERVICE = "ctx"
# A keyring of less is none: its backends give themselves 1 and more when they are fit to be used, plain files less.
_WORTH = 1
# Far above any number of keys.
_MOST_BYTES = 1 << 20
# Whoever writes it is done in milliseconds.
_TURN_S = 5.0
MOST_KEY = 4096


class KeysUnusable(CtxError):
    """The file of keys cannot be used as it is, or the keyring does not give one out; the message says why."""

    error = "keys_unusable"


class Secret:
    """A key that does not show itself: not in a message, a log or a traceback. `origin` says whence it is."""

    __slots__ = ("_value", "origin")

    def __init__(self, value: str, origin: str) -> None:
        self._value = value
        self.origin = origin

    def reveal(self) -> str:
        """Return the key, for the header of a request and nothing else."""
        return self._value

    def __repr__(self) -> str:
        return f"Secret(from {self.origin})"


class _Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a key is kept; `key` is "" when that is the keyring."""

    kept: Where
    key: str = ""

    def __repr__(self) -> str:
        return f"_Entry({self.kept})"


class _File(msgspec.Struct, frozen=True):
    keys: dict[str, _Entry] = {}


def path_of(config_path: str) -> str:
    """Return where the file of keys is: beside the configuration."""
    return os.path.join(os.path.dirname(config_path), FILE)


def names(path: str) -> dict[str, Where]:
    """Return the names that have a key, and where each is kept. Raises KeysUnusable."""
    return {name: entry.kept for name, entry in sorted(_read(path).keys.items())}


def find(path: str, name: str, variable: str, environ: Mapping[str, str]) -> Secret | None:
    """Return the key of a provider: the one that was set, else what `variable` holds here. Raises KeysUnusable."""
    entry = _read(path).keys.get(name)
    if entry is not None and entry.kept == "file":
        found = Secret(entry.key, "file")
    elif entry is not None:
        found = Secret(_from_keyring(name), "keyring")
    else:
        value = environ.get(variable, "").strip() if variable else ""
        if not value:
            return None
        found = Secret(value, f"environment: {variable}")
    try:
        check(found.reveal())
    except UsageFailed as fault:
        raise KeysUnusable(f"{fault.message} ({found.origin})", f"ctx auth set {name}") from None
    return found


def keep(path: str, name: str, key: str) -> Where:
    """Keep a key, in the keyring where there is one, and return where. Raises KeysUnusable, UsageFailed."""
    check(key)
    with _turn(path):
        keys = dict(_read(path).keys)
        entry = _Entry("keyring") if _into_keyring(name, key) else _Entry("file", key)
        if entry.kept == "file" and name in keys and keys[name].kept == "keyring":
            _out_of_keyring(name)
        keys[name] = entry
        _write(path, _File(keys))
    return entry.kept


def remove(path: str, name: str) -> Where | None:
    """Forget a key and return where it was, None when there was none. Raises KeysUnusable."""
    with _turn(path):
        keys = dict(_read(path).keys)
        entry = keys.pop(name, None)
        if entry is None:
            return None
        if entry.kept == "keyring":
            _out_of_keyring(name)
        _write(path, _File(keys))
    return entry.kept


def check(key: str) -> None:
    """Refuse what cannot be a key: it goes into a header as it is. Raises UsageFailed, without showing it."""
    if not key:
        raise UsageFailed("the key is empty", "paste it, or pass it on standard input: ctx auth set NAME < FILE")
    if len(key) > MOST_KEY:
        raise UsageFailed(f"the key has more than {MOST_KEY} characters", "one key, in one line")
    if not all("!" <= char <= "~" for char in key):
        raise UsageFailed("the key holds a blank, a control character or one that is not ASCII", "one key, in one line")


def _read(path: str) -> _File:
    """Return what the file says, nothing where there is none. Raises KeysUnusable."""
    try:
        descriptor = files.open_to_read(path, follow=False)
    except FileNotFoundError:
        return _File()
    except OSError as fault:
        raise KeysUnusable(f"{path}: {fault.strerror}", "a file of your own, no link") from None
    try:
        _refuse_wide(path, os.fstat(descriptor))
        text = os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)
    if not text:
        return _File()
    try:
        return msgspec.json.decode(text, type=_File)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        # What the decoder would say may quote the file.
        raise KeysUnusable(f"{path} is not a file of keys", "remove it, and set the keys anew") from None


def _refuse_wide(path: str, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise KeysUnusable(f"{path} is not a file", "remove it, and set the keys anew")
    if sys.platform == "win32":
        return  # the directory of a user's settings lets nobody else in
    if found.st_uid != os.getuid():
        raise KeysUnusable(f"{path} belongs to another user (uid {found.st_uid})", "remove it, and set the keys anew")
    if found.st_mode & 0o077:
        raise KeysUnusable(
            f"{path} lets others in (mode {found.st_mode & 0o777:o})",
            f"chmod 600 {path}; if others could read it, have the providers make new keys",
        )


@contextlib.contextmanager
def _turn(path: str) -> Iterator[None]:
    """Let one at a time change the file: whoever holds the lock on it. One who dies lets go."""
    ends = time.monotonic() + _TURN_S
    try:
        os.makedirs(os.path.dirname(path), 0o700, exist_ok=True)
        while (held := _locked(path)) is None:
            if time.monotonic() > ends:
                raise KeysUnusable(f"another program is changing {path}", "try again")
            time.sleep(0.01)
        try:
            yield
        finally:
            held()
    except OSError as fault:
        raise KeysUnusable(f"cannot write {path}: {fault.strerror or fault}", "nothing was changed") from None


def _locked(path: str) -> Callable[[], None] | None:
    """Lock the file, made empty where there is none, and return what lets go of it.

    None when another holds it or has just replaced it. On Windows a file that is open cannot be replaced: one beside
    it is the lock.
    """
    if sys.platform == "win32":
        beside = file_lock(f"{path}.lock")
        return beside.close if beside.take() else None
    import fcntl

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | files.NO_FOLLOW | files.OWN | files.NO_WAIT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), os.lstat(path)):
            return partial(os.close, descriptor)
    except (BlockingIOError, FileNotFoundError):
        pass
    os.close(descriptor)
    return None


def _write(path: str, keys: _File) -> None:
    new = f"{path}.new"
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)  # of one who died
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.NO_FOLLOW | files.OWN, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(keys)) + b"\n")
            file.flush()
            os.fsync(descriptor)
        os.replace(new, path)
    except BaseException:
        os.unlink(new)
        raise


def _keyring() -> Any:
    """Return the package `keyring` if it is installed and has a keyring that is worth it, None otherwise."""
    try:
        import keyring

        return keyring if keyring.get_keyring().priority >= _WORTH else None
    except Exception:  # a backend can fail in any way while it is looked for
        return None


def _into_keyring(name: str, key: str) -> bool:
    ring = _keyring()
    if ring is None:
        return False
    try:
        ring.set_password(_SERVICE, name, key)
        return bool(ring.get_password(_SERVICE, name) == key)
    except Exception:  # locked, or nobody there to unlock it: the file will do
        return False


def _from_keyring(name: str) -> str:
    ring = _keyring()
    if ring is None:
        raise KeysUnusable(
            f"the key of {name} is in the keyring, and there is none here", f"ctx auth set {name} keeps it in a file"
        )
    try:
        found = ring.get_password(_SERVICE, name)
    except Exception as fault:
        raise KeysUnusable(
            f"the keyring does not give out the key of {name} ({type(fault).__name__})", "unlock it"
        ) from None
    if not found:
        raise KeysUnusable(f"the keyring has no key of {name} any more", f"ctx auth set {name}")
    return str(found)


def _out_of_keyring(name: str) -> None:
    ring = _keyring()
    if ring is not None:
        with contextlib.suppress(Exception):  # gone already, or locked: nothing names it any more
            ring.delete_password(_SERVICE, name)
