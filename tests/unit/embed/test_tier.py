"""The tier: which embedder there is, what search is given, and what status is told."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from ctxd.embed import tier as module
from ctxd.embed.model import EmbedFailed, Vector
from ctxd.embed.tier import WAITING, Tier
from ctxd.model import Understood
from tests.unit.daemon.works import Works, works
from tests.unit.embed.hashing import MODEL, Hashing, vector


def tier(found: Works, make: object) -> Tier:
    """Return a tier over the open worktrees."""
    machinery = found.machinery
    return Tier(make, list, machinery.writer, machinery.cache, lambda: False)  # type: ignore[arg-type]


def test_a_question_is_embedded_once(tmp_path: Path) -> None:
    """A reader thread asks and waits; who asks the same again has it at once."""
    embedder = Hashing()

    async def main() -> list[Understood]:
        async with works(tmp_path / "s") as found:
            it = tier(found, lambda: embedder)
            it.use()
            assert it.meaning is not None
            answers = [await asyncio.to_thread(it.meaning.ask, "remove it") for _ in range(3)]
            await it.close()
            return answers

    assert asyncio.run(main()) == [Understood(vector("remove it"))] * 3
    assert embedder.questions == ["remove it"]
    assert embedder.closed


def test_a_question_without_a_vector_says_why(tmp_path: Path) -> None:
    """Search goes on by words; the next question is tried again."""
    embedder = Hashing()
    embedder.failing = EmbedFailed("the process ended")

    async def main() -> list[Understood]:
        async with works(tmp_path / "s") as found:
            it = tier(found, lambda: embedder)
            it.use()
            assert it.meaning is not None
            first = await asyncio.to_thread(it.meaning.ask, "x")
            embedder.failing = None
            return [first, await asyncio.to_thread(it.meaning.ask, "x")]

    assert asyncio.run(main()) == [Understood(trouble="the process ended"), Understood(vector("x"))]


def test_without_a_model_there_is_nothing_to_ask(tmp_path: Path) -> None:
    """Status says why and what helps; switched off says so, too."""

    def missing() -> Hashing:
        raise EmbedFailed("no model is installed", "install one", final=True)

    async def main() -> None:
        async with works(tmp_path / "s") as found:
            it = tier(found, missing)
            it.use()
            assert it.meaning is None
            assert (it.state().model, it.state().trouble, it.state().hint) == (
                "",
                "no model is installed",
                "install one",
            )
            off = tier(found, lambda: None)
            off.use()
            assert off.meaning is None
            assert off.state().trouble == "switched off"

    asyncio.run(main())


def test_another_configuration_ends_the_embedder_before(tmp_path: Path) -> None:
    """And what was asked under it is forgotten."""
    first, second = Hashing(), Hashing()
    made = iter([first, second])

    async def main() -> None:
        async with works(tmp_path / "s") as found:
            it = tier(found, lambda: next(made))
            it.use()
            assert it.meaning is not None
            await asyncio.to_thread(it.meaning.ask, "x")
            it.use()
            await asyncio.to_thread(it.meaning.ask, "x")
            await it.close()

    asyncio.run(main())
    assert first.closed and second.closed
    assert first.questions == second.questions == ["x"]


def test_a_question_is_never_compared_under_another_model(tmp_path: Path) -> None:
    """A search that began before the configuration changed, as a language model planned it, say, goes on by words."""
    other = Hashing(msgspec.structs.replace(MODEL, name="other"))
    made = iter([Hashing(), other])

    async def main() -> Understood:
        async with works(tmp_path / "s") as found:
            it = tier(found, lambda: next(made))
            it.use()
            before = it.meaning
            it.use()
            assert before is not None
            try:
                return await asyncio.to_thread(before.ask, "x")
            finally:
                await it.close()

    assert asyncio.run(main()) == Understood(trouble="the model was replaced just now")
    assert other.questions == []


@pytest.mark.parametrize(("remote", "who"), [(True, "the provider"), (False, "the model")])
def test_who_hangs_never_holds_all_readers(
    remote: bool, who: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of them is left for questions that need none; who comes then is answered by words."""
    monkeypatch.setattr(module, "TURN_S", 0.05)

    class Slow(Hashing):
        async def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
            self.questions.extend(texts)
            await go.wait()
            return await super().embed(texts, query=False)

    go = asyncio.Event()

    async def main() -> tuple[list[Understood], Understood, Understood]:
        embedder = Slow(msgspec.structs.replace(MODEL, remote=remote))
        async with works(tmp_path / "s") as found:
            it = tier(found, lambda: embedder)
            it.use()
            assert it.meaning is not None
            waiting = [asyncio.create_task(asyncio.to_thread(it.meaning.ask, f"q{n}")) for n in range(WAITING)]
            async with asyncio.timeout(10):
                while len(embedder.questions) < WAITING:
                    await asyncio.sleep(0.005)
            late = await asyncio.to_thread(it.meaning.ask, "late")
            go.set()
            answers = await asyncio.gather(*waiting)
            return answers, late, await asyncio.to_thread(it.meaning.ask, "late")

    answers, late, again = asyncio.run(main())
    assert answers == [Understood(vector(f"q{n}")) for n in range(WAITING)]
    assert late == Understood(trouble=f"other questions wait for {who} just now")
    assert again == Understood(vector("late"))


def test_questions_to_a_model_that_answers_take_turns(tmp_path: Path) -> None:
    """More at once than may wait are no reason to leave any of them to words."""

    class Slow(Hashing):
        async def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
            await asyncio.sleep(0.01)
            return await super().embed(texts, query=query)

    async def main() -> list[Understood]:
        async with works(tmp_path / "s") as found:
            it = tier(found, Slow)
            it.use()
            assert it.meaning is not None
            return await asyncio.gather(*[asyncio.to_thread(it.meaning.ask, f"q{n}") for n in range(4 * WAITING)])

    assert asyncio.run(main()) == [Understood(vector(f"q{n}")) for n in range(4 * WAITING)]
