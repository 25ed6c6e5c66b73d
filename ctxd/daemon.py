"""The running daemon: the rooms put together, the loop, and the order of stopping.

Started by main with the lock held; everything here lives on the main thread. Order of the end: stop accepting, unlink
the socket, answer Stop, let running requests finish, watchers, pipelines, parse pool, readers, writer.
"""

from __future__ import annotations

import asyncio
import logging
import logging.handlers
import os
import time
from collections.abc import AsyncGenerator, Callable, Mapping

import msgspec

from ctxd import heap, process
from ctxd.audit import Auditor
from ctxd.calm import until_calm
from ctxd.condition import Condition
from ctxd.config import Config, ConfigFile, config_path
from ctxd.embed import choice
from ctxd.embed.backfill import Draft
from ctxd.embed.model import Embedder
from ctxd.embed.tier import Tier
from ctxd.following import follow
from ctxd.handlers import HANDLERS
from ctxd.instance import Instance, notify
from ctxd.leftovers import collect_daily
from ctxd.parse.fingerprint import fingerprint
from ctxd.parse.languages import names, resolve
from ctxd.parse.pool import ParseSettings, Pool
from ctxd.pipeline import Machinery, Pipeline
from ctxd.remaking import remake
from ctxd.remote.http import Http
from ctxd.remote.ledger import Ledger
from ctxd.remote.providers import Keys, Remote
from ctxd.server import Report, Server
from ctxd.store import pathfacts
from ctxd.store.cache import Cache
from ctxd.store.driver import tidy
from ctxd.store.readers import Readers
from ctxd.store.registry import Registry
from ctxd.store.writer import Writer
from ctxd.threads import Threads
from ctxd.visit import Services
from ctxd.watch.opening import open_watcher
from ctxd.worktree import Worktree
from ctxd.worktrees import Worktrees, rules_of
from ctxprotocol import models
from ctxprotocol.endpoint import log_path
from ctxprotocol.errors import CtxError, DaemonUnreachable
from ctxprotocol.messages import Answer, AnyRequest, Watch
from ctxprotocol.providers import Target
from ctxprotocol.secrets import path_of

log = logging.getLogger("ctxd")

# How long running requests may take to finish once the end has begun: by a signal, whose sender waits for little, and
# by a client, which waits for 30 s. A first index is waited for up to 10 s, and then the question is answered.
SIGNAL_GRACE_S = 2.0
STOP_GRACE_S = 15.0
# Walks and comparisons at a time, after how long one does not count any more, and how many roots may hang at once.
SCANS, SLOW_SCAN_S, MOST_SCANS = 2, 0.25, 16
# Beat of the housekeeping: how soon a removed socket is noticed, and what counts as a gap in time.
BEAT_S = 5.0
GAP_S = 30.0
# When nobody has asked for so long, what the work has left is given back.
CALM_S = 10.0
# Worktrees unasked for longer than this are not opened at start, and closed while the daemon runs.
RECENT_S = 5 * 86_400
# Bytes of one log file, and how many older ones are kept.
LOG_BYTES, LOG_FILES = 2 << 20, 2


def run(instance: Instance, environ: Mapping[str, str], *, by_client: bool) -> None:
    """Serve until told to stop. Raises CtxError or OSError when the daemon cannot start."""
    config = ConfigFile(config_path(instance.state_directory, environ))
    _log_to(log_path(instance.state_directory), config.last_good().daemon_log_level)
    process.no_core_dumps()
    heap.share()
    readers = Readers()
    writer = Writer(Cache(instance.state_directory, readers, max_bytes=config.last_good().daemon_cache_bytes))
    try:
        registry = Registry.open(instance.state_directory, writer)
    except BaseException:
        log.exception("the registry cannot be used")
        writer.stop()
        readers.stop()
        raise
    try:
        asyncio.run(_Daemon(instance, environ, config, readers, writer, registry, by_client).serve())
    except BaseException:
        log.exception("the daemon ends by a fault")
        raise
    finally:
        # The last one that closes a database takes its log away, and only a writer can.
        readers.stop()
        writer.stop()
        for entry in registry.entries():
            tidy(registry.index_path(entry))
        log.info("ended")


