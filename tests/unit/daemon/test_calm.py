"""Background work is put off while somebody asks or the machine is busy, and not for ever."""

from __future__ import annotations

import asyncio
import os

import pytest

from ctxd import calm


def test_it_waits_for_whoever_asks_and_for_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two are asked, then the load is high, then all is calm."""
    monkeypatch.setattr(calm, "LOOK_S", 0.001)
    asked = iter([2, 1, 0, 0, 0])
    loads = iter([99.0, 99.0, 0.0])
    monkeypatch.setattr(os, "getloadavg", lambda: (next(loads), 0.0, 0.0))

    asyncio.run(asyncio.wait_for(calm.until_calm(lambda: next(asked)), 5))

    assert (list(asked), list(loads)) == ([], [])


def test_it_does_not_wait_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """A load may be of processes that only wait."""
    monkeypatch.setattr(calm, "LOOK_S", 0.001)
    monkeypatch.setattr(calm, "WITHIN_S", 0.02)
    monkeypatch.setattr(os, "getloadavg", lambda: (99.0, 0.0, 0.0))

    asyncio.run(asyncio.wait_for(calm.until_calm(lambda: 1), 5))
