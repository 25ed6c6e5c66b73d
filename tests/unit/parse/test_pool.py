"""The pool: every path gets one result, a crash or a hang costs that file alone, nothing is left running."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from ctxd.model import ParsedFile
from ctxd.packing import unpack
from ctxd.parse.child import Child
from ctxd.parse.pipe import Parse, Read
from ctxd.parse.pool import Parsed, ParseSettings, Pool
from ctxprotocol.errors import Internal

FAULTY = (sys.executable, "-E", "-P", str(Path(__file__).with_name("faulty_worker.py")))
decode = msgspec.msgpack.Decoder(ParsedFile).decode


async def nothing(keys: Sequence[bytes]) -> frozenset[bytes]:
    """A cache without entries."""
    return frozenset()


def fill(root: Path, files: dict[str, str]) -> list[str]:
    """Write the files and return their paths."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return sorted(files)


async def collect(
    pool: Pool, root: Path, paths: Sequence[str], *, lookup=nothing, urgent: bool = False
) -> dict[str, Parsed]:
    """Return the pool's results by path, and check that each path has exactly one."""
    found: dict[str, Parsed] = {}
    async for ready in pool.parse(str(root), paths, lookup=lookup, urgent=urgent):
        for parsed in ready:
            assert parsed.path not in found
            found[parsed.path] = parsed
    assert sorted(found) == sorted(paths)
    return found


def run(root: Path, paths: Sequence[str], **options) -> tuple[dict[str, Parsed], Pool]:
    """Parse the paths in a pool of their own; the pool is closed when this returns."""
    pool = Pool(ParseSettings(), workers=2, budget_s=options.pop("budget_s", 5.0), command=options.pop("command", ()))

    async def main() -> dict[str, Parsed]:
        try:
            return await collect(pool, root, paths, **options)
        finally:
            await pool.close()

    return asyncio.run(main()), pool


def test_a_header_tells_its_language_after_its_manual(tmp_path: Path) -> None:
    """The first line that only C++ has comes after 40 KB of comments."""
    manual = "// Matchers can be combined, as the following shows.\n" * 800
    paths = fill(tmp_path, {"m.h": f"{manual}\nnamespace testing {{\nclass Matcher {{}};\n}}\n"})

    found, _ = run(tmp_path, paths)

    assert decode(found["m.h"].blob).language == "cpp"


def gone(pids: Sequence[int]) -> bool:
    """Return whether none of these processes exists, not even as a zombie."""
    return not any(os.path.exists(f"/proc/{pid}") for pid in pids)


@pytest.mark.parametrize("urgent", [False, True])
def test_every_path_has_one_result(tmp_path: Path, urgent: bool) -> None:
    """150 files, a missing one and a link: each is reported once, with its digest and its facts."""
    paths = fill(tmp_path, {f"d{n % 7}/f{n}.py": f"def fn_{n}():\n    return {n}\n" for n in range(150)})
    (tmp_path / "link.py").symlink_to("d0/f0.py")

    found, _ = run(tmp_path, [*paths, "missing.py", "link.py"], urgent=urgent)

    assert found["missing.py"].gone
    assert found["link.py"].skip == "link"
    for n in range(150):
        parsed = found[f"d{n % 7}/f{n}.py"]
        facts = decode(parsed.blob)
        assert [symbol.name for symbol in facts.symbols] == [f"fn_{n}"]
        assert unpack(facts.text).decode() == f"def fn_{n}():\n    return {n}\n"
        assert parsed.stat.size_bytes == os.stat(tmp_path / parsed.path).st_size
        assert parsed.key and len(parsed.digest) == 32


def test_known_keys_are_not_parsed(tmp_path: Path) -> None:
    """Two files of the same content have one key; what the lookup knows comes back without facts."""
    paths = fill(tmp_path, {"a.py": "def one(): 1\n", "b/c.py": "def one(): 1\n", "d.py": "def two(): 2\n"})
    first, _ = run(tmp_path, paths)
    known = first["a.py"].key
    asked: list[bytes] = []

    async def lookup(keys: Sequence[bytes]) -> frozenset[bytes]:
        asked.extend(keys)
        return frozenset({known})

    found, _ = run(tmp_path, paths, lookup=lookup)

    assert sorted(asked) == sorted({known, first["d.py"].key})
    assert found["a.py"].cached and found["b/c.py"].cached and not found["a.py"].blob
    assert not found["d.py"].cached and found["d.py"].blob