class _Daemon:
    """One run of the daemon."""

    def __init__(
        self,
        instance: Instance,
        environ: Mapping[str, str],
        config: ConfigFile,
        readers: Readers,
        writer: Writer,
        registry: Registry,
        by_client: bool,
    ) -> None:
        self._instance = instance
        self._environ = environ
        self._config = config
        self._idle_exit = by_client
        self._registry = registry
        self._stopping = asyncio.Event()
        # Requests answered, files parsed and readers closed when memory was last given back.
        self._done = 0
        self._grace_s = SIGNAL_GRACE_S
        self._applied = config.last_good()
        settings = settings_of(self._applied)
        # Where the embedder's model lay when it was taken, if it is one of a hub.
        self._place = ""
        # What a changed configuration has set going.
        self._errands: set[asyncio.Task[None]] = set()
        self._http = Http()
        self._keys = Keys(path_of(config.path), environ)
        self._ledger = Ledger(instance.state_directory)
        self._scan = Threads("ctxd-scan", places=SCANS, slow_s=SLOW_SCAN_S, most=MOST_SCANS)
        self._tier = Tier(self._embedder, self._indexes, writer, writer.cache, lambda: self._server.asking() > 0)
        machinery = Machinery(
            pool=Pool(settings, workers=self._applied.workers),
            writer=writer,
            readers=readers,
            registry=registry,
            cache=writer.cache,
            scan=self._scan,
            maker=maker(settings),
            nudge=self._tier.backfill.nudge,
            prepare=lambda path: self._tier.backfill.prepare(Draft(path, readers)),
        )
        self._worktrees = Worktrees(machinery, lambda: self._applied, open_watcher, process.home())
        self._server = Server(self._handle, self._follow, self._stop, log_path(instance.state_directory))
        condition = Condition(instance, self._server, self._worktrees, self._tier)
        self._services = Services(self._worktrees, config, condition, resolve, names(), self._tier, self._remote)

    async def serve(self) -> None:
        """Listen, say so, and wait for the end."""
        loop = asyncio.get_running_loop()
        process.on_end(loop, self._stopping.set)
        listener, passed = self._instance.listen(self._environ)
        self._idle_exit = self._idle_exit or passed
        await self._server.listen(listener)
        self._tier.use()
        notify(self._environ, "READY=1")
        log.info("listening on %s as pid %d", self._instance.socket_path, os.getpid())
        auditor = Auditor(self._worktrees, lambda: self._config.last_good().index_audit)
        background = [
            loop.create_task(each)
            for each in (
                *(self._keep_house(), self._open_recent(), auditor.run(), collect_daily(self._worktrees)),
                self._tier.backfill.run(),
            )
        ]
        try:
            await self._stopping.wait()
        finally:
            notify(self._environ, "STOPPING=1")
            for task in (*background, *self._errands):
                task.cancel()
            await asyncio.gather(*background, *self._errands, return_exceptions=True)
            await self._end()

    async def _end(self) -> None:
        self._server.stop_accepting()
        self._instance.unbind()
        self._worktrees.machinery.feed.end()
        await self._server.close(self._grace_s)
        await self._tier.close()
        await self._http.close()
        await self._worktrees.close()
        await self._worktrees.machinery.pool.close()
        self._scan.shutdown(wait=True, cancel_futures=True)

    async def _handle(self, request: AnyRequest, report: Report) -> Answer:
        if self._instance.directory_lost():
            # Whoever starts the next daemon makes a new directory of that name, and its files are not ours to open.
            self._stopping.set()
            raise DaemonUnreachable("the state directory was removed or replaced, and this daemon ends", "ask again")
        self._look_at_configuration()
        return await HANDLERS[type(request)](self._services, request, report)

    def _look_at_configuration(self) -> None:
        if (config := self._config.last_good()) != self._applied:
            self._take_up(config)

    def _take_up(self, config: Config) -> None:
        """Let a changed configuration count: what is listed at once, what is parsed by a rebuild in the background."""
        before, self._applied = self._applied, config
        log.info("the configuration has changed")
        logging.getLogger().setLevel(config.daemon_log_level.upper())
        self._worktrees.machinery.cache.bound(config.daemon_cache_bytes)
        settings = settings_of(config)
        if (settings, config.workers) != (settings_of(before), before.workers):
            old = self._worktrees.machinery
            pool = Pool(settings, workers=config.workers)
            self._worktrees.renew(msgspec.structs.replace(old, pool=pool, maker=maker(settings)))
            self._errands.add(asyncio.create_task(old.pool.retire()))
        if embedding(config) != embedding(before):
            self._tier.use()
        for worktree in self._worktrees.open.values():
            if settings != settings_of(before):
                self._errands.add(asyncio.create_task(remake(worktree, self._wanted(worktree))))
            if rules_of(config) != rules_of(before):
                worktree.ask()
        self._errands = {task for task in self._errands if not task.done()}

    def _wanted(self, worktree: Worktree) -> Callable[[], bool]:
        """Say as long as it is so that a worktree is open and its index to be made by what counts now."""
        wanted = self._worktrees.machinery.maker
        return lambda: not worktree.closed and self._worktrees.machinery.maker == wanted

    def _embedder(self) -> Embedder | None:
        fetched = models.directory(self._instance.state_directory)
        self._place = choice.place(embedding(self._applied), fetched)
        return choice.embedder(embedding(self._applied), fetched, self._remote, self._ledger)

    def _look_at_models(self) -> None:
        """Take up a model that was fetched, or removed, since the configuration named it."""
        if choice.place(embedding(self._applied), models.directory(self._instance.state_directory)) != self._place:
            log.info("the model that embed.model names has come, gone or changed")
            self._tier.use()

    def _remote(self, target: Target) -> Remote:
        return Remote(target, self._http, self._keys)

    def _indexes(self) -> list[Pipeline]:
        return [worktree.pipeline for worktree in reversed(self._worktrees.open.values())]

    def _follow(self, request: Watch) -> AsyncGenerator[str, None]:
        return follow(self._services, request)

    async def _stop(self) -> None:
        """Become undiscoverable before the goodbye: whoever reads it may start a successor at once."""
        self._grace_s = STOP_GRACE_S
        self._server.stop_accepting()
        self._instance.unbind()
        self._stopping.set()

    async def _keep_house(self) -> None:
        """Notice what no event tells: a removed socket or state directory, a gap in time, idleness."""
        wall = time.time() - time.monotonic()
        while True:
            before = time.monotonic()
            await asyncio.sleep(BEAT_S)
            late = time.monotonic() - before - BEAT_S
            drift = abs(time.time() - time.monotonic() - wall)
            wall = time.time() - time.monotonic()
            if late > GAP_S or drift > GAP_S:
                self._worktrees.lose_all(f"the clock jumped by {max(late, drift):.0f} s")
            await self._worktrees.close_unasked(time.time_ns() - RECENT_S * 1_000_000_000)
            if self._instance.directory_lost():
                log.error("the state directory was removed or replaced; ending")
                self._stopping.set()
            elif self._instance.socket_lost():
                log.warning("the socket was removed; binding it again")
                await self._bind_again()
            self._look_at_configuration()
            self._look_at_models()
            self._give_back()
            if self._idle_exit and self._idle_for() > self._config.last_good().daemon_idle_exit_s:
                log.info("idle; ending")
                self._stopping.set()

    def _give_back(self) -> None:
        """Once nobody asks any more, let go of the memory that the work since the last time has left.

        And again when the readers have closed, half a minute later: until then their caches lie between what is free.
        """
        machinery = self._worktrees.machinery
        done = self._server.answered + machinery.pool.stats().parsed + machinery.readers.released()
        if done != self._done and self._idle_for() > CALM_S:
            self._done = done
            heap.give_back()

    async def _bind_again(self) -> None:
        self._server.stop_accepting()
        try:
            listener, _ = self._instance.listen({})
            await self._server.listen(listener)
        except OSError as error:  # no room, or something else lies there: the next beat tries again
            log.error("cannot listen: %s", error)

    def _idle_for(self) -> float:
        return 0.0 if self._server.running() else time.monotonic() - self._server.last_request

    async def _open_recent(self) -> None:
        """Open what was used lately, in order, so that its first question finds it checked."""
        oldest_ns = time.time_ns() - RECENT_S * 1_000_000_000
        recent = [entry.root for entry in self._registry.entries() if entry.last_used_ns >= oldest_ns]
        for root in recent[: self._config.last_good().daemon_max_worktrees_open]:
            await until_calm(self._server.asking)
            try:
                await self._worktrees.enter(root, asked=False)
            except CtxError as error:
                log.warning("%s: not opened: %s", root, error.message)
                continue
            self._worktrees.leave(root)


def settings_of(config: Config) -> ParseSettings:
    """Return what of the configuration the parser is told."""
    return ParseSettings(
        max_file_bytes=config.index_max_file_bytes,
        max_chunk_tokens=config.index_max_chunk_tokens,
        follow_links=config.index_follow_symlinks,
    )


def embedding(config: Config) -> choice.Wanted:
    """Return what of the configuration the embedder is made of."""
    return choice.Wanted(config.embed_enabled, config.embed_model, config.embed_providers, config.embed_spend_cap_usd)


def maker(settings: ParseSettings) -> str:
    """Return what decides an index's rows besides content: another maker means another index."""
    return f"{fingerprint().hex()[:16]} {pathfacts.rules()} {settings}"


def _log_to(path: str, level: str) -> None:
    handler = logging.handlers.RotatingFileHandler(path, maxBytes=LOG_BYTES, backupCount=LOG_FILES, encoding="utf-8")
    handler.setFormatter(logging.Formatter("%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s"))
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
