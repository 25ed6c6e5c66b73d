"""All attached worktrees: which are open, which one a request means, opening and closing them.

Owned by main; runs on the loop. At most `daemon.max_worktrees_open` are open; the least recently asked one closes
first, and never while a request is in it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import TypeVar

import msgspec

from ctxd import roots
from ctxd.config import Config
from ctxd.inode import inode
from ctxd.lookout import OpenWatcher
from ctxd.looks import Looks
from ctxd.pipeline import Machinery, Pipeline
from ctxd.scan.git import Repository
from ctxd.scan.rules import Rules
from ctxd.store.integrity import remove_index
from ctxd.worktree import Worktree
from ctxprotocol import endpoint
from ctxprotocol.errors import IndexUnusable, RepoUnknown, RootRefused
from ctxprotocol.messages import InWorktree

T = TypeVar("T")


def rules_of(config: Config) -> Rules:
    """Return what discovery is to keep to."""
    return Rules(
        ignore=config.index_ignore,
        max_files=config.index_max_files,
        follow_symlinks=config.index_follow_symlinks,
        max_file_bytes=config.index_max_file_bytes,
    )


class Worktrees:
    """The open worktrees by root, least recently asked first. `config` gives the configuration of the moment."""

    def __init__(
        self, machinery: Machinery, config: Callable[[], Config], open_watcher: OpenWatcher, home: str
    ) -> None:
        self.machinery = machinery
        self.open: OrderedDict[str, Worktree] = OrderedDict()
        self._config = config
        self._open_watcher = open_watcher
        self._home = home
        self._state = os.path.realpath(machinery.registry.absolute(""))
        self._opening: dict[str, asyncio.Lock] = {}
        self._in_use: dict[str, int] = {}
        self._entered = time.monotonic()
        self.looks = Looks()

    async def locate(self, request: InWorktree, root: str = "") -> roots.Place:
        """Return the root that a request means (or the given one) and where its caller stands there.

        Raises RootGone, RootRefused.
        """
        entries = self.machinery.registry.entries()
        attached = {entry.root for entry in entries}
        explicit = {entry.root for entry in entries if entry.explicit}

        def look() -> roots.Place:
            found = root or roots.locate(request, attached, explicit, self._home)
            return roots.Place(found, roots.prefix(found, request.directory))

        elsewhere = request.root and not request.chosen
        place = await self.look(request.root if elsewhere else request.directory, look)
        exports = endpoint.exports_path(self._state)
        if f"{place.root}/".startswith(f"{self._state}/") and not place.root.startswith(f"{exports}/"):
            raise RootRefused(f"{place.root} is where ctx keeps its own state, which is not indexed")
        return place

    async def look(self, directory: bytes, look: Callable[[], T]) -> T:
        """Return what `look` finds about a directory. Raises RootGone where its file system does not answer.

        At the root of an open worktree that is known to be on a local disk it is done at once: a thread costs more
        than all the rest of such a request.
        """
        name = os.fsdecode(directory)
        worktree = self.open.get(name)
        if worktree is not None and worktree.watcher.trusted:
            return look()
        return await self.looks.ask(name, look)

    async def enter(self, root: str, *, explicit: bool = False, asked: bool = True) -> Worktree:
        """Return the open worktree at `root`, attaching and opening it as needed. Pair with `leave`.

        Without `asked` it does not count as used: the daemon opens a known worktree by itself.
        """
        self._in_use[root] = self._in_use.get(root, 0) + 1
        try:
            async with self._opening.setdefault(root, asyncio.Lock()):
                worktree = self.open.get(root)
                known = self.machinery.registry.get(root) is not None
                if (worktree is None and asked) or explicit:
                    identity = await self._in_scan(lambda: _identity(root))
                    await self.machinery.registry.attach(root, identity, explicit=explicit)
                if worktree is None:
                    worktree = self.open[root] = await self._open(root)
                    self.machinery.feed.tell(root, "opened" if known else "attached")
            if asked:
                self._entered = time.monotonic()
                self.open.move_to_end(root)
                with contextlib.suppress(IndexUnusable):  # a full disk must not keep a question from its answer
                    await self.machinery.registry.touch(root)
            await self._close_surplus()
        except BaseException:
            self.leave(root)
            raise
        return worktree

    def leave(self, root: str) -> None:
        """The request that entered `root` is done with it."""
        self._entered = time.monotonic()
        self._in_use[root] -= 1
        if not self._in_use[root]:
            del self._in_use[root]

    async def forget(self, root: str) -> None:
        """Detach `root` and delete its index. Raises RepoUnknown."""
        entry = self.machinery.registry.get(root)
        if entry is None:
            raise RepoUnknown(f"{root} is not attached", "ctx repos lists what is")
        async with self._opening.setdefault(root, asyncio.Lock()):
            worktree = self.open.pop(root, None)
            if worktree is not None:
                await worktree.close()
            path = self.machinery.registry.index_path(entry)
            await self.machinery.registry.forget(root)
            self.machinery.feed.tell(root, "forgotten")
            self.machinery.feed.end(root)
            if path:
                await self._end_file(path)
                await self._in_scan(lambda: remove_index(path))

    async def close(self) -> None:
        """Close every worktree; their index files are closed by the writer's stop."""
        while self.open:
            _, worktree = self.open.popitem()
            await worktree.close()
        self.looks.close()

    def renew(self, machinery: Machinery) -> None:
        """Work with other machinery from the next batch on."""
        self.machinery = machinery
        for worktree in self.open.values():
            worktree.pipeline.use(machinery)

    def lose_all(self, reason: str) -> None:
        """No event can be trusted any more: a gap in time, a suspended machine."""
        for worktree in self.open.values():
            worktree.lose(reason)

    def last_activity(self) -> float:
        """Return when somebody was here last, or something changed in a worktree (monotonic)."""
        return max((self._entered, *(each.last_event for each in self.open.values())))

    async def _open(self, root: str) -> Worktree:
        # The loop itself looks at the root from here on: at start nobody else has asked yet whether it answers.
        await self.looks.ask(root, lambda: inode(root))
        while True:
            machinery = self.machinery
            pipeline = Pipeline(root, machinery, lambda: self._rules(root))
            await pipeline.open()
            if machinery is self.machinery:  # else the configuration has changed meanwhile, and `renew` did not see it
                return Worktree(root, pipeline, self._open_watcher, self.looks)

    def _rules(self, root: str) -> Rules:
        """Return the rules of the moment. Our own state counts as ignored: else each write of ours is news."""
        rules = rules_of(self._config())
        head = f"{root.rstrip('/')}/"
        if not self._state.startswith(head):
            return rules
        own = re.sub(r"([\\*?\[\]!# ])", r"\\\1", self._state[len(head) :])
        return msgspec.structs.replace(rules, ignore=(*rules.ignore, f"/{own}/"))

    async def close_unasked(self, before_ns: int) -> None:
        """Close, and watch no more, what nobody asked for since a wall clock time; the next question opens it again."""
        used = {entry.root: entry.last_used_ns for entry in self.machinery.registry.entries()}
        for root in [root for root in self.open if used.get(root, before_ns) < before_ns]:
            if self._may_close(root):
                await self._close(root)

    async def _close_surplus(self) -> None:
        while len(self.open) > self._config().daemon_max_worktrees_open:
            root = next(filter(self._may_close, self.open), None)
            if root is None:
                return
            await self._close(root)

    def _may_close(self, root: str) -> bool:
        return root in self.open and root not in self._in_use and self.open[root].idle()

    async def _close(self, root: str) -> None:
        worktree = self.open.pop(root)
        await worktree.close()
        await self._end_file(worktree.pipeline.index_path)

    async def _end_file(self, path: str) -> None:
        self.machinery.readers.forget(path)
        await asyncio.wrap_future(self.machinery.writer.close(path))

    async def _in_scan(self, function: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.machinery.scan, function)


def _identity(root: str) -> str:
    """Return the identity of the repository at `root`, "" where there is none; scan thread."""
    repository = Repository.open(root)
    if repository is None:
        return ""
    # It may be a path of any bytes, and is kept as text.
    return os.fsencode(repository.identity()).decode("utf-8", "backslashreplace")