def test_language_is_part_of_the_key(tmp_path: Path) -> None:
    """The same bytes under the names of two languages are two entries."""
    paths = fill(tmp_path, {"a.js": "x = 1\n", "a.py": "x = 1\n"})

    found, _ = run(tmp_path, paths)

    assert found["a.js"].digest == found["a.py"].digest
    assert found["a.js"].key != found["a.py"].key


@pytest.mark.parametrize(
    ("fault", "note"),
    [("crash-now", "parser crashed"), ("exit-now", "parser crashed"), ("hang-now", "parse timed out")],
)
def test_a_fault_costs_one_file(tmp_path: Path, fault: str, note: str) -> None:
    """One file in the middle of a batch kills or stops its worker: it is kept as text, all others are parsed."""
    files = {f"f{n}.py": f"def fn_{n}():\n    return {n}\n" for n in range(20)}
    paths = fill(tmp_path, files | {"f10.py": f"def bad():\n    '{fault}'\n"})

    found, pool = run(tmp_path, paths, command=FAULTY, budget_s=1.0)

    bad = found.pop("f10.py")
    assert bad.note == note
    assert (decode(bad.blob).symbols, decode(bad.blob).note) == ((), note)
    assert [chunk.kind for chunk in decode(bad.blob).chunks] == ["text"]
    assert all(parsed.note == "" and decode(parsed.blob).symbols for parsed in found.values())
    stats = pool.stats()
    assert (stats.crashes, stats.timeouts, stats.workers) == ((0, 1, 0) if "timed" in note else (1, 0, 0))


def test_a_spinning_parser_is_cut_by_its_own_alarm(tmp_path: Path) -> None:
    """B015: what burns processor time is ended near its budget, not at the wall-clock limit of a starved one."""
    paths = fill(tmp_path, {"spin.py": "'spin-now'\n", "good.py": "def good(): 1\n"})
    started = time.monotonic()

    found, pool = run(tmp_path, paths, command=FAULTY, budget_s=0.5)

    assert found["spin.py"].note == "parse timed out"
    assert decode(found["good.py"].blob).symbols
    assert pool.stats().timeouts == 1
    assert time.monotonic() - started < 5


def test_bad_content_is_not_parsed_again(tmp_path: Path) -> None:
    """B015: what hung once is taken as text at once when it is touched, and parsed when it has changed."""
    paths = fill(tmp_path, {"a.py": "'hang-now'\n"})
    pool = Pool(ParseSettings(), workers=1, budget_s=0.5, command=FAULTY)

    async def main() -> tuple[list[str], int, str]:
        try:
            notes = [(await collect(pool, tmp_path, paths, urgent=True))["a.py"].note for _ in range(5)]
            timeouts = pool.stats().timeouts
            (tmp_path / "a.py").write_text("def mended(): 1\n")
            return notes, timeouts, (await collect(pool, tmp_path, paths, urgent=True))["a.py"].note
        finally:
            await pool.close()

    assert asyncio.run(main()) == (["parse timed out"] * 5, 1, "")


def test_a_file_that_cannot_even_be_text(tmp_path: Path) -> None:
    """A file that ends its worker in every way is left out with its reason; no loop of retries."""
    paths = fill(tmp_path, {"a.py": "'always-exit'\n", "b.py": "def good(): 1\n"})

    found, pool = run(tmp_path, paths, command=FAULTY)

    assert (found["a.py"].skip, found["a.py"].note) == ("unreadable", "parser crashed")
    assert decode(found["b.py"].blob).symbols
    assert pool.stats().crashes == 2


