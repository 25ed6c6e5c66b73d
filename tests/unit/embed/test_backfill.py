"""Vectors fill by themselves: all of them, none twice, aside while somebody waits, on after a crash."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from ctxd.embed import backfill as module
from ctxd.embed.backfill import Backfill, Draft
from ctxd.embed.model import EmbedFailed, Model, Vector
from ctxd.store import vectors
from ctxd.worktree import Worktree
from tests.unit.daemon.works import Works, silent, works
from tests.unit.embed.hashing import MODEL, Hashing

FILES = {f"m{n}.py": "".join(f"def f{n}_{m}():\n    return {m}\n\n\n" for m in range(9)) for n in range(5)}
ENOUGH_S = 20.0


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree of 45 functions."""
    root = tmp_path / "r"
    root.mkdir()
    for name, text in FILES.items():
        (root / name).write_text(text)
    return root


@asynccontextmanager
async def filling(found: Works, embedder: Hashing, **options: object) -> AsyncIterator[Backfill]:
    """Run a backfill over the open worktrees."""
    filler = Backfill(
        lambda: [one.pipeline for one in reversed(found.open.values())],
        found.machinery.writer,
        found.machinery.cache,
        options.pop("busy", lambda: False),
        quiet_s=0.0,
    )
    filler.embedder = embedder
    task = asyncio.create_task(filler.run())
    filler.nudge()
    try:
        yield filler
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait for something that is to become true."""
    async with asyncio.timeout(ENOUGH_S):
        while not await holds():
            await asyncio.sleep(0.005)


async def is_ready(worktree: Worktree) -> bool:
    """Say whether all vectors are there."""
    return await worktree.pipeline.read(lambda snapshot: vectors.ready(snapshot, MODEL.name), 5)


async def count(worktree: Worktree) -> int:
    """Return how many vectors there are."""
    return (await worktree.pipeline.read(lambda snapshot: vectors.progress(snapshot, MODEL.name), 5)).done


def test_every_chunk_gets_its_vector_once(root: Path, tmp_path: Path) -> None:
    """All that say something, each text once, and then the generation is noted as done."""

    async def main() -> tuple[int, Hashing]:
        embedder = Hashing()
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, embedder):
                await until(lambda: is_ready(worktree))
            return await count(worktree), embedder

    done, embedder = asyncio.run(main())
    assert done >= 45
    assert len(embedder.asked) == len(set(embedder.asked)) <= done


def test_a_changed_file_costs_its_own_texts(root: Path, tmp_path: Path) -> None:
    """After a save, the nudge that comes with it has the new function embedded and nothing else."""

    async def main() -> list[str]:
        embedder = Hashing()
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, embedder) as filler:
                await until(lambda: is_ready(worktree))
                before = len(embedder.asked)
                (root / "m1.py").write_text(FILES["m1.py"] + "def wholly_new():\n    return 'x'\n")
                await worktree.fresh(20_000, 20_000, silent)
                assert not await is_ready(worktree)
                filler.nudge()
                await until(lambda: is_ready(worktree))
            return embedder.asked[before:]

    (new,) = asyncio.run(main())
    assert "wholly new" in new


def test_what_was_interrupted_goes_on_where_it_was(root: Path, tmp_path: Path) -> None:
    """A stop in the middle loses nothing that was written and repeats no more than what was in work."""

    async def main() -> tuple[int, int]:
        first, second = Hashing(), Hashing()
        first.most = 2 * Hashing.batch
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, first):
                await until(lambda: _at_least(worktree, 2 * Hashing.batch))
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            kept = await count(worktree)
            async with filling(found, second):
                await until(lambda: is_ready(worktree))
        assert 0 < kept < 45
        return len(set(first.asked) & set(second.asked)), len(set(first.asked) | set(second.asked))

    repeated, distinct = asyncio.run(main())
    assert repeated <= Hashing.batch
    assert distinct >= 45


async def _at_least(worktree: Worktree, wanted: int) -> bool:
    return await count(worktree) >= wanted


def test_a_second_tree_of_the_same_content_embeds_nothing(root: Path, tmp_path: Path) -> None:
    """Nor does a rebuild: the machine's cache knows every text."""
    other = tmp_path / "other" / "r"
    other.mkdir(parents=True)
    for name, text in FILES.items():
        (other / name).write_text(text)

    async def main() -> tuple[int, int]:
        embedder = Hashing()
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, embedder) as filler:
                await until(lambda: is_ready(worktree))
                before = len(embedder.asked)
                second = await found.fresh(str(other))
                filler.nudge()
                await until(lambda: is_ready(second))
                await worktree.rebuild(silent)
                filler.nudge()
                await until(lambda: is_ready(worktree))
            return before, len(embedder.asked)

    before, after = asyncio.run(main())
    assert before == after > 0


