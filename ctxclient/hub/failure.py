"""Why a model could not be fetched. Their words never hold a token, or what a server said in its own."""

from __future__ import annotations

from ctxprotocol.errors import CtxError


class HubFailed(CtxError):
    """The hub, the way to it or the disk did not do it; what was there before is as it was."""

    error = "hub_failed"


class NotOnHub(HubFailed):
    """The hub has no such model or revision, or nothing in it that ctx could use."""

    error = "not_on_hub"
    code = 1