def test_faults_on_two_percent_of_many_files(tmp_path: Path) -> None:
    """Crashes, exits and hangs strewn over 300 files: exactly these are listed, all others are right."""
    faults = {50: "crash-now", 51: "exit-now", 120: "hang-now", 121: "crash-now", 200: "exit-now", 299: "crash-now"}
    paths = fill(tmp_path, {f"f{n}.py": f"def fn_{n}(): '{faults.get(n, 'fine')}'\n" for n in range(300)})

    found, _ = run(tmp_path, paths, command=FAULTY, budget_s=1.0)

    assert {path for path, parsed in found.items() if parsed.note} == {f"f{n}.py" for n in faults}
    assert sum(len(decode(parsed.blob).symbols) for parsed in found.values()) == 300 - len(faults)


def test_a_worker_killed_while_idle_is_nobody_s_fault(tmp_path: Path) -> None:
    """The system ends the warm worker between two saves: the next save is parsed by a new one, without a note."""
    paths = fill(tmp_path, {"a.py": "def fn(): 1\n"})
    pool = Pool(ParseSettings(), workers=1)

    async def main() -> Parsed:
        try:
            await pool.start()
            (pid,) = pool.stats().pids
            os.kill(pid, signal.SIGKILL)
            while pool_pid_runs(pid):
                await asyncio.sleep(0.01)
            return (await collect(pool, tmp_path, paths, urgent=True))["a.py"]
        finally:
            await pool.close()

    parsed = asyncio.run(main())

    assert (parsed.note, bool(parsed.blob)) == ("", True)
    assert (pool.stats().crashes, pool.stats().started) == (0, 2)


def pool_pid_runs(pid: int) -> bool:
    """Return whether the process runs; a zombie does not."""
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_workers_that_never_answer_are_an_error(tmp_path: Path) -> None:
    """A worker command that ends at once does not loop through the tree: the caller gets an error."""
    paths = fill(tmp_path, {f"f{n}.py": "x = 1\n" for n in range(100)})

    with pytest.raises(Internal, match="do not work here"):
        run(tmp_path, paths, command=(sys.executable, "-c", "pass"))


def test_a_failing_lookup_reaches_the_caller(tmp_path: Path) -> None:
    """What the cache raises ends the iteration with that error and leaves nothing running."""
    paths = fill(tmp_path, {"a.py": "x = 1\n"})

    async def lookup(keys: Sequence[bytes]) -> frozenset[bytes]:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="disk is full"):
        run(tmp_path, paths, lookup=lookup)


def test_bulk_workers_end_when_idle_and_the_urgent_one_stays(tmp_path: Path) -> None:
    """After the idle time only the warm worker is left; the next bulk call starts new ones."""
    paths = fill(tmp_path, {f"f{n}.py": f"x = {n}\n" for n in range(40)})
    pool = Pool(ParseSettings(), workers=2, idle_s=0.05)

    async def main() -> None:
        try:
            await pool.start()
            warm = pool.stats().pids
            await collect(pool, tmp_path, paths)
            busy = pool.stats().pids
            while len(pool.stats().pids) > 1 or not gone([pid for pid in busy if pid not in warm]):
                await asyncio.sleep(0.01)
            assert pool.stats().pids == warm
            await collect(pool, tmp_path, paths)
        finally:
            await pool.close()

    asyncio.run(asyncio.wait_for(main(), 30))


@pytest.mark.parametrize("way", ["break", "cancel", "close"])
def test_an_abandoned_call_leaves_no_process(tmp_path: Path, way: str) -> None:
    """A consumer stops early, is cancelled, or the pool is closed under it: the workers end, and soon."""
    paths = fill(tmp_path, {f"f{n}.py": f"def fn_{n}(): {n}\n" * 200 for n in range(300)})
    pool = Pool(ParseSettings(), workers=2)
    seen: list[int] = []

    async def consume() -> None:
        parsing = pool.parse(str(tmp_path), paths, lookup=nothing, urgent=False)
        try:
            async for _ in parsing:
                seen.extend(pool.stats().pids)
                if way == "break":
                    return
                await asyncio.sleep(0.05)
        finally:
            await parsing.aclose()

    async def main() -> None:
        task = asyncio.ensure_future(consume())
        while not seen:
            await asyncio.sleep(0.01)
        if way == "cancel":
            task.cancel()
        if way == "close":
            await pool.close()
            with pytest.raises(Internal, match="closed"):
                await task
        else:
            await asyncio.wait((task,))
            found = await collect(pool, tmp_path, paths[:40])
            assert all(parsed.blob for parsed in found.values())
            seen.extend(pool.stats().pids)
            await pool.close()

    asyncio.run(asyncio.wait_for(main(), 60))

    assert gone(seen)


