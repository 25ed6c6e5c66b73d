"""From a save to an answer by meaning: worktree, backfill, processes and search together, with a model of hashes."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from ctxd.config import ConfigFile
from ctxd.embed.local import LocalEmbedder
from ctxd.embed.model import Model
from ctxd.embed.rows import Located
from ctxd.embed.tier import Tier
from ctxd.handlers import handle_find
from ctxd.visit import Services
from ctxprotocol.messages import Find
from tests.unit.daemon.works import Works, silent, works

MODEL = Model(name="hashing", dimensions=384, licence="none", weight=1.0)
HASHING = (sys.executable, "-E", "-P", str(Path(__file__).with_name("hashing_worker.py")))
ASKED = "compute the salary"


@asynccontextmanager
async def services(found: Works, state: Path) -> AsyncIterator[Services]:
    """Serve requests about the open worktrees, with vectors."""
    machinery = found.machinery
    tier = Tier(
        lambda: LocalEmbedder(Located(MODEL, "", ""), command=HASHING),
        lambda: [one.pipeline for one in reversed(found.open.values())],
        machinery.writer,
        machinery.cache,
        lambda: False,
    )
    found.machinery = msgspec.structs.replace(machinery, nudge=tier.backfill.nudge)
    tier.use()
    task = asyncio.create_task(tier.backfill.run())
    try:
        yield Services(found, ConfigFile(str(state / "config.toml")), None, lambda _name: (), (), tier, None)  # type: ignore[arg-type]
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await tier.close()


async def found_by(serving: Services, root: Path, semantic: bool | None = None) -> tuple[list[str], list[str]]:
    """Return the names that answer, and the warnings."""
    request = Find(directory=bytes(root), root=bytes(root), text=ASKED, output="json", semantic=semantic)
    made: dict[str, Any] = json.loads((await handle_find(serving, request, silent)).out)
    return [one["name"] for one in made["results"]], made["warnings"]


def test_vectors_switch_on_by_themselves_and_follow_a_save(tmp_path: Path) -> None:
    """Words answer until every chunk has its vector; a save has the answer wait for its own, and then counts."""
    root = tmp_path / "r"
    root.mkdir()
    (root / "pay.py").write_text("def wage():\n    pass\n")
    (root / "tree.py").write_text("def descend():\n    pass\n")

    async def until(name: str, serving: Services) -> None:
        async with asyncio.timeout(30):
            while name not in (await found_by(serving, root))[0]:
                await asyncio.sleep(0.02)

    async def main() -> None:
        async with works(tmp_path / "s") as found, services(found, tmp_path / "s") as serving:
            await until("wage", serving)
            assert (await found_by(serving, root, semantic=False))[0] == []
            (root / "more.py").write_text("def income():\n    pass\n")
            await until("income", serving)
            assert await found_by(serving, root, semantic=True) == await found_by(serving, root)

    asyncio.run(main())
