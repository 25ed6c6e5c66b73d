"""One parse worker as the loop sees it. Owned by a pool's desk."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

import msgspec

from ctxd.parse.pipe import MAX_FRAME_BYTES, Outcome, Parse, Read, Setup, decode_outcome, pack
from ctxd.piped import Piped
from ctxd.process import ALARM_EXIT

COMMAND = (sys.executable, "-E", "-P", "-m", "ctxd.parse.worker")
# A worker that is ready to run but gets no processor is not hanging: it may have this many budgets of wall
# time, as its own alarm counts its processor time.
_STARVED_BUDGETS = 10


class ChildDied(Exception):
    """The worker ended, or was ended, while it was working. `timed_out`: it used up its budget."""

    def __init__(self, message: str, *, timed_out: bool = False) -> None:
        super().__init__(message)
        self.timed_out = timed_out


class Child:
    """A running worker. Use `open`; whoever opens it awaits `end`."""

    def __init__(self, process: Piped) -> None:
        self._process = process
        self.pid = process.pid

    @classmethod
    async def open(cls, command: Sequence[str], setup: Setup) -> Child:
        """Start a worker; raises OSError when no process can be had."""
        child = cls(await Piped.open(command or COMMAND))
        child.send(setup)
        return child

    def send(self, request: Setup | Read | Parse) -> None:
        """Queue a request."""
        self._process.send(pack(request))

    async def receive(self, budget_s: float) -> Outcome:
        """Return the worker's next answer; raises ChildDied, also when the answer takes longer than
        `budget_s`.

        A worker that cannot get a processor is given longer.
        """
        task = asyncio.ensure_future(self._process.receive(MAX_FRAME_BYTES))
        try:
            for _ in range(_STARVED_BUDGETS):
                done, _ = await asyncio.wait((task,), timeout=budget_s)
                if done or not self._is_runnable():
                    break
        finally:
            if not task.done():
                task.cancel()
        if not task.done():
            raise ChildDied("no answer within the budget", timed_out=True)
        try:
            return decode_outcome(task.result())
        except (asyncio.IncompleteReadError, ConnectionError, msgspec.DecodeError) as error:
            code = await self._process.exit_code()
            raise ChildDied(f"ended with {code}", timed_out=code == ALARM_EXIT) from error

    def _is_runnable(self) -> bool:
        """Return whether the process runs or waits for a processor, rather than sleeps; False where
        unknown."""
        try:
            with open(f"/proc/{self.pid}/stat", "rb") as file:
                return file.read(1024).rpartition(b")")[2].split()[0] == b"R"
        except (OSError, IndexError):
            return False

    def ended(self) -> bool:
        """Return whether the process is gone, killed from outside for one."""
        return self._process.ended()

    async def end(self) -> None:
        """Kill the process and wait until it is gone. May be called again; also safe while being cancelled."""
        await self._process.end()
