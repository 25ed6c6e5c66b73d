"""A provider as the daemon asks it: its key, its headers, one request after the other. On the loop.

Whoever speaks a wire format makes one of these with a Target and uses `post`; what is in the payload is its business.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TypeVar

from ctxd.remote.failure import RemoteFailed
from ctxd.remote.http import MOST_BYTES, Http
from ctxprotocol import secrets
from ctxprotocol.errors import CtxError
from ctxprotocol.providers import Target, Wire
from ctxprotocol.secrets import Secret

T = TypeVar("T")

# A keyring that waits for its owner's password must not hold up the daemon.
_KEY_S = 5.0


class Keys:
    """Where keys are looked up: the file of keys, and the environment of the daemon (documented: `api_key_env`)."""

    def __init__(self, path: str, environ: Mapping[str, str]) -> None:
        self._path = path
        self._environ = environ

    def find(self, target: Target) -> Secret | None:
        """Return the key of a provider, None where none is set. Blocks. Raises KeysUnusable."""
        return secrets.find(self._path, target.name, target.api_key_env, self._environ)


class Remote:
    """One provider. `target` says what it is."""

    def __init__(self, target: Target, http: Http, keys: Keys) -> None:
        self.target = target
        self._http = http
        self._keys = keys

    async def post(self, path: str, payload: bytes, *, deadline_s: float, most_bytes: int = MOST_BYTES) -> bytes:
        """Send a payload to `endpoint + path` and return the body of the answer. Raises RemoteFailed.

        The deadline is over both, getting the key and being answered.
        """
        ends = time.monotonic() + deadline_s
        key = await self._key(deadline_s)
        try:
            return await self._http.post(
                self.target.endpoint + path,
                payload,
                headers(self.target.kind, key),
                # As it was given where the key was at hand: it stands in a message.
                deadline_s=min(deadline_s, round(ends - time.monotonic(), 1)),
                most_bytes=most_bytes,
                ca_file=self.target.ca_file,
            )
        except RemoteFailed as failed:
            if failed.kind == "refused":
                failed.hint = f"ctx auth set {self.target.name}"
            raise

    async def aside(self, job: Callable[[], T], deadline_s: float) -> T:
        """Run what takes long in a thread of the provider's: reading a large answer. Raises TimeoutError."""
        return await self._http.aside(job, deadline_s)

    async def _key(self, deadline_s: float) -> Secret | None:
        """Look the key up, each time: one that was set just now counts. Raises RemoteFailed."""
        name = self.target.name
        try:
            found = await self._http.aside(lambda: self._keys.find(self.target), min(_KEY_S, deadline_s))
        except TimeoutError:
            raise RemoteFailed("key", f"the keyring does not give out the key of {name}", "unlock it") from None
        except CtxError as error:
            raise RemoteFailed("key", error.message, error.hint) from None
        if found is None and self.target.keyed:
            raise RemoteFailed("key", f"there is no key of {name}", f"ctx auth set {name}")
        return found


def headers(kind: Wire, key: Secret | None) -> dict[str, str]:
    """Return the header that carries a key, none without."""
    if key is None:
        return {}
    if kind == "gemini":
        return {"x-goog-api-key": key.reveal()}
    return {"Authorization": f"Bearer {key.reveal()}"}
