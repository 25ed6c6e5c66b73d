"""Stand-ins for what a test must steer. Each is checked against the real one once."""

from __future__ import annotations


class Clock:
    """A clock that moves when told. `time_ns` and `monotonic` move together."""

    def __init__(self, start_s: float = 1_800_000_000.0) -> None:
        self.now_s = start_s

    def advance(self, seconds: float) -> None:
        self.now_s += seconds

    def monotonic(self) -> float:
        return self.now_s

    def time_ns(self) -> int:
        return int(self.now_s * 1_000_000_000)
