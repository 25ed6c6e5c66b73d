"""What a check of `ctx doctor` found: a value that all checks share."""

from __future__ import annotations

from typing import NamedTuple

OK = "ok"
NOTE = "note"  # worth knowing, nothing to do
BAD = "bad"  # needs doing


class Check(NamedTuple):
    """What was found about one part; `remedy` says what to do where something is to be done."""

    name: str
    state: str
    detail: str
    remedy: str = ""
