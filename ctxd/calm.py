"""When the machine has room for work that nobody waits for. Runs on the loop; owned by the composition root.

Such work is niced, too, but an index that is opened or compared needs the disk and this process, which are not.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable

# The machine has more to do than this for each of its cores: the work is put off, but not for ever, since a load may be
# of processes that only wait for a disk.
BUSY_LOAD = 1.5
LOOK_S, WITHIN_S = 1.0, 120.0


async def until_calm(asking: Callable[[], int]) -> None:
    """Wait until nobody waits for an answer and a core is free, WITHIN_S at most; `asking` counts who waits."""
    ends = time.monotonic() + WITHIN_S
    while time.monotonic() < ends and (asking() or overloaded()):  # noqa: ASYNC110  (the load has no event)
        await asyncio.sleep(LOOK_S)


def overloaded() -> bool:
    """Say whether more processes want to run than there are cores for."""
    if sys.platform == "win32":
        from psutil import getloadavg  # an imitation of it
    else:
        from os import getloadavg
    return getloadavg()[0] > BUSY_LOAD * (os.cpu_count() or 1)
