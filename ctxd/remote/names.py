"""Addresses of hosts. Asked in threads of our own: a name server that does not answer holds up nobody, nor the end.

Owned by the one http.Http of the daemon; awaited on the loop.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time

from ctxd.remote.failure import RemoteFailed
from ctxd.threads import Threads

# A name server that is silent keeps its thread for half a minute.
_THREADS, _SLOW_S, _MOST = 1, 0.5, 4
# As name servers allow at the least.
_KNOWN_S = 60.0
# Of a host with many: who cannot be reached at some cannot be reached.
_ADDRESSES = 4


class Names:
    """See the module."""

    def __init__(self) -> None:
        self._threads = Threads("ctxd-names", places=_THREADS, slow_s=_SLOW_S, most=_MOST)
        self._known: dict[tuple[str, int], tuple[float, tuple[str, ...]]] = {}

    async def addresses(self, host: str, port: int) -> tuple[str, ...]:
        """Return the numbers of a host, the one that answered last first. Raises RemoteFailed."""
        if _is_number(host):
            return (host,)  # no name server is waited for, nor behind who waits for one
        until, found = self._known.get((host, port), (0.0, ()))
        if time.monotonic() < until:
            return found
        try:
            future = self._threads.submit(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
            rows = await asyncio.wrap_future(future)
        except (OSError, UnicodeError):
            raise RemoteFailed("unreachable", f"{host} has no address here", "is there a network?") from None
        found = tuple(dict.fromkeys(str(row[4][0]) for row in rows))[:_ADDRESSES]
        self._known[host, port] = (time.monotonic() + _KNOWN_S, found)
        return found

    def answered(self, host: str, port: int, address: str) -> None:
        """Remember which number of a host answers."""
        until, found = self._known.get((host, port), (0.0, ()))
        self._known[host, port] = (until, (address, *(each for each in found if each != address)))

    def forget(self, host: str, port: int) -> None:
        """Ask anew next time: none of them answered."""
        self._known.pop((host, port), None)

    def close(self) -> None:
        """End the threads; one that still waits for a name server is not waited for."""
        self._threads.shutdown(wait=False, cancel_futures=True)


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