def test_a_rebuilt_index_has_its_vectors_when_it_is_seen(root: Path, tmp_path: Path) -> None:
    """Nobody is answered without them in between; what the cache lacks is made later."""

    async def main() -> tuple[bool, bool, int]:
        embedder = Hashing()
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, embedder) as filler:
                await until(lambda: is_ready(worktree))
                readers = found.machinery.readers
                machinery = msgspec.structs.replace(
                    found.machinery, prepare=lambda path: filler.prepare(Draft(path, readers))
                )
                worktree.pipeline.use(machinery)
                await worktree.rebuild(silent)
                whole = await is_ready(worktree)
                embedder.model = Model(name="other", dimensions=384, licence="none")
                await worktree.rebuild(silent)
                return whole, await is_ready(worktree), len(embedder.asked)

    whole, other, asked = asyncio.run(main())
    assert (whole, other) == (True, False)
    assert asked >= 45


def test_it_steps_aside_while_somebody_waits(root: Path, tmp_path: Path) -> None:
    """Nothing is embedded during a request, and it goes on after it."""

    async def main() -> tuple[int, int]:
        embedder, asking = Hashing(), [True]
        glances = [0]

        def busy() -> bool:
            glances[0] += 1
            return asking[0]

        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, embedder, busy=busy):
                async with asyncio.timeout(ENOUGH_S):
                    while glances[0] < 5:
                        await asyncio.sleep(0.005)
                meanwhile = len(embedder.asked)
                asking[0] = False
                await until(lambda: is_ready(worktree))
            return meanwhile, len(embedder.asked)

    meanwhile, after = asyncio.run(main())
    assert meanwhile == 0 < after


def test_what_fails_for_good_is_told_and_not_tried_again(root: Path, tmp_path: Path) -> None:
    """Until something changes: then a nudge is enough."""

    async def main() -> None:
        embedder = Hashing()
        embedder.failing = EmbedFailed("the file is another", "install it again", final=True)
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, embedder) as filler:
                async with asyncio.timeout(ENOUGH_S):
                    while filler.trouble is None:
                        await asyncio.sleep(0.005)
                assert filler.trouble.message == "the file is another"
                embedder.failing = None
                filler.nudge()
                await until(lambda: is_ready(worktree))
                assert filler.trouble is None

    asyncio.run(main())


