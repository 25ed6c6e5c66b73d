"""The directory of fetched models: who may change a model, where one is put together, and how it appears and goes.

Runs in the client process. A model is whole from the first instant that it has its name: it is put together in a
directory beside, `.OWNER--NAME@SHA12.part`, which an interruption leaves for the next try to go on with. One process at
a time works on a model, by a lock on `.OWNER--NAME.lock` that the system takes back when that process ends.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator

import msgspec

from ctxclient.hub.failure import HubFailed
from ctxclient.hub.offer import Offer
from ctxprotocol import endpoint, files, models
from ctxprotocol.lock import file_lock
from ctxprotocol.models import Fetched, Named, Record

_LOOK_S = 0.2
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_ROOM = "free some room, or remove a model (ctx model list), and try again"
_GONE, _PART = ".gone", ".part"


@contextlib.contextmanager
def disk(where: str) -> Iterator[None]:
    """Say what the disk does not do as a HubFailed."""
    try:
        yield
    except OSError as fault:
        if fault.errno in _FULL:
            raise HubFailed(f"the disk is full: {fault.filename or where}; what has come is kept", _ROOM) from None
        raise HubFailed(f"{where}: {fault}", "can it be written?") from None


def prepare(where: str) -> None:
    """See that the directory of fetched models is there, and ours alone."""
    endpoint.make_private(os.path.dirname(where))
    endpoint.make_private(where)


@contextlib.contextmanager
def turn(where: str, named: Named, wait: Callable[[], None] | None) -> Iterator[bool]:
    """Be the only one that changes a model; says whether that is so. `wait` is called once where another is at it.

    Without it nobody is waited for.
    """
    lock = file_lock(os.path.join(where, f".{named.owner}--{named.name}.lock"))
    try:
        held = lock.take()
        if not held and wait is not None:
            wait()
            while not (held := lock.take()):
                time.sleep(_LOOK_S)
        yield held
    finally:
        lock.close()


def draft(where: str, offer: Offer) -> str:
    """Return the directory where a model is put together, with what is left there of it; all other leavings go."""
    name = f".{models.folder(offer.named, offer.sha)}{_PART}"
    sweep(where, offer.named, name)
    path = os.path.join(where, name)
    endpoint.make_private(path)
    wanted = {piece.name for piece in offer.pieces}
    for folder, inside, names in os.walk(path):
        for each in [os.path.join(folder, one) for one in (*inside, *names)]:
            unknown = not os.path.isdir(each) and os.path.relpath(each, path).replace(os.sep, "/") not in wanted
            if unknown or os.path.islink(each):
                os.unlink(each)
    for each in wanted:
        endpoint.make_private(os.path.dirname(os.path.join(path, *each.split("/"))))
    return path


def sweep(where: str, named: Named, keep: str = "") -> None:
    """Remove what earlier tries and removals of a model have left, but for `keep`. Whose turn it is may do that."""
    for name in os.listdir(where):
        if name.startswith(f".{named.owner}--{named.name}@") and name != keep:
            shutil.rmtree(os.path.join(where, name), ignore_errors=True)


def appear(part: str, record: Record, where: str) -> Fetched:
    """Give a model that is complete in `part` its name, in place of what has it, and return it."""
    write(part, record)
    for folder, _, _ in os.walk(part):
        _sync(folder)
    one = models.named(record.name)
    assert one is not None
    path = os.path.join(where, models.folder(one, record.sha))
    if os.path.lexists(path):
        _set_aside(path)
    os.rename(part, path)
    _sync(where)
    sweep(where, one)
    return Fetched(path, record)


def disappear(one: Fetched) -> None:
    """Remove a model: at once, as far as others see."""
    shutil.rmtree(_set_aside(one.path))


def write(path: str, record: Record) -> None:
    """Write a model's record."""
    new = os.path.join(path, f"{models.RECORD}.new")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(new)  # of one who died
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | files.NO_FOLLOW | files.OWN, 0o600)
    with open(descriptor, "wb") as file:
        file.write(msgspec.json.format(msgspec.json.encode(record)) + b"\n")
        file.flush()
        os.fsync(file.fileno())
    os.replace(new, os.path.join(path, models.RECORD))
    _sync(path)


def asked(one: Fetched, revision: str) -> Fetched:
    """Note that a model that is here was asked for by this word, now."""
    revisions = tuple(dict.fromkeys([*one.record.revisions, revision]))
    record = msgspec.structs.replace(one.record, revisions=revisions, asked_ns=time.time_ns())
    write(one.path, record)
    return Fetched(one.path, record)


def flaw(one: Fetched) -> str:
    """Return the first of its files that is not as it was fetched, "" when all are."""
    for part in one.record.files:
        try:
            with open(os.path.join(one.path, *part.name.split("/")), "rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != part.sha256:
                    return part.name
        except OSError:
            return part.name
    return ""


def refuse_full(where: str, bytes_needed: int) -> None:
    """Refuse what will not fit. Raises HubFailed."""
    free = shutil.disk_usage(where).free
    if free < bytes_needed:
        raise HubFailed(
            f"{where} has room for {free / 1e6:,.0f} MB, and {bytes_needed / 1e6:,.0f} MB are to come", _ROOM
        )


def _set_aside(path: str) -> str:
    where, name = os.path.split(path)
    aside = os.path.join(where, f".{name}{_GONE}")
    shutil.rmtree(aside, ignore_errors=True)  # of one who died
    os.rename(path, aside)
    return aside


def _sync(path: str) -> None:
    """Have the names in a directory last through a power cut."""
    if sys.platform != "win32":
        descriptor = os.open(path, os.O_RDONLY | files.OWN)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
