"""What the index, a worktree and the daemon say of themselves: the values behind status, files, repos and
update.

No behaviour; a leaf that every room may import, like model.py. The loop fills the states, catalog.py the
rest.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ctxd.model import Freshness


class LanguageCount(msgspec.Struct, frozen=True):
    """How much of one language is indexed. `language` is the canonical name, "" = nobody's."""

    language: str
    files: int
    chunks: int = 0
    symbols: int = 0


class ReasonCount(msgspec.Struct, frozen=True):
    """How many files share a reason: for not being indexed, or for having been parsed with trouble."""

    reason: str
    files: int


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What an index holds. `languages` by falling number of files, then name; `skipped` and `noted` likewise.

    `replaced` counts files with characters that could not be decoded; `source_bytes` is the size of what is
    indexed.
    """

    languages: tuple[LanguageCount, ...] = ()
    skipped: tuple[ReasonCount, ...] = ()
    noted: tuple[ReasonCount, ...] = ()
    replaced: int = 0
    source_bytes: int = 0

    @property
    def files(self) -> int:
        """Return how many files are indexed."""
        return sum(one.files for one in self.languages)

    @property
    def chunks(self) -> int:
        """Return how many chunks there are."""
        return sum(one.chunks for one in self.languages)

    @property
    def symbols(self) -> int:
        """Return how many definitions there are."""
        return sum(one.symbols for one in self.languages)


class FileRow(msgspec.Struct, frozen=True, kw_only=True):
    """One path that the index knows. `reason` is why it is not indexed, `note` what went wrong in parsing it."""

    path: str
    language: str = ""
    content: str = ""
    size_bytes: int = 0
    line_count: int = 0
    reason: str = ""
    note: str = ""


class Near(msgspec.Struct, frozen=True):
    """A defined name that is like the one asked for, and the first place that defines it."""

    name: str
    path: str
    line: int


Watching = Literal["trusted", "degraded", "scanning", "off"]
Phase = Literal["closed", "opening", "indexing", "ready", "failed", "damaged"]


class Audited(msgspec.Struct, frozen=True, kw_only=True):
    """What the quiet audit did in a worktree since that was opened: whole cycles, files that no event had told of, and
    when the last cycle ended (wall clock, 0 = none has).
    """

    cycles: int = 0
    found: int = 0
    ended_s: float = 0.0


class VectorTier(msgspec.Struct, frozen=True, kw_only=True):
    """What the loop knows of vectors. `model` is "" without an embedder, and `trouble` says why, `hint` what helps.

    `per_s` is how many texts a second it embeds, 0 where that was not measured; `embedded` how many it did. `hosts`
    are where texts go, `spent_usd` what that has cost so far, `cap_usd` what it may cost, None where it is free.
    """

    model: str = ""
    remote: bool = False
    trouble: str = ""
    hint: str = ""
    per_s: float = 0.0
    embedded: int = 0
    hosts: tuple[str, ...] = ()
    spent_usd: float = 0.0
    cap_usd: float | None = None


class VectorsFilled(msgspec.Struct, frozen=True):
    """How many chunks are to have a vector, how many have one, and whether all of this generation do.

    `replaces` names the model whose vectors these are made in place of, "" for none.
    """

    wanted: int
    done: int
    complete: bool
    replaces: str = ""


class WorktreeState(msgspec.Struct, frozen=True, kw_only=True):
    """What the loop knows of one attached worktree.

    `watching`: `trusted` events prove freshness; `degraded` a limit was hit (`watch_reason`,
    `watch_remedy`), scans fill in; `scanning` events prove nothing on this file system; `off` not open.
    `pending` counts files seen and not committed. `lost` is why the next answer needs a checksum scan.
    `rebuilds` counts indexes that were rebuilt after damage; `last_error` is the last thing that failed
    here, in words. `linked`, `odd_names`, `sparse` and `git_note` are a Listing's.
    """

    root: str
    index_path: str = ""
    phase: Phase = "closed"
    generation: int = 0
    freshness: Freshness = Freshness(fresh=True)
    watching: Watching = "off"
    watch_reason: str = ""
    watch_remedy: str = ""
    watches: int = 0
    overflows: int = 0
    pending: int = 0
    lost: str = ""
    nested: tuple[str, ...] = ()
    ignored: int = 0
    ignored_by: str = ""
    not_utf8: int = 0
    rebuilds: int = 0
    last_error: str = ""
    linked: tuple[str, ...] = ()
    odd_names: tuple[str, ...] = ()
    sparse: int = 0
    git_note: str = ""
    audited: Audited = Audited()
    vectors: VectorTier = VectorTier()


HappeningKind = Literal[
    "attached",
    "opened",
    "committed",
    "compared",
    "audited",
    "lost",
    "failed",
    "rebuilding",
    "rebuilt",
    "damaged",
    "freshness",
    "missed",
    "forgotten",
]


class Happening(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened in a worktree, as `ctx watch` tells it. `at_s` is the wall clock.

    `committed`: a transaction, `took_ms` after its batch began or the transaction before it ended; `changed` and
    `removed` name paths up to a limit, the counts say how many there were. `compared`: the whole tree was, and
    `count` files differed. `audited`: the quiet audit found `count` files that no event had told of. `missed`: a slow
    reader did not get `count` of these. `reason` is for people.
    """

    kind: HappeningKind
    root: str
    at_s: float
    reason: str = ""
    took_ms: float = 0.0
    count: int = 0
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed_files: int = 0
    removed_files: int = 0
    generation: int = 0
    freshness: Freshness = Freshness(fresh=True)


class DaemonState(msgspec.Struct, frozen=True, kw_only=True):
    """What the loop knows of itself: answered without waiting for anything.

    `queue` counts slices that wait for the writer, `queries` requests that wait for a reader. Percentiles
    are over the last requests about a worktree. `last_progress_s` is how long ago a batch was last
    committed, -1 = never. `files_parsed` counts those that the cache did not have.
    """

    version: str
    pid: int
    uptime_s: float
    socket: str
    state_dir: str
    log: str = ""
    worktrees: tuple[WorktreeState, ...] = ()
    queue: int = 0
    queries: int = 0
    requests: int = 0
    p50_ms: float = 0.0
    p99_ms: float = 0.0
    rss_bytes: int = 0
    watches: int = 0
    connections: int = 0
    workers: int = 0
    worker_restarts: int = 0
    files_parsed: int = 0
    last_progress: str = ""
    last_progress_s: float = -1.0
    last_error: str = ""


class RepoRow(msgspec.Struct, frozen=True, kw_only=True):
    """One attached worktree as `ctx repos` lists it. Counts are -1 where its index is not open."""

    root: str
    phase: Phase = "closed"
    files: int = -1
    chunks: int = -1
    generation: int = -1
    freshness: Freshness | None = None
    index_bytes: int = 0


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """What `init`, `update` or `forget` did to one worktree. `changed` counts files that were committed or
    removed.
    """

    verb: Literal["attached", "updated", "rebuilt", "forgotten"]
    root: str
    files: int = 0
    chunks: int = 0
    symbols: int = 0
    skipped: int = 0
    changed: int = 0
    generation: int = 0
    freshness: Freshness = Freshness(fresh=True)
    ignored: int = 0
    ignored_by: str = ""
    took_ms: float = 0.0
