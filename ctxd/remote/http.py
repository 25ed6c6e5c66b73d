"""One thing: send JSON to an endpoint and get JSON back, on the loop, or a RemoteFailed that says why not.

Owned by the composition root, one for the daemon; connections are kept for a while. A deadline over the whole of it, a
bounded answer, certificates checked, no redirect followed, nothing of the environment. httpx is loaded when the first
request is made (95 ms, in a thread): who has configured no provider never loads it.
"""

from __future__ import annotations

import asyncio
import email.utils
import logging
import re
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from ctxd.remote.failure import RemoteFailed
from ctxd.remote.names import Names
from ctxd.threads import Threads
from ctxprotocol import web
from ctxprotocol.providers import is_loopback

if TYPE_CHECKING:
    import httpx

T = TypeVar("T")

# The vectors of a hundred texts with 3072 numbers each, written out, are 7 MB.
MOST_BYTES = 32 << 20
# One address that does not answer must leave time for the next.
_CONNECT_S = 3.0
# The whole has its deadline; reading and writing need none of their own.
_LIMITS = {"timeout": {"connect": _CONNECT_S, "read": None, "write": None, "pool": None}}
_KEPT_S = 30.0
# How httpx says that a connection ended before a byte of an answer.
_AT_ONCE = "disconnected without sending"
# No longer than anybody would wait.
_MOST_RETRY_AFTER_S = 3600.0
# A word for what is wrong, as providers put it beside their sentences: those could repeat what was sent.
_WORD = re.compile(r'"(?:code|type|status|reason)"\s*:\s*"([A-Za-z_]{3,40})"')
# How Google says with a status of 400 what others say with 401.
_NO_KEY = "API_KEY_INVALID"
_ERROR_BYTES = 16_384


