"""Our modules load where the standard library is that of Windows, and use nothing there that it does not have."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxd import process
from ctxd.piped import Piped

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.mark.skipif(sys.platform == "win32", reason="it is Windows")
def test_every_module_loads_without_what_windows_does_not_have(ctx) -> None:
    """No fcntl, pwd or resource, no os.getuid, no Unix socket: daemon and client load, lock, listen and dial."""
    environment = os.environ | {"PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'protocol'}", "CTX_HOME": ctx.path}
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.windows_import"],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip

    told = done.stdout.partition("Usage:")
    assert (told[0].split(), done.returncode, done.stderr) == ([], 0, "")
    assert told[1] and done.stdout.endswith("help: 0\n")


def test_a_child_whose_pipes_the_loop_makes_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What Windows takes instead of a socket pair: the real worker of the parser, read and parsed."""
    import asyncio

    from ctxd.parse.child import Child
    from ctxd.parse.pipe import ParseSettings, Read, Setup

    async def by_loop(command, more=None) -> Piped:
        return await Piped.open_by_loop(command, dict(os.environ))

    async def main(root: bytes) -> tuple[bool, bool]:
        child = await Child.open((), Setup(ParseSettings(), 0, 0, 0.0))
        try:
            child.send(Read(1, root, ("__init__.py",)))
            found = await child.receive(30)
            return found.gone, child.ended()
        finally:
            await child.end()
            await child.end()
            await asyncio.sleep(0)  # its pipes are closed by the loop

    monkeypatch.setattr(Piped, "open", by_loop)
    assert asyncio.run(main(os.fsencode(ROOT / "tests"))) == (False, False)


@pytest.mark.parametrize("platform", ["linux", "darwin"])
def test_a_limit_that_the_system_does_not_take_ends_no_worker_on_macos(
    monkeypatch: pytest.MonkeyPatch, platform: str
) -> None:
    """On Linux it is one of the guards, and its lack is said."""

    def refuse(*_: object) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr("resource.setrlimit", refuse)
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(ValueError, match="current limit") if platform == "linux" else contextlib.nullcontext():
        process.bound_memory(1 << 30)
