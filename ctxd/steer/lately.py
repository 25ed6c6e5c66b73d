"""How providers did lately: who rests after a failure, who takes no schema. Owned by the services; on the loop.

Kept in memory, for as long as the daemon lives. Loads nothing: whoever never steers has only this of steering.
"""

from __future__ import annotations

import time
from collections.abc import Callable

# So that one that is down costs a wait once, and not each question.
REST_S = 30.0


class Lately:
    """See the module. A target is what was asked: the same name with another model or address is another one."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._resting: dict[object, tuple[float, str]] = {}
        self._plain: set[object] = set()

    def rest(self, target: object, why: str, seconds: float = 0.0) -> None:
        """Let a target rest, 30 s at least."""
        now = self._clock()
        self._resting = {each: rest for each, rest in self._resting.items() if rest[0] > now}
        self._resting[target] = (now + max(seconds, REST_S), why)

    def resting(self, target: object) -> str:
        """Return why a target rests, and for how long still; "" when it does not."""
        until, why = self._resting.get(target, (0.0, ""))
        left = until - self._clock()
        return f"{why}; not asked again for {max(left, 1):.0f} s" if left > 0 else ""

    def takes_schema(self, target: object) -> bool:
        """Whether a target takes a schema, as far as is known."""
        return target not in self._plain

    def refuses_schema(self, target: object) -> None:
        """Remember that a target takes none."""
        self._plain.add(target)
