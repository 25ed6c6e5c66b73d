"""The hub as a server: asks it for a description or a file, follows where it sends us, and says why nothing comes.

Runs in the client process, blocking. The token goes to the endpoint alone, never to where that redirects; nothing of
the environment counts (proxies, .netrc), no cookie is kept, certificates are checked, and http:// is for this machine.
Connecting takes seconds at most, a silent server as long as is said, a body of any size is the caller's to bound.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, quote, urljoin, urlsplit

import msgspec

from ctxclient.hub import refusal
from ctxclient.hub.failure import HubFailed
from ctxprotocol import web
from ctxprotocol.errors import UsageFailed
from ctxprotocol.models import Named
from ctxprotocol.providers import is_loopback
from ctxprotocol.secrets import Secret

if TYPE_CHECKING:
    import ssl

    import httpx

ENDPOINT = "https://huggingface.co"
SILENCE_MS = 30_000
# For the name, and then for all addresses together; one that does not answer must leave time for the next.
_NAME_S, _CONNECT_S, _ONE_S = 5.0, 8.0, 3.0
# Of a host with many: who cannot be reached at some cannot be reached.
_ADDRESSES = 4
# A hub sends to its cache and from there to where the large files are.
_REDIRECTS = 5
_REDIRECTING = (301, 302, 303, 307, 308)
# The description of a repository with 50,000 files.
_MOST_JSON_BYTES = 16 << 20
_PORTS = {"http": 80, "https": 443}


class Origin(msgspec.Struct, frozen=True):
    """Whom a token is for: scheme, host and port."""

    scheme: str
    host: str
    port: int


class Body:
    """A file as it comes: from which byte on, and its pieces. `pieces` raises HubFailed where it ends too early."""

    def __init__(self, start: int, pieces: Iterator[bytes]) -> None:
        self.start = start
        self.pieces = pieces


class Hub:
    """See the module. Closed by `with`. Raises UsageFailed for an endpoint that cannot be one."""

    def __init__(self, endpoint: str, token: Secret | None, *, silence_s: float, ca_file: str = "") -> None:
        self.endpoint = endpoint.rstrip("/")
        parts = _split(self.endpoint)
        if parts is None or parts.query or parts.fragment:
            raise UsageFailed(f"{endpoint} is no address of a hub", f"as in {ENDPOINT}")
        self._own = _origin(parts)
        if self._own.scheme == "http" and not is_loopback(self._own.host):
            raise UsageFailed(f"http:// to {self._own.host} would let others read and change what comes", "https://")
        self.host = self._own.host
        self._token = token
        self._silence_s = silence_s
        self._addresses: dict[tuple[str, int], list[str]] = {}
        self._context = _trusting(ca_file)
        # One for each host: a connection is kept by its number, and several hosts may share that.
        self._clients: dict[str, httpx.Client] = {}

    def __enter__(self) -> Hub:
        return self

    def __exit__(self, *_: object) -> None:
        for client in self._clients.values():
            client.close()

    def describe(self, named: Named) -> bytes:
        """Return what the hub says of a model, as JSON. Raises HubFailed."""
        revision = quote(named.revision or "main", safe="")
        url = f"{self.endpoint}/api/models/{named.repo}/revision/{revision}?blobs=true"
        with self._opened(url, named, {"Accept": "application/json"}) as response:
            if response.status_code != 200:
                raise self._refused(response, named)
            found = bytearray()
            for piece in self._pieces(response):
                found += piece
                if len(found) > _MOST_JSON_BYTES:
                    raise HubFailed(f"{self.host} describes {named} in more than {_MOST_JSON_BYTES:,} bytes")
            return bytes(found)

    @contextlib.contextmanager
    def file(self, named: Named, sha: str, name: str, start: int) -> Iterator[Body]:
        """Open a file of a revision, from `start` on if the server can do that. Raises HubFailed."""
        url = f"{self.endpoint}/{named.repo}/resolve/{sha}/{quote(name)}"
        for first in (start, 0) if start else (0,):
            with self._opened(url, named, {"Range": f"bytes={first}-"} if first else {}) as response:
                if response.status_code == 200:
                    yield Body(0, self._pieces(response))
                    return
                if first and response.status_code == 206 and _starts_at(response.headers) == first:
                    yield Body(first, self._pieces(response))
                    return
                if not first or response.status_code not in (206, 416):  # those: it knows another size
                    raise self._refused(response, named, name)

    def _refused(self, response: httpx.Response, named: Named, file: str = "") -> HubFailed:
        itself = response.request.headers["host"] == urlsplit(self.endpoint).netloc
        asked = refusal.Asked(named, self.endpoint, self._token is not None, itself, file)
        return refusal.refusal(asked, _host(response), response.status_code, response.headers.get("x-error-code", ""))

    @contextlib.contextmanager
    def _opened(self, url: str, named: Named, headers: dict[str, str]) -> Iterator[httpx.Response]:
        """Ask for `url` and wherever that sends us. Raises HubFailed."""
        for _ in range(_REDIRECTS + 1):
            parts = self._checked(url)
            own = self._token is not None and _origin(parts) == self._own
            credential = {"Authorization": f"Bearer {self._token.reveal()}"} if self._token and own else {}
            response = self._sent(url, parts, {**headers, **credential})
            try:
                if response.status_code not in _REDIRECTING:
                    yield response
                    return
                url = urljoin(url, response.headers.get("location", ""))
            finally:
                response.close()
        raise HubFailed(f"{self.host} sends from one place to the next for {named}, more than {_REDIRECTS} times")

    def _checked(self, url: str) -> SplitResult:
        """Return the parts of an address that may be asked: no step down from TLS, no other protocol."""
        parts = _split(url)
        if parts is None:
            raise HubFailed(f"{self.host} sends to what is no address")
        local = self._own.scheme == "http" and is_loopback(parts.hostname or "")
        if parts.scheme != "https" and not local:
            raise HubFailed(f"{self.host} sends to {parts.hostname} without TLS, which is not followed")
        return parts

    def _sent(self, url: str, parts: SplitResult, headers: dict[str, str]) -> httpx.Response:
        """Ask at the addresses of the host in turn; only one that cannot be connected to is followed by the next."""
        import httpx

        host, port = parts.hostname or "", _origin(parts).port
        if host not in self._clients:
            self._clients[host] = _made(self._context)
        ends, said = time.monotonic() + _CONNECT_S, "no connection"
        for address in self._numbers(host, port):
            left = ends - time.monotonic()
            if left <= 0 or (parts.scheme != "https" and not is_loopback(address)):
                continue
            limits = {"connect": min(left, _ONE_S), "read": self._silence_s, "write": self._silence_s, "pool": None}
            try:
                asked = self._clients[host].build_request(
                    "GET",
                    httpx.URL(url).copy_with(host=address),
                    headers={**headers, "Host": parts.netloc},
                    extensions={"timeout": limits, "sni_hostname": host},
                )
                return self._clients[host].send(asked, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout) as fault:
                said = web.no_connection(fault)
            except (httpx.HTTPError, httpx.InvalidURL) as fault:
                raise self._ended(fault, host) from None
        raise HubFailed(f"{host} cannot be reached ({said})", "is there a network? proxies are not used")

    def _numbers(self, host: str, port: int) -> list[str]:
        """Return the addresses of a host, its kinds by turns. Raises HubFailed.

        In a thread: a name server that is silent takes half a minute, and nothing ends it.
        """
        found = self._addresses.get((host, port), [])
        if found:
            return found

        def ask() -> None:
            try:
                rows = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            except (OSError, UnicodeError):
                return
            kinds = [[str(row[4][0]) for row in rows if (row[0] == socket.AF_INET6) == six] for six in (False, True)]
            found.extend(dict.fromkeys(each for pair in zip_longest(*kinds) for each in pair if each))

        asking = threading.Thread(target=ask, name="ctx-names", daemon=True)
        asking.start()
        asking.join(_NAME_S)
        if not found:
            raise HubFailed(f"{host} has no address here", "is there a network? proxies are not used")
        self._addresses[host, port] = found[:_ADDRESSES]
        return found[:_ADDRESSES]

    def _pieces(self, response: httpx.Response) -> Iterator[bytes]:
        """Return the body as it comes. Raises HubFailed where it ends before its end."""
        import httpx

        host = _host(response)
        if response.headers.get("content-encoding", "identity") != "identity":
            raise HubFailed(f"{host} answers compressed, and was asked not to")
        try:
            yield from response.iter_raw()
        except httpx.HTTPError as fault:
            raise self._ended(fault, host) from None

    def _ended(self, fault: Exception, host: str) -> HubFailed:
        """Return what it means that no answer, or no more of it, comes."""
        import httpx

        if isinstance(fault, httpx.TimeoutException):
            return HubFailed(f"{host} was silent for {self._silence_s:g} s", "try again, or give it longer: --timeout")
        if isinstance(fault, httpx.RemoteProtocolError) and not web.is_cut(fault):
            return HubFailed(f"{host} does not speak HTTP as it should", "is the endpoint one of a hub?")
        if isinstance(fault, httpx.TransportError):
            return HubFailed(f"{host} ended the connection in the middle", "try again: it goes on where it ended")
        return HubFailed(f"{host} sends to what is no address")


def _trusting(ca_file: str) -> ssl.SSLContext:
    """Return who is trusted. Raises UsageFailed."""
    try:
        return web.trusting(ca_file)
    except OSError as fault:
        raise UsageFailed(f"{ca_file}: {fault.strerror or 'no certificates'}", "--ca-file") from None


def _made(context: ssl.SSLContext) -> httpx.Client:
    """Return a client that takes nothing from the environment."""
    import httpx

    return httpx.Client(
        verify=context,
        trust_env=False,
        follow_redirects=False,
        cookies=web.no_cookies(),
        headers={"Accept-Encoding": "identity", "User-Agent": "ctx"},
    )


def _host(response: httpx.Response) -> str:
    """Return whom a request was for: its address is a number."""
    return urlsplit(f"//{response.request.headers['host']}").hostname or ""


def _split(url: str) -> SplitResult | None:
    """Return the parts of an address of http or https, None where it is none, or holds a user name."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    fits = parts.scheme in _PORTS and parts.hostname and parts.netloc.isascii() and "@" not in parts.netloc
    return parts if fits else None


def _origin(parts: SplitResult) -> Origin:
    return Origin(parts.scheme, parts.hostname or "", parts.port or _PORTS[parts.scheme])


def _starts_at(headers: httpx.Headers) -> int:
    """Return the first byte that a partial answer holds, -1 where it does not say (RFC 9110, 14.4)."""
    unit, _, span = headers.get("content-range", "").partition(" ")
    first = span.partition("-")[0]
    return int(first) if unit == "bytes" and first.isascii() and first.isdigit() else -1
