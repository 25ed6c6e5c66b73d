"""Why a provider gave no answer. A value; its words never hold a key, or anything of what was sent or received."""

from __future__ import annotations

from typing import Literal

Kind = Literal[
    "key",  # there is none, or it cannot be got
    "unreachable",  # no address, no connection, no TLS
    "timeout",
    "refused",  # 401, 403: the key is not taken
    "limited",  # 429: later
    "rejected",  # any other answer that says no: the model, the address, the request is not what it takes
    "server",  # 5xx: a fault of theirs
    "malformed",  # not what was agreed
    "cut",  # the answer ended in the middle
]
# Asking again later may do.
PASSING: frozenset[Kind] = frozenset({"unreachable", "timeout", "limited", "server", "cut", "malformed"})


class RemoteFailed(Exception):
    """No answer; `hint` says what helps. `retry_after_s` is how long the provider asks to be left alone, 0 unsaid;
    `status` is what a provider said no with, 0 for anything else.
    """

    def __init__(
        self, kind: Kind, message: str, hint: str = "", *, retry_after_s: float = 0.0, status: int = 0
    ) -> None:
        super().__init__(message)
        self.kind: Kind = kind
        self.message = message
        self.hint = hint
        self.retry_after_s = retry_after_s
        self.status = status

    @property
    def passing(self) -> bool:
        """Whether the same may succeed later, without anybody's doing."""
        return self.kind in PASSING
