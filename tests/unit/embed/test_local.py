"""The embedding process: vectors come in order, it ends when idle, and what kills it is told and survived."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import msgspec
import psutil
import pytest

from ctxd.embed.local import LocalEmbedder
from ctxd.embed.model import EmbedFailed, Model
from ctxd.embed.rows import Located

T = TypeVar("T")

HASHING = (sys.executable, "-E", "-P", str(Path(__file__).with_name("hashing_worker.py")))
MODEL = Model(name="hashing", dimensions=32, licence="none", query_prefix="asked ", passage_prefix="said ")


def run(scenario: Callable[[LocalEmbedder], Awaitable[T]], *, onnx: str = "", idle_s: float = 60.0) -> T:
    """Run a scenario with an embedder that is closed afterwards."""

    async def main() -> T:
        embedder = LocalEmbedder(Located(MODEL, onnx, ""), command=HASHING, query_idle_s=idle_s, passage_idle_s=idle_s)
        try:
            return await scenario(embedder)
        finally:
            await embedder.close()

    return asyncio.run(main())


def test_every_text_has_its_vector_in_order() -> None:
    """Prefixes are added here, so a question and a passage of the same words are not the same."""

    async def scenario(embedder: LocalEmbedder) -> list[list[bytes]]:
        many = await embedder.embed([f"text {n}" for n in range(9)], query=False)
        alone = await embedder.embed(["text 8"], query=False)
        asked = await embedder.embed(["text 8"], query=True)
        return [many, alone, asked]

    many, alone, asked = run(scenario)
    assert len(many) == len(set(many)) == 9
    assert many[8:] == alone != asked
    assert all(len(vector) == 32 for vector in many)


def test_questions_do_not_wait_behind_passages() -> None:
    """They have a process of their own, at normal priority."""

    async def scenario(embedder: LocalEmbedder) -> list[int]:
        await embedder.embed(["a"], query=True)
        await embedder.embed(["a"], query=False)
        return [psutil.Process(pid).nice() for pid in embedder.pids()]

    own = os.nice(0)
    assert run(scenario) == [own, min(own + 10, 19)]


def test_it_ends_when_it_was_idle_and_starts_again() -> None:
    """The memory of a model is not held for a question that may come tomorrow."""

    async def scenario(embedder: LocalEmbedder) -> tuple[bool, list[bytes]]:
        first = await embedder.embed(["a"], query=True)
        (pid,) = embedder.pids()
        async with asyncio.timeout(20):
            while psutil.pid_exists(pid):
                await asyncio.sleep(0.005)
        return embedder.pids() == (), first + await embedder.embed(["a"], query=True)

    ended, vectors = run(scenario, idle_s=0.05)
    assert ended
    assert vectors[0] == vectors[1]


def test_a_process_that_was_killed_is_started_anew() -> None:
    """Between two questions nobody notices; during one it is told."""

    async def scenario(embedder: LocalEmbedder) -> list[bytes]:
        found = await embedder.embed(["a"], query=True)
        os.kill(embedder.pids()[0], signal.SIGKILL)
        with pytest.raises(EmbedFailed, match="ended"):
            await embedder.embed(["poison"], query=True)
        return found + await embedder.embed(["a"], query=True)

    first, second = run(scenario)
    assert first == second


def test_a_text_that_the_model_fails_at_is_told() -> None:
    """With what the library said; the next text is answered."""

    async def scenario(embedder: LocalEmbedder) -> int:
        with pytest.raises(EmbedFailed, match="ValueError: no such token") as caught:
            await embedder.embed(["raise"], query=True)
        assert not caught.value.final
        return len(await embedder.embed(["a"], query=True))

    assert run(scenario) == 1


def test_who_gives_up_waiting_does_not_get_the_next_answer() -> None:
    """A conversation that was cut short is not gone on with."""

    async def scenario(embedder: LocalEmbedder) -> tuple[list[bytes], list[bytes]]:
        expected = await embedder.embed(["a"], query=True)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await embedder.embed(["sleep"], query=True)
        return expected, await embedder.embed(["a"], query=True)

    expected, found = run(scenario)
    assert expected == found


def test_a_model_that_cannot_be_used_is_final() -> None:
    """Asking again would only start another process that fails."""

    async def scenario(embedder: LocalEmbedder) -> EmbedFailed:
        with pytest.raises(EmbedFailed) as caught:
            await embedder.embed(["a"], query=True)
        assert embedder.pids() == ()
        return caught.value

    failed = run(scenario, onnx="unfit")
    assert (failed.message, failed.final) == ("that is no model", True)


def test_a_file_that_is_another_is_refused(tmp_path: Path) -> None:
    """The real process checks digests before any library reads the file."""
    from ctxd.embed.model import Digest

    (tmp_path / "model.onnx").write_bytes(b"something else")

    async def main() -> None:
        model = msgspec.structs.replace(MODEL, digests=(Digest("model.onnx", "00" * 32),))
        embedder = LocalEmbedder(Located(model, str(tmp_path / "model.onnx"), ""))
        with pytest.raises(EmbedFailed, match="is not the file it should be"):
            await embedder.embed(["a"], query=True)
        await embedder.close()

    asyncio.run(main())
