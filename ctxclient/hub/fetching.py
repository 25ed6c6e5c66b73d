"""From a name to a model on this machine: ask the hub, wait for who is at it already, download, put in place.

Runs in the client process. Nothing is changed before the hub has said what it has, and that it fits.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from typing import Protocol

import msgspec

from ctxclient.hub import offer as offers
from ctxclient.hub import shelf
from ctxclient.hub.download import download, kept_bytes
from ctxclient.hub.failure import HubFailed
from ctxclient.hub.offer import Offer
from ctxclient.hub.web import Hub
from ctxprotocol import models
from ctxprotocol.models import Fetched, Named, Record


class Teller(Protocol):
    """Who is told what happens."""

    def offer(self, offer: Offer, kept_bytes: int) -> None:
        """Say what is going to be downloaded, and how much of it is here from an earlier try."""

    def damaged(self, one: Fetched, file: str) -> None:
        """Say that a model is here, but not as it was fetched."""

    def waits(self) -> None:
        """Say that another process is at this model."""

    def progress(self, file: str, done_bytes: int, total_bytes: int) -> None:
        """Say how far it is; the total is 0 where it is not told."""


class Outcome(msgspec.Struct, frozen=True):
    """A model that is here now, and whether that is news."""

    one: Fetched
    downloaded: bool


def get(hub: Hub, named: Named, where: str, most_bytes: int, tell: Teller) -> Outcome:
    """Have a model below `where`. Raises HubFailed, NotOnHub."""
    try:
        offer = offers.read(hub.describe(named), named, hub.host)
    except HubFailed as fault:
        one = models.find(where, named)
        if one is not None:
            fault.hint += f"\nfetched before, and as good as it was: {one.name}"
        raise
    with shelf.disk(where):
        shelf.prepare(where)
    with shelf.disk(where), shelf.turn(where, named, tell.waits):
        one = next((each for each in models.matching(models.fetched(where), named_by(offer))), None)
        if one is not None and not (flaw := shelf.flaw(one)):
            return Outcome(shelf.asked(one, named.revision or "main"), False)
        if one is not None:
            tell.damaged(one, flaw)
        return Outcome(_download(hub, offer, where, most_bytes, tell), True)


def present(named: Named, where: str, tell: Teller) -> Outcome | None:
    """Return the model whose whole hash is named, if it is here and as it was fetched: no hub need be asked."""
    if not models.is_hash(named.revision) or models.find(where, named) is None:
        return None
    with shelf.disk(where), shelf.turn(where, named, tell.waits):
        one = models.find(where, named)
        if one is None or shelf.flaw(one):
            return None
        return Outcome(shelf.asked(one, named.revision), False)


def named_by(offer: Offer) -> Named:
    """Return the name of exactly the revision that is offered."""
    return msgspec.structs.replace(offer.named, revision=offer.sha)


def _download(hub: Hub, offer: Offer, where: str, most_bytes: int, tell: Teller) -> Fetched:
    if offer.size_bytes > most_bytes:
        raise HubFailed(
            f"{offer.named} has {offer.size_bytes / 1e9:.2f} GB, and {most_bytes / 1e9:g} GB are allowed",
            f"ctx model get {offer.named} --max-gb {offer.size_bytes // 10**9 + 1}",
        )
    part = shelf.draft(where, offer)
    kept = kept_bytes(part, offer)
    tell.offer(offer, kept)
    shelf.refuse_full(where, offer.size_bytes - kept)
    total = offer.size_bytes if all(piece.size_bytes >= 0 for piece in offer.pieces) else 0
    parts = download(hub, offer, part, most_bytes, lambda file, done: tell.progress(file, done, total))
    record = Record(
        name=offer.named.repo,
        sha=offer.sha,
        licence=offer.licence,
        endpoint=hub.endpoint,
        graph=offer.graph,
        files=parts,
        revisions=(offer.named.revision or "main",),
        asked_ns=time.time_ns(),
    )
    return shelf.appear(part, record, where)


@contextlib.contextmanager
def removing(named: Named, where: str) -> Iterator[None]:
    """Be the only one at a model, without waiting. Raises HubFailed where another process fetches it."""
    with shelf.disk(where), shelf.turn(where, named, None) as held:
        if not held:
            raise HubFailed(f"{named.repo} is being fetched just now", "stop that (Ctrl-C) or wait for its end")
        yield
