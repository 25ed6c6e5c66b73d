"""The open worktrees of one state directory, with the real machinery behind them, on the test's own loop."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from ctxd.config import Config
from ctxd.daemon import maker, settings_of
from ctxd.lookout import OpenWatcher
from ctxd.parse.pool import Pool
from ctxd.pipeline import Machinery
from ctxd.store.cache import Cache
from ctxd.store.readers import Readers
from ctxd.store.registry import Registry
from ctxd.store.writer import Writer
from ctxd.threads import Threads
from ctxd.watch.opening import open_watcher
from ctxd.worktree import Worktree
from ctxd.worktrees import Worktrees

ENOUGH_MS = 20_000


def silent(_progress: object) -> None:
    """Report nothing."""


class Works(Worktrees):
    """Worktrees that follow `config`, which a test may replace."""

    config = Config(daemon_workers=1)

    async def fresh(self, root: str) -> Worktree:
        """Enter and leave the worktree, its index being current in between."""
        worktree = await self.enter(root)
        found = await worktree.fresh(ENOUGH_MS, ENOUGH_MS, silent)
        assert found.fresh, found.reason
        self.leave(root)
        return worktree

    def machinery_for(self, config: Config) -> Machinery:
        """Return the same owners with a pool and a maker of another configuration."""
        old = self.machinery
        settings = settings_of(config)
        return Machinery(
            pool=Pool(settings, workers=config.workers),
            writer=old.writer,
            readers=old.readers,
            registry=old.registry,
            cache=old.cache,
            scan=old.scan,
            maker=maker(settings),
        )


@asynccontextmanager
async def works(
    state: Path, config: Config = Works.config, open_watcher: OpenWatcher = open_watcher
) -> AsyncIterator[Works]:
    """Open the machinery in `state` and close it after use."""
    state.mkdir(mode=0o700, exist_ok=True)
    readers = Readers(2)
    writer = Writer(Cache(str(state), readers))
    scan = Threads("ctxd-scan", places=2, slow_s=0.25, most=16)
    settings = settings_of(config)
    pool = Pool(settings, workers=config.workers)
    registry = Registry.open(str(state), writer)
    machinery = Machinery(pool, writer, readers, registry, writer.cache, scan, maker(settings))
    found = Works(machinery, lambda: found.config, open_watcher, "")
    found.config = config
    try:
        yield found
    finally:
        await found.close()
        await asyncio.gather(pool.close(), found.machinery.pool.close())
        scan.shutdown()
        writer.stop()
        readers.stop()


def trees(where: Path, count: int) -> Sequence[str]:
    """Make so many directories with one file each."""
    roots = [os.path.realpath(where / f"tree{number}") for number in range(count)]
    for root in roots:
        os.mkdir(root)
        Path(root, "a.py").write_text("def a(): pass\n")
    return roots


def indexes(state: Path) -> list[str]:
    """Return the names of the index files."""
    return sorted(path.name for path in state.glob("indexes/*/index-*.db"))
