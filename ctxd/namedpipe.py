"""The daemon's pipe on Windows: made for this user alone, accepted on the loop, each client's owner checked.

Owned by the server; runs on the loop, a proactor. asyncio's own pipe server will not do: it makes its pipes without a
descriptor, so that everybody may read them, and takes clients from other machines. What Windows does is in
ctxprotocol/win32.py, what asyncio does at the end of this module; neither has been run by a machine yet.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import sys
from collections.abc import Callable
from typing import Any, Protocol

from ctxprotocol import windows
from ctxprotocol.windows import Calls

log = logging.getLogger("ctxd.server")

# Instances that wait for a client. One would do, but of clients that come at once all others would have to try again.
WAITING = 4
# After the system had no instance to give.
PAUSE_S = 0.1


class Held(Protocol):
    """One instance of the pipe."""

    @property
    def handle(self) -> int: ...

    def close(self) -> None: ...


class Proactor(Protocol):
    """What is needed of asyncio's loop on Windows."""

    def hold(self, handle: int) -> Held:
        """Take over a handle."""

    async def accept(self, held: Held) -> None:
        """Wait until a client has connected. Raises OSError when it left again."""

    def serve(self, held: Held, protocol: asyncio.Protocol) -> None:
        """Let `protocol` have the connected instance, which is the loop's from here on."""


class PipeListener:
    """A pipe that clients can dial from the first instant. Closed by `close`, which leaves connections alone.

    Raises FileExistsError where somebody else has a pipe of that name, OSError when there is none to be had.
    """

    def __init__(self, name: str, asked: Calls, proactor: Proactor | None = None) -> None:
        self.name = name
        self._asked = asked
        self._sid = asked.own_sid()
        self._proactor = proactor or _Asyncio()
        self._accepting: list[asyncio.Task[None]] = []
        try:
            self._idle = [self._make(windows.FIRST_INSTANCE)]
        except OSError as error:
            if windows.code(error) in (windows.ACCESS_DENIED, windows.PIPE_BUSY):
                told = "somebody else has a pipe of this name, and ctxd will not listen beside it"
                raise FileExistsError(errno.EEXIST, told, name) from error
            raise
        try:
            while len(self._idle) < WAITING:
                self._idle.append(self._make(windows.NEXT_INSTANCE))
        except BaseException:
            self.close()
            raise

    def serve(self, make: Callable[[], asyncio.Protocol]) -> None:
        """Give each client a protocol from `make` from now on."""
        loop = asyncio.get_running_loop()
        waiting, self._idle = self._idle, []
        self._accepting = [loop.create_task(self._accept(held, make), name="pipe") for held in waiting]

    def close(self) -> None:
        """Accept no more. Closing twice is fine."""
        for task in self._accepting:
            task.cancel()
        while self._idle:
            self._idle.pop().close()

    async def _accept(self, held: Held, make: Callable[[], asyncio.Protocol]) -> None:
        try:
            while True:
                came = await self._comes(held)
                # Before the connected one may close: with no instance left the name would be anybody's.
                taken, held = held, await self._next(held)
                if came and self._is_ours(taken):
                    self._proactor.serve(taken, make())
                else:
                    taken.close()
        finally:
            held.close()

    async def _comes(self, held: Held) -> bool:
        """Wait for a client; False: it has left again."""
        try:
            await self._proactor.accept(held)
        except OSError as error:
            if windows.code(error) not in windows.HUNG_UP:
                log.warning("a client of the pipe was lost: %s", error)
            return False
        return True

    async def _next(self, taken: Held) -> Held:
        """Return one more instance, however long the system has none; `taken` is closed if we are to stop meanwhile."""
        told = False
        while True:
            try:
                return self._make(windows.NEXT_INSTANCE)
            except OSError as error:
                if not told:
                    log.error("no further instance of the pipe: %s", error)
                told = True
            try:
                await asyncio.sleep(PAUSE_S)
            except asyncio.CancelledError:
                taken.close()
                raise

    def _make(self, open_mode: int) -> Held:
        descriptor = windows.pipe_descriptor(self._sid)
        handle = self._asked.create_pipe(self.name, open_mode, windows.LOCAL_BYTES, descriptor)
        return self._proactor.hold(handle)

    def _is_ours(self, held: Held) -> bool:
        """Say whether the client's process is this user's. The descriptor has let nobody else in: it is asked again."""
        try:
            whose = self._asked.process_sid(self._asked.client_pid(held.handle))
        except OSError as error:
            log.warning("a client of the pipe is refused: whose it is, is not told: %s", error)
            return False
        if whose != self._sid:
            log.warning("a client of the pipe is refused: it runs as %s", whose)
        return whose == self._sid


class _Asyncio:
    """The loop's own functions for pipes, which its public `start_serving_pipe` uses in the same way."""

    def hold(self, handle: int) -> Held:
        if sys.platform == "win32":
            from asyncio.windows_utils import PipeHandle

            return PipeHandle(handle)
        raise OSError("this is not Windows")

    async def accept(self, held: Held) -> None:
        loop: Any = asyncio.get_running_loop()
        await loop._proactor.accept_pipe(held)

    def serve(self, held: Held, protocol: asyncio.Protocol) -> None:
        loop: Any = asyncio.get_running_loop()
        loop._make_duplex_pipe_transport(held, protocol)