def test_a_text_that_kills_the_model_is_left_out_in_the_end(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is tried again, then it gets a vector without a direction, and all others get theirs."""
    monkeypatch.setattr(module, "_RETRY_S", 0.01)
    (root / "zz.py").write_text("def poison():\n    return 'poison'\n")

    async def main() -> int:
        embedder = Hashing()
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, embedder):
                await until(lambda: is_ready(worktree))
            empty = "SELECT count(*) FROM vectors WHERE body = zeroblob(384)"
            return await worktree.pipeline.read(lambda snapshot: snapshot.connection.execute(empty).get, 5)

    assert asyncio.run(main()) == 1


def test_another_model_replaces_all_vectors(root: Path, tmp_path: Path) -> None:
    """A question is always compared with vectors of its own model; whose are replaced is said until none lacks."""
    other = Model(name="other", dimensions=384, licence="none")

    async def main() -> tuple[bool, bool, list[str]]:
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, Hashing()):
                await until(lambda: is_ready(worktree))
            replaced = [await worktree.pipeline.read(lambda s: vectors.replaced(s, "other"), 5)]
            stopped = Hashing(other)
            stopped.most = Hashing.batch
            async with filling(found, stopped):
                await until(lambda: _some_of(worktree, "other"))
                replaced.append(await worktree.pipeline.read(lambda s: vectors.replaced(s, "other"), 5))
            async with filling(found, Hashing(other)):

                async def is_other() -> bool:
                    return await worktree.pipeline.read(lambda snapshot: vectors.ready(snapshot, "other"), 5)

                await until(is_other)
            replaced.append(await worktree.pipeline.read(lambda s: vectors.replaced(s, "other"), 5))
            return await is_ready(worktree), await is_other(), replaced

    assert asyncio.run(main()) == (False, True, [MODEL.name, MODEL.name, ""])


async def _some_of(worktree: Worktree, model: str) -> bool:
    return await worktree.pipeline.read(lambda snapshot: vectors.any_of(snapshot, model), 5)


def test_what_costs_too_much_is_refused_before_any_of_it_is_asked(root: Path, tmp_path: Path) -> None:
    """Counted is what the cache does not have: a second tree of the same content costs nothing and is filled."""
    other = tmp_path / "other"
    other.mkdir()
    for name, text in FILES.items():
        (other / name).write_text(text)

    async def main() -> Hashing:
        embedder = Hashing()
        embedder.paid, embedder.most_bytes = True, 10
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, embedder) as filler:
                async with asyncio.timeout(ENOUGH_S):
                    while filler.trouble is None:
                        await asyncio.sleep(0.005)
                assert (filler.trouble.message, embedder.asked) == ("that costs too much", [])
                embedder.most_bytes = 1_000_000
                filler.nudge()
                await until(lambda: is_ready(worktree))
                assert filler.trouble is None
                embedder.most_bytes = 0
                same = await found.fresh(str(other))
                filler.nudge()
                await until(lambda: is_ready(same))
        return embedder

    embedder = asyncio.run(main())
    assert embedder.estimates[0] == embedder.estimates[1] == sum(map(len, embedder.asked))
    assert len(embedder.estimates) == 2


def test_what_the_cache_has_is_kept_where_the_rest_costs_too_much(root: Path, tmp_path: Path) -> None:
    """It costs nothing; counted of the rest are its bytes, which are more than its letters."""
    other = tmp_path / "other"
    other.mkdir()
    for name, text in {**FILES, "new.py": "def größe():\n    return größer\n"}.items():
        (other / name).write_text(text)

    async def main() -> tuple[Hashing, int]:
        embedder = Hashing()
        embedder.paid = True
        async with works(tmp_path / "s") as found:
            first = await found.fresh(str(root))
            async with filling(found, embedder) as filler:
                await until(lambda: is_ready(first))
                embedder.most_bytes = 0
                second = await found.fresh(str(other))
                filler.nudge()
                async with asyncio.timeout(ENOUGH_S):
                    while filler.trouble is None:
                        await asyncio.sleep(0.005)
                kept, embedder.most_bytes = await count(second), 1_000
                filler.nudge()
                await until(lambda: is_ready(second))
                assert await count(first) == kept == await count(second) - 1
        return embedder, kept

    embedder, kept = asyncio.run(main())
    assert kept == 45
    assert embedder.estimates[-1] == len(embedder.asked[-1].encode()) > len(embedder.asked[-1])


def test_a_model_is_learnt_before_vectors_are_its(root: Path, tmp_path: Path) -> None:
    """Whose dimensions are not known is asked first, and nothing of the user's goes there until then."""

    class Unknown(Hashing):
        async def ready(self) -> None:
            assert not self.asked
            self.model = MODEL

    async def main() -> list[str]:
        embedder = Unknown(Model(name="unknown", dimensions=0, licence=""))
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, embedder):
                await until(lambda: is_ready(worktree))
        return embedder.asked

    assert len(asyncio.run(main())) > 9


def test_who_asks_to_be_left_alone_is(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A provider that says when is not tried before, however short our own wait."""
    monkeypatch.setattr(module, "_RETRY_S", 0.01)

    times: list[float] = []

    class Limited(Hashing):
        async def embed(self, texts: Sequence[str], *, query: bool) -> list[Vector]:
            times.append(time.monotonic())
            if len(times) == 1:
                raise EmbedFailed("too much", after_s=0.5)
            return await super().embed(texts, query=query)

    async def main() -> None:
        async with works(tmp_path / "s") as found:
            worktree = await found.fresh(str(root))
            async with filling(found, Limited()):
                await until(lambda: is_ready(worktree))

    asyncio.run(main())
    assert times[1] - times[0] >= 0.5
