"""What it means that a hub says no: a status and a word of its own become a message. Pure."""

from __future__ import annotations

import msgspec

from ctxclient.hub.failure import HubFailed, NotOnHub
from ctxprotocol.models import Named


class Asked(msgspec.Struct, frozen=True):
    """What was asked for: a model, or a `file` of it; where, whether with a token, and whether the hub itself answers.

    Else it is somebody to whom it sent us.
    """

    named: Named
    endpoint: str
    with_token: bool
    itself: bool
    file: str = ""


# What hubs say in the header X-Error-Code; a model that is not there and one that not everyone may see are answered
# alike, by 401, where no token is sent.
_NO_REPO, _NO_REVISION, _NO_FILE, _GATED = "RepoNotFound", "RevisionNotFound", "EntryNotFound", "GatedRepo"


def refusal(asked: Asked, host: str, status: int, word: str) -> HubFailed:
    """Return what a status that is none of success means; `host` is who said it."""
    named, page = asked.named, f"{asked.endpoint}/{asked.named.repo}"
    if status == 429:
        return HubFailed(f"{host} is asked too much (429)", "try again later" + _own_token(asked))
    if status >= 500:
        return HubFailed(f"{host} has trouble of its own ({status})", "try again later")
    if not asked.itself:
        return HubFailed(f"{host}, where the hub keeps {asked.file or named}, answers {status}", "try again")
    if word == _NO_REVISION:
        return NotOnHub(f"{host} knows {named.repo}, but no revision {named.revision or 'main'} of it", page)
    if asked.file and (word == _NO_FILE or status == 404):
        return HubFailed(f"{host} lists {asked.file} of {named}, and does not have it", f"see {page}")
    if word == _GATED or (asked.file and status in (401, 403)):
        return _gated(asked, host, page)
    if status == 401 and not asked.with_token:
        return NotOnHub(
            f"{host} shows no {named} to everyone: there is none of that name, or it is private or gated",
            f"check the name: {page}\nif you may have it, set HF_TOKEN to a token of yours",
        )
    if status in (401, 403):
        return HubFailed(f"{host} does not take the token in HF_TOKEN for {named}", f"is it valid, and for {page}?")
    if status == 404 or word == _NO_REPO:
        return NotOnHub(f"{host} has no model {named}", f"check the name: {page}")
    return HubFailed(f"{host} answers {status} for {asked.file or named}", "is the endpoint one of a hub?")


def _gated(asked: Asked, host: str, page: str) -> HubFailed:
    if asked.with_token:
        return HubFailed(f"{host} gives {asked.named} only to who has accepted its terms", f"accept them: {page}")
    return HubFailed(
        f"{host} gives {asked.named} only to who has accepted its terms",
        f"accept them: {page}\nthen set HF_TOKEN to a token of yours",
    )


def _own_token(asked: Asked) -> str:
    return "" if asked.with_token else ", or with a token of yours in HF_TOKEN"
