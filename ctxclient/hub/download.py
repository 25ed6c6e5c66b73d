"""A model's bytes onto the disk: one file after the other, each held to the size and the digest that the hub tells.

Runs in the client process. What an interruption leaves of a file is gone on with where its digest is told, and begun
anew where the whole would be wrong or cannot be checked. The small files come first: what they rule out is not fetched.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from functools import partial
from typing import BinaryIO

import msgspec

from ctxclient.hub.failure import HubFailed, NotOnHub
from ctxclient.hub.offer import Offer, Piece
from ctxclient.hub.web import Hub
from ctxprotocol import files, models
from ctxprotocol.models import Part

# Called with the name of a file, and how many bytes of the model are here.
Show = Callable[[str, int], None]

_READ_BYTES = 1 << 20
# The daemon reads these whole, on its loop; they have some hundred bytes.
_MOST_JSON_BYTES = 1 << 20
_JSON = (models.CONFIG, models.POOLING, models.PROMPTS)


class _Config(msgspec.Struct, frozen=True):
    """What of a model's config.json the daemon needs."""

    hidden_size: int


class _Sums:
    """Size and digests of the bytes of a file so far."""

    def __init__(self, piece: Piece) -> None:
        self._piece = piece
        self._sha256 = hashlib.sha256()
        self._blob = hashlib.sha1(b"blob %d\0" % piece.size_bytes, usedforsecurity=False)
        self.size = 0

    def add(self, data: bytes) -> None:
        self.size += len(data)
        self._sha256.update(data)
        if self._piece.blob:
            self._blob.update(data)

    def take(self, file: BinaryIO, size: int) -> None:
        """Add the first bytes of a file, and leave it at their end."""
        file.seek(0)
        while self.size < size and (data := file.read(min(_READ_BYTES, size - self.size))):
            self.add(data)

    def wrong(self) -> str:
        """Return what is not as the hub says, "" when nothing is."""
        piece = self._piece
        if piece.size_bytes >= 0 and self.size != piece.size_bytes:
            return f"it has {self.size:,} bytes and should have {piece.size_bytes:,}"
        if piece.sha256 and self._sha256.hexdigest() != piece.sha256:
            return "its SHA-256 is another"
        return "its SHA-1 is another" if piece.blob and self._blob.hexdigest() != piece.blob else ""

    def part(self) -> Part:
        return Part(self._piece.name, self.size, self._sha256.hexdigest())


def kept_bytes(path: str, offer: Offer) -> int:
    """Return how much of a model an earlier try has left in `path`."""
    return sum(_kept(os.path.join(path, *piece.name.split("/"))) for piece in offer.pieces)


def download(hub: Hub, offer: Offer, path: str, most_bytes: int, show: Show) -> tuple[Part, ...]:
    """Fetch what is lacking of a model in `path` and return all its files. Raises HubFailed, NotOnHub, OSError."""
    parts: list[Part] = []
    for piece in offer.pieces:
        here = sum(part.size_bytes for part in parts)
        target = os.path.join(path, *piece.name.split("/"))
        most = piece.size_bytes if piece.size_bytes >= 0 else most_bytes - here
        most = min(most, _MOST_JSON_BYTES) if piece.name in _JSON else most
        parts.append(_One(hub, offer, piece, target, most, partial(_shown, show, piece.name, here)).got())
        if piece.name == models.CONFIG:
            _refuse_config(offer, target)
    return tuple(parts)


class _One:
    """One file on its way."""

    def __init__(self, hub: Hub, offer: Offer, piece: Piece, path: str, most: int, show: Callable[[int], None]) -> None:
        self._hub, self._offer, self._piece, self._path = hub, offer, piece, path
        self._most, self._show = most, show

    def got(self) -> Part:
        """Return the file once it is here and right. Raises HubFailed."""
        piece = self._piece
        kept = _kept(self._path) if piece.checked else 0
        if piece.checked and kept >= piece.size_bytes >= 0:
            sums = _Sums(piece)
            with open(self._path, "rb") as file:
                sums.take(file, kept)
            if not sums.wrong():
                return sums.part()
            kept = 0
        sums = self._received(kept)
        if kept and sums.wrong():
            sums = self._received(0)
        if sums.wrong():
            os.unlink(self._path)
            raise HubFailed(
                f"{piece.name} is not what {self._hub.host} says it is: {sums.wrong()}; it is not kept",
                "try again; if it is so again, the hub or who is between has changed it",
            )
        return sums.part()

    def _received(self, start: int) -> _Sums:
        """Receive the file from `start` on, or all of it where the server cannot do that."""
        piece = self._piece
        sums = _Sums(piece)
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | files.NO_FOLLOW | files.OWN, 0o600)
        with open(descriptor, "r+b") as file:
            with self._hub.file(self._offer.named, self._offer.sha, piece.name, start) as body:
                file.truncate(body.start)
                sums.take(file, body.start)
                for data in body.pieces:
                    if sums.size + len(data) > self._most:
                        raise HubFailed(
                            f"{self._hub.host} sends more of {piece.name} than {self._most:,} bytes",
                            "that is what it said, or all that is taken (see --max-gb)",
                        )
                    file.write(data)
                    sums.add(data)
                    self._show(sums.size)
            file.flush()
            os.fsync(file.fileno())
        return sums


def _shown(show: Show, name: str, before: int, size: int) -> None:
    show(name, before + size)


def _kept(path: str) -> int:
    return os.path.getsize(path) if os.path.isfile(path) else 0


def _refuse_config(offer: Offer, path: str) -> None:
    """Refuse a model whose vectors have no known length. Raises NotOnHub."""
    try:
        with open(path, "rb") as file:
            size = msgspec.json.decode(file.read(_MOST_JSON_BYTES), type=_Config).hidden_size
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        size = 0
    if size < 1:
        raise NotOnHub(
            f"the {models.CONFIG} of {offer.named} says no hidden_size, so it is no model of texts",
            "it takes a model as sentence-transformers exports them",
        )