def test_two_calls_at_once(tmp_path: Path) -> None:
    """A save is answered while a bulk call runs, and both are complete."""
    paths = fill(tmp_path, {f"f{n}.py": f"def fn_{n}(): {n}\n" * 50 for n in range(200)})
    fill(tmp_path, {"saved.py": "def saved(): 1\n"})
    pool = Pool(ParseSettings(), workers=1)

    async def main() -> tuple[bool, int]:
        try:
            bulk = asyncio.ensure_future(collect(pool, tmp_path, paths))
            saved = await collect(pool, tmp_path, ["saved.py"], urgent=True)
            bulk_was_running = not bulk.done()
            return bulk_was_running and bool(saved["saved.py"].blob), len(await bulk)
        finally:
            await pool.close()

    assert asyncio.run(main()) == (True, 200)


def test_a_retired_pool_ends_what_runs_and_then_its_workers(tmp_path: Path) -> None:
    """Every path still gets its result; after that there is no worker and no further iteration."""
    paths = fill(tmp_path, {f"f{number}.py": f"def f{number}(): pass\n" for number in range(200)})

    async def main() -> tuple[int, int]:
        pool = Pool(ParseSettings(), workers=1)
        collecting = asyncio.create_task(collect(pool, tmp_path, paths))
        await asyncio.sleep(0)
        await pool.retire()
        with pytest.raises(Internal):
            await collect(pool, tmp_path, paths)
        return len(await collecting), pool.stats().workers

    assert asyncio.run(main()) == (200, 0)


def test_who_stops_waiting_for_the_cache_leaves_nothing_in_the_worker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bytes that were read are let go, and the same worker serves the next call."""
    paths = fill(tmp_path, {f"f{n}.py": f"def fn_{n}(): 1\n" for n in range(8)})
    pool = Pool(ParseSettings(), workers=1)
    sent: list[object] = []
    real = Child.send
    monkeypatch.setattr(Child, "send", lambda self, request: (sent.append(request), real(self, request))[1])

    async def main() -> list[int]:
        asked = asyncio.Event()

        async def lookup(keys: Sequence[bytes]) -> frozenset[bytes]:
            asked.set()
            return await asyncio.Event().wait() and frozenset()

        try:
            task = asyncio.ensure_future(collect(pool, tmp_path, paths, lookup=lookup))
            await asked.wait()
            task.cancel()
            await asyncio.wait({task})
            before = pool.stats().pids
            assert all(parsed.blob for parsed in (await collect(pool, tmp_path, paths)).values())
            return [pid for pid in before if pid not in pool.stats().pids]
        finally:
            await pool.close()

    ended = asyncio.run(asyncio.wait_for(main(), 30))

    reads = {each.batch for each in sent if isinstance(each, Read)}
    assert ended == [] and reads == {each.batch for each in sent if isinstance(each, Parse)}


def test_bulk_is_niced_and_saves_are_not(tmp_path: Path) -> None:
    """Whoever builds or edits beside a first index has the processor."""
    paths = fill(tmp_path, {f"f{n}.py": f"x = {n}\n" for n in range(40)})
    pool = Pool(ParseSettings(), workers=1)

    async def main() -> list[int]:
        try:
            await pool.start()
            await collect(pool, tmp_path, paths)
            return sorted(os.getpriority(os.PRIO_PROCESS, pid) for pid in pool.stats().pids)
        finally:
            await pool.close()

    own = os.getpriority(os.PRIO_PROCESS, 0)
    assert asyncio.run(main()) == [own, min(19, own + 10)]
