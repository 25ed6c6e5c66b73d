"""One question to one language model, over the network. On the loop; the wire formats are in formats.py."""

from __future__ import annotations

import time

from ctxd.remote.failure import RemoteFailed
from ctxd.remote.providers import Remote
from ctxd.steer import formats
from ctxd.steer.formats import Ask, Said
from ctxd.steer.lately import Lately

# Far above any reply that we ask for.
_MOST_BYTES = 1 << 20
# How those answer who know no schemas, or not this one.
_NO_SCHEMA = (400, 422)


async def ask(remote: Remote, question: Ask, lately: Lately, *, deadline_s: float) -> Said:
    """Return what a model says, once more without the schema where it refuses that. Raises RemoteFailed, Unfit."""
    ends = time.monotonic() + deadline_s
    if lately.takes_schema(remote.target):
        try:
            return await _asked(remote, question, deadline_s, strict=True)
        except RemoteFailed as failed:
            if failed.status not in _NO_SCHEMA:
                raise
        said = await _asked(remote, question, ends - time.monotonic(), strict=False)
        lately.refuses_schema(remote.target)  # not before: it may have refused something else
        return said
    return await _asked(remote, question, deadline_s, strict=False)


async def _asked(remote: Remote, question: Ask, deadline_s: float, *, strict: bool) -> Said:
    payload = formats.payload(remote.target, question, strict=strict)
    body = await remote.post(
        formats.path(remote.target), payload, deadline_s=round(deadline_s, 1), most_bytes=_MOST_BYTES
    )
    return formats.read(remote.target.kind, body)
