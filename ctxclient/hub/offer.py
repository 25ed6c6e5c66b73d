"""What a hub says of a model, and which of its files are wanted. Pure: JSON in, values out.

The reply is a stranger's: of the file names in it only those count that ctx knows by itself, none becomes a path.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ctxclient.hub.failure import HubFailed, NotOnHub
from ctxprotocol import models
from ctxprotocol.models import Named

_SHA256 = re.compile(r"[0-9a-f]{64}", re.A)
_SHOWN_FILES = 12
_MOST_LICENCE = 100
_GRAPH = f"ONNX graph where ctx looks for one ({', '.join(models.GRAPHS)})"
# What a model is usually made of besides, the likelier ones to explain what is lacking first.
_TELLING = (".onnx", ".safetensors", ".bin", ".gguf", ".json")


class Piece(msgspec.Struct, frozen=True):
    """A file that is to be fetched, with what the hub says it must be: -1 and "" where it says nothing.

    `blob` is what git calls it (a SHA-1 over its size and its bytes, told with its size), `sha256` is told of large
    files.
    """

    name: str
    size_bytes: int = -1
    sha256: str = ""
    blob: str = ""

    @property
    def checked(self) -> bool:
        """Whether its bytes can be held to what the hub says."""
        return bool(self.sha256 or self.blob)


class Offer(msgspec.Struct, frozen=True):
    """A revision of a model, and its files that are wanted: small ones first, the graph and its weights last."""

    named: Named
    sha: str
    licence: str
    graph: str
    pieces: tuple[Piece, ...]

    @property
    def size_bytes(self) -> int:
        """Size of all, as far as it is told."""
        return sum(max(piece.size_bytes, 0) for piece in self.pieces)


class _Lfs(msgspec.Struct, frozen=True):
    """What is said of a file that is not in git itself."""

    sha256: str = ""
    size: int | None = None


class _Sibling(msgspec.Struct, frozen=True, rename={"blob": "blobId"}):
    """A file of the repository."""

    rfilename: str
    size: int | None = None
    blob: str | None = None
    lfs: _Lfs | None = None


class _Reply(msgspec.Struct, frozen=True, rename={"card": "cardData"}):
    """What of the hub's description of a repository counts."""

    sha: str
    siblings: tuple[_Sibling, ...] = ()
    card: Any = None
    tags: Any = None


def read(body: bytes, named: Named, host: str) -> Offer:
    """Return what the hub offers of a model. Raises HubFailed, NotOnHub."""
    try:
        reply = msgspec.json.decode(body, type=_Reply)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise HubFailed(f"{host} does not describe {named} as a hub does", "is the endpoint one of a hub?") from None
    if not models.is_hash(reply.sha):
        raise HubFailed(f"{host} names no revision of {named} by its hash", "is the endpoint one of a hub?")
    files = {each.rfilename: each for each in reply.siblings}
    graph = next((name for name in models.GRAPHS if name in files), models.GRAPHS[-1])
    for name, what in ((graph, _GRAPH), (models.TOKENIZER, models.TOKENIZER), (models.CONFIG, models.CONFIG)):
        if name not in files:
            raise NotOnHub(f"{named} holds no {what}; its files: {_shown(list(files))}", _export(named))
    order = (models.CONFIG, models.TOKENIZER, models.POOLING, models.PROMPTS, graph, graph + models.WEIGHTS_SUFFIX)
    pieces = tuple(_piece(files[name], host) for name in order if name in files)
    return Offer(named, reply.sha, _licence(reply.card, reply.tags), graph, pieces)


def _export(named: Named) -> str:
    return (
        "it takes an ONNX export, as many repositories with onnx in their name are; or make one\n"
        f"(optimum-cli export onnx --model {named.repo} DIR) and name that: ctx config set embed.model DIR"
    )


def _piece(file: _Sibling, host: str) -> Piece:
    """Return a file with what is told of it. Raises HubFailed where that cannot be."""
    size, sha256, blob = file.size, "", file.blob or ""
    if file.lfs is not None:
        # What git has of it is a pointer.
        size, sha256, blob = (size if file.lfs.size is None else file.lfs.size), file.lfs.sha256.lower(), ""
    fits = _SHA256.fullmatch(sha256) if file.lfs is not None else not blob or models.is_hash(blob)
    if not fits or (size is not None and size < 0):
        raise HubFailed(f"{host} gives {file.rfilename} a size or digest that is none", "is the endpoint one of a hub?")
    return Piece(file.rfilename, sha256=sha256) if size is None else Piece(file.rfilename, size, sha256, blob)


def _licence(card: Any, tags: Any) -> str:
    """Return the licence that a card names, "" where it names none."""
    said = card.get("license") if isinstance(card, dict) else None
    if said == "other" and isinstance(card.get("license_name"), str):
        said = card["license_name"]
    words = said if isinstance(said, list) else [said]
    found = [word for word in words if isinstance(word, str) and word]
    if not found and isinstance(tags, list):
        found = [tag.removeprefix("license:") for tag in tags if isinstance(tag, str) and tag.startswith("license:")]
    return ", ".join(found)[:_MOST_LICENCE]


def _shown(files: list[str]) -> str:
    """Return some of the names, those that tell most first."""

    def rank(name: str) -> int:
        return next((place for place, end in enumerate(_TELLING) if name.endswith(end)), len(_TELLING))

    if not files:
        return "none"
    first = sorted(files, key=lambda name: (rank(name), name))[:_SHOWN_FILES]
    more = f" and {len(files) - len(first)} more" if len(files) > len(first) else ""
    return ", ".join(name[:_MOST_LICENCE] for name in first) + more