class Http:
    """See the module. `post` is for the loop that it is used on first; `close` ends the connections."""

    def __init__(self) -> None:
        self._names = Names()
        self._threads = Threads("ctxd-remote", places=1, slow_s=0.5, most=4)
        # One for each host: a connection is kept by its number, and several hosts may share that.
        self._clients: dict[tuple[str, str], httpx.AsyncClient] = {}
        self._lock = asyncio.Lock()

    async def post(
        self,
        url: str,
        payload: bytes,
        headers: Mapping[str, str],
        *,
        deadline_s: float,
        most_bytes: int = MOST_BYTES,
        ca_file: str = "",
    ) -> bytes:
        """Return the body of the answer to `payload`. Raises RemoteFailed."""
        host = urlsplit(url).hostname or ""
        if urlsplit(url).scheme != "https" and not is_loopback(host):
            raise RemoteFailed("rejected", f"http:// to {host} would let others read what is sent", "https://")
        try:
            async with asyncio.timeout(deadline_s):
                return await self._posted(url, payload, headers, most_bytes, await self._client(host, ca_file))
        except TimeoutError:
            raise RemoteFailed("timeout", f"{host} did not answer within {deadline_s:g} s") from None

    async def aside(self, job: Callable[[], T], deadline_s: float) -> T:
        """Run what waits for a disk or a keyring, or takes long, in a thread. Raises TimeoutError, and what it does."""
        async with asyncio.timeout(deadline_s):
            return await asyncio.wrap_future(self._threads.submit(job))

    async def close(self) -> None:
        """Close the connections, end the threads."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()
        self._names.close()
        self._threads.shutdown(cancel_futures=True)

    async def _client(self, host: str, ca_file: str) -> httpx.AsyncClient:
        async with self._lock:
            if (host, ca_file) not in self._clients:
                self._clients[host, ca_file] = await asyncio.wrap_future(self._threads.submit(_made, ca_file))
            return self._clients[host, ca_file]

    async def _posted(
        self, url: str, payload: bytes, headers: Mapping[str, str], most_bytes: int, client: httpx.AsyncClient
    ) -> bytes:
        """Try the addresses of the host in turn; only one that cannot be connected to is followed by the next."""
        import httpx

        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
        said = "no connection"
        for address in await self._names.addresses(host, port):
            if parts.scheme != "https" and not is_loopback(address):
                continue  # a name that means this machine elsewhere
            target = httpx.URL(url).copy_with(host=address)
            asked = client.build_request(
                "POST",
                target,
                content=payload,
                headers={**headers, "Host": parts.netloc, "Content-Type": "application/json"},
                extensions={**_LIMITS, "sni_hostname": host},
            )
            try:
                body = await _answer(client, asked, host, most_bytes)
                self._names.answered(host, port, address)
                return body
            except (httpx.ConnectError, httpx.ConnectTimeout) as fault:
                said = web.no_connection(fault)
            except httpx.TimeoutException:  # nobody else reads: the pool is full, say
                raise RemoteFailed("timeout", f"{host} did not answer in time") from None
            except httpx.RemoteProtocolError as fault:
                if web.is_cut(fault):
                    raise RemoteFailed("cut", f"{host} ended the connection in the middle") from None
                raise RemoteFailed("malformed", f"{host} does not speak HTTP as it should") from None
            except httpx.TransportError:
                raise RemoteFailed("cut", f"{host} ended the connection in the middle") from None
        self._names.forget(host, port)
        raise RemoteFailed("unreachable", f"{host} cannot be reached ({said})", "is there a network?")


def _made(ca_file: str) -> httpx.AsyncClient:
    """Return a client, with all that it loads. Raises RemoteFailed."""
    import anyio
    import httpx

    anyio.run(anyio.sleep, 0)  # what httpx connects by; else the loop would load it, 20 ms, with the first request

    for name in ("httpx", "httpcore"):  # they would log every request
        logging.getLogger(name).setLevel(logging.WARNING)
    try:
        context = web.trusting(ca_file)
    except OSError as fault:
        raise RemoteFailed("rejected", f"{ca_file}: {fault.strerror or 'no certificates'}", "ca_file") from None
    return httpx.AsyncClient(
        verify=context,
        trust_env=False,
        follow_redirects=False,
        cookies=web.no_cookies(),
        headers={"Accept": "application/json", "Accept-Encoding": "identity", "User-Agent": "ctx"},
        limits=httpx.Limits(max_connections=8, max_keepalive_connections=4, keepalive_expiry=_KEPT_S),
    )


async def _answer(client: httpx.AsyncClient, asked: httpx.Request, host: str, most_bytes: int) -> bytes:
    """Send and receive, once more where a connection that was kept may have been closed at that very moment.

    Raises RemoteFailed, and what httpx raises.
    """
    import httpx

    try:
        return await _exchange(client, asked, host, most_bytes)
    except httpx.RemoteProtocolError as fault:
        if _AT_ONCE not in str(fault):
            raise
    return await _exchange(client, asked, host, most_bytes)


async def _exchange(client: httpx.AsyncClient, asked: httpx.Request, host: str, most_bytes: int) -> bytes:
    """Send and receive. Raises RemoteFailed, and what httpx raises."""
    response = await client.send(asked, stream=True)
    try:
        if response.status_code != 200:
            raise await _refusal(response, host, asked)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise RemoteFailed("malformed", f"{host} answers compressed, and was asked not to")
        body = bytearray()
        async for piece in response.aiter_raw():
            body += piece
            if len(body) > most_bytes:
                raise RemoteFailed("malformed", f"{host} answers with more than {most_bytes:,} bytes")
        return bytes(body)
    finally:
        await response.aclose()


async def _refusal(response: httpx.Response, host: str, asked: httpx.Request) -> RemoteFailed:
    """Return what a status other than 200 means."""
    status = response.status_code
    words = await _words(response, asked)
    said = f"{host} answers {status}{f' ({words[0]})' if words else ''}"
    if status in (401, 403) or _NO_KEY in words:
        return RemoteFailed("refused", f"{said}: the key is not accepted")
    if status == 429:
        return RemoteFailed("limited", f"{said}: too much was asked of it", retry_after_s=_retry_after(response))
    if status >= 500:
        return RemoteFailed("server", said, retry_after_s=_retry_after(response))
    if 300 <= status < 400:
        return RemoteFailed("rejected", f"{said}: it is elsewhere now, and is not followed", "mend the endpoint")
    return RemoteFailed("rejected", said, "is the model there, the endpoint right?", status=status)


async def _words(response: httpx.Response, asked: httpx.Request) -> list[str]:
    """Return the provider's own words for what is wrong, but for those that were in what it was sent."""
    body = bytearray()
    async for piece in response.aiter_raw():
        body += piece
        if len(body) > _ERROR_BYTES:
            break
    sent = asked.content + b"\0" + b"\0".join(value for _, value in asked.headers.raw)
    found = _WORD.findall(body[:_ERROR_BYTES].decode("utf-8", "replace"))
    return [word for word in found if word.encode() not in sent]


def _retry_after(response: httpx.Response) -> float:
    """Return the seconds that Retry-After says, as a number or a date (RFC 9110, 10.2.3); 0 unsaid."""
    value = response.headers.get("retry-after", "").strip()
    if value.isascii() and value.replace(".", "", 1).isdigit():
        return min(float(value), _MOST_RETRY_AFTER_S)
    try:
        when = email.utils.parsedate_to_datetime(value).timestamp()
    except (ValueError, OverflowError):
        return 0.0
    return min(max(when - time.time(), 0.0), _MOST_RETRY_AFTER_S)
