"""Which embedder the configuration asks for: providers where any are named, else a model of this machine.

On the loop; looks at a few files, opens no model and asks nobody.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import msgspec

from ctxd.embed.local import LocalEmbedder
from ctxd.embed.model import Embedder
from ctxd.embed.remote import RemoteEmbedder
from ctxd.embed.rows import locate
from ctxd.remote.ledger import Ledger
from ctxd.remote.providers import Remote
from ctxprotocol import models
from ctxprotocol.providers import Provider, Target, resolved


class Wanted(msgspec.Struct, frozen=True):
    """The keys below `embed`."""

    enabled: bool
    model: str
    providers: tuple[Provider, ...]
    spend_cap_usd: float


def embedder(wanted: Wanted, fetched: str, remote: Callable[[Target], Remote], ledger: Ledger) -> Embedder | None:
    """Return the embedder that is wanted, None when there is to be none. Raises EmbedFailed.

    `fetched` is the directory of the models that came from a hub.
    """
    if not wanted.enabled:
        return None
    if wanted.providers:
        remotes = [remote(resolved(each, "embed")) for each in wanted.providers]
        return RemoteEmbedder(remotes, ledger, wanted.spend_cap_usd, random.Random())
    return LocalEmbedder(locate(wanted.model, fetched))


def place(wanted: Wanted, fetched: str) -> str:
    """Return where the model of a hub lies that is wanted, and since when; "" when none is, or when it is not there.

    It changes while the configuration does not: when that model is fetched, fetched anew, or removed.
    """
    if not wanted.enabled or wanted.providers or not wanted.model:
        return ""
    named = models.of_hub(wanted.model)
    one = models.find(fetched, named) if named is not None else None
    return f"{one.path} {one.record.asked_ns}" if one is not None else ""
