"""What steering costs those who do not ask for it: nothing."""

from __future__ import annotations

from tests.test_architecture import loaded_by


def test_the_daemon_loads_nothing_of_it_before_it_is_asked() -> None:
    """Neither the room, but for what is remembered between questions, nor the HTTP client."""
    loaded = loaded_by("import ctxd.daemon")

    steering = {name for name in loaded if name.startswith(("ctxd.steer", "ctxd.guiding"))}
    assert steering == {"ctxd.steer", "ctxd.steer.lately"}
    assert not {"httpx", "httpcore", "certifi"} & loaded


def test_it_is_there_when_it_is_asked_for() -> None:
    """The way that handlers take."""
    assert {"ctxd.steer.steering", "ctxd.steer.formats"} <= loaded_by("import ctxd.guiding")
