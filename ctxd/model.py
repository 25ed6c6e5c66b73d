"""The daemon's internal values. No behaviour beyond what a value knows of itself; imported by every room.

Lines are 1-based and inclusive, byte offsets 0-based and half-open into the file's text as UTF-8.
Paths are worktree-relative with `/`; the empty path is the root.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import msgspec

EventKind = Literal["file", "gone", "directory", "directory_gone", "rules", "head"]


class FileEvent(msgspec.Struct, frozen=True):
    """What the OS said about one path: a hint, to be confirmed by a read.

    `file` it may have new content; `gone` it is not there any more; `directory` it appeared and must be listed;
    `directory_gone` it and all below it went; `rules` an ignore file or git's index changed; `head` HEAD or a ref did.
    """

    path: str
    kind: EventKind


class Overflow(msgspec.Struct, frozen=True):
    """Events were lost: queue overflow, failed add, suspend gap, moved root. `reason` is for people.

    Without `checksums` they had proved nothing: a comparison by stats decides there anyway.
    """

    reason: str
    checksums: bool = True


class Batch(msgspec.Struct, frozen=True):
    """Debounced events handled together. `paths` need a read or a look; `listings` are directories to list anew.

    `reconcile` asks for the whole tree; `checksums` for one that trusts no stat.
    """

    paths: frozenset[str] = frozenset()
    listings: frozenset[str] = frozenset()
    reconcile: bool = False
    checksums: bool = False


class FileStat(msgspec.Struct, frozen=True, array_like=True):
    """What `lstat` says of a regular file."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int


class Known(msgspec.Struct, frozen=True):
    """What the store believes about one path. `hashed_ns` is the wall clock when `digest` was taken."""

    stat: FileStat
    digest: bytes
    hashed_ns: int
    skip: str


SkipReason = Literal[
    "",
    "binary",
    "too large",
    "minified",
    "generated",
    "lock file",
    "secret",
    "link",
    "link outside the root",
    "not a regular file",
    "unreadable",
    "name is not UTF-8",
    "too many files",
]


class Listed(msgspec.Struct, frozen=True):
    """One path of a listing. `skip` set by name alone: such a file is recorded and never opened."""

    path: str
    stat: FileStat
    skip: SkipReason = ""


class Listing(msgspec.Struct, frozen=True):
    """What discovery found below a directory. `directory` "" = the whole worktree.

    `ignored` counts files left out by rules where known (0 outside a first look), with the rule that hid most in
    `ignored_by`. `nested` are roots of nested repositories, `linked` those of linked worktrees, whose files are left
    out. `note` is set when git did not answer and its rules were applied without it. `not_utf8` counts names,
    `odd_names` are the first of their paths (surrogateescape). `sparse` counts tracked files that a sparse checkout
    keeps out of the tree; only a listing of the whole worktree has it.
    """

    directory: str
    files: tuple[Listed, ...]
    nested: tuple[str, ...] = ()
    not_utf8: int = 0
    ignored: int = 0
    ignored_by: str = ""
    note: str = ""
    linked: tuple[str, ...] = ()
    odd_names: tuple[str, ...] = ()
    sparse: int = 0


SymbolKind = Literal[
    "function",
    "method",
    "class",
    "struct",
    "interface",
    "trait",
    "enum",
    "type",
    "constant",
    "variable",
    "field",
    "module",
    "macro",
    "test",
    "route",
    "section",
    "key",
    "environment",
]

ReferenceKind = Literal["call", "type", "import", "extends", "implements", "decorator", "route", "constant"]


class Symbol(msgspec.Struct, frozen=True, array_like=True):
    """A named definition. `qualified_name` joins its owners by `.` whatever the language writes.

    The span starts at the first decorator or doc comment; `definition_line` is the line of the definition itself.
    `signature` is one line of at most 240 characters; `doc` the doc comment's first paragraph without its markers.
    """

    name: str
    qualified_name: str
    kind: SymbolKind
    parent: str
    exported: bool
    line_start: int
    line_end: int
    definition_line: int
    signature: str = ""
    doc: str = ""


class Reference(msgspec.Struct, frozen=True, array_like=True):
    """A use of a name. `enclosing` is the index of the innermost symbol around it in its file's list, or -1."""

    name: str
    kind: ReferenceKind
    line: int
    enclosing: int = -1
    receiver: str = ""


class Import(msgspec.Struct, frozen=True, array_like=True):
    """One import statement: `names[i]` is bound as `aliases[i]` ("" = under its own name)."""

    module: str
    line: int
    names: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()


ChunkKind = Literal["definition", "header", "part", "gap", "imports", "section", "config", "text"]


class Chunk(msgspec.Struct, frozen=True, array_like=True):
    """A contiguous unit of one file. The chunks of a file partition its lines.

    `symbol` is the index of the definition it is (or is part of), or -1. `tokens` counts its text. `context` is for
    ranking only: enclosing types, signature, the imports it uses.
    """

    kind: ChunkKind
    symbol: int
    line_start: int
    line_end: int
    byte_start: int
    byte_end: int
    tokens: int
    context: str = ""


class ParsedFile(msgspec.Struct, frozen=True, array_like=True):
    """All that is known of a file from its bytes alone: one entry serves every path, branch and worktree.

    `text` is the decoded text, secrets masked, as UTF-8, packed (packing.py). `words[i]` is what the full-text index
    takes for chunk i: words.expand of its text; the cache leaves them out. `note` says what went wrong in parsing
    ("" = nothing). `skip` set: nothing else is. `generated`: its header says that a program wrote it.
    """

    language: str
    content: Literal["code", "docs", "config", "text"]
    encoding: str
    replaced: int
    line_count: int
    text: bytes = b""
    symbols: tuple[Symbol, ...] = ()
    references: tuple[Reference, ...] = ()
    imports: tuple[Import, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    words: tuple[str, ...] = ()
    note: str = ""
    skip: SkipReason = ""
    generated: bool = False


class Freshness(msgspec.Struct, frozen=True):
    """What the barrier proved. `reason` is "" exactly when `fresh`; `pending` counts files seen and not committed."""

    fresh: bool
    reason: str = ""
    pending: int = 0


class Understood(msgspec.Struct, frozen=True):
    """A question's vector, or why there is none."""

    vector: bytes = b""
    trouble: str = ""


class Meaning(msgspec.Struct, frozen=True, eq=False):
    """What search may ask for: a question's vector under one model. `weight` is what the model has earned beside words.

    `ask` blocks the thread that calls it, some seconds at most; never on the event loop.
    """

    model: str
    weight: float
    ask: Callable[[str], Understood]


class View(msgspec.Struct, frozen=True):
    """How one request sees one worktree. `root` is its absolute path (surrogateescape for odd bytes).

    `prefix` is the caller's directory relative to the root with a closing `/`, "" at the root, None outside: text
    shows paths relative to it. `started_ns` is time.perf_counter_ns() at the request's receipt, `passed_ns` after its
    barrier. `limit` and `budget` are the configured defaults. `again`: an answer from files that have changed since
    may be refused, to be asked once more after another barrier. `meaning`: whence vectors of questions come.
    `look`: asks for a file's stat where its file system may not answer (then it raises CtxError); None: it does.
    """

    root: str
    freshness: Freshness
    started_ns: int
    prefix: str | None = ""
    limit: int = 5
    budget: int = 1200
    ignored: int = 0  # files that rules left out, and the rule that hid most: explains an empty index
    ignored_by: str = ""
    passed_ns: int = 0
    again: bool = False
    meaning: Meaning | None = None
    look: Callable[[str], FileStat] | None = None

    @property
    def search_began_ns(self) -> int:
        """When the waiting was over and the search began."""
        return self.passed_ns or self.started_ns


Render = Literal["full", "outline", "stub"]


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a reply. `code` holds whole lines and is None on stubs; `lines` are its line numbers where they are
    not simply line_start..line_end (an outline leaves lines out).

    `show_line` is the line that answers best. `via` names the retrievers that found it; `parts` are the named features
    of its score with their share, in the order they were applied. `why` says why a graph neighbour is there.
    `sent_before`: a stub in place of lines that the session has been sent and that are still the same. `said`: what a
    language model says of it, one line that nobody may take for code. `silent`: not verified, because the file's file
    system does not answer.
    """

    file: str
    line_start: int
    line_end: int
    type: str
    name: str
    language: str
    qualified_name: str = ""
    parent: str = ""
    definition_line: int = 0
    exported: bool = False
    score: float = 0.0
    render: Render = "stub"
    summary: str = ""
    signature: str = ""
    code: str | None = None
    lines: tuple[int, ...] = ()
    show_line: int = 0
    verified: bool = True
    via: tuple[str, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()
    why: str = ""
    sent_before: bool = False
    id: str = ""  # render.json.identity(file, text of the span): the same however the hit is rendered
    said: str = ""
    silent: bool = False


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """Figures of one reply; times in milliseconds.

    `steered_by` is the language model that had a say, `dropped` counts the places it dropped. A cost of
    None is not known.
    """

    search_ms: float = 0.0
    total_ms: float = 0.0
    tokens: int = 0
    strategies_used: tuple[str, ...] = ()
    files_indexed: int = 0
    files_pending: int = 0
    omitted: int = 0
    steering_ms: float = 0.0
    steered_by: str = ""
    cost_usd: float | None = 0.0
    dropped: int = 0


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """One answered request before it is rendered: rows in their final order, and what to say about them."""

    query: str
    root: str
    hits: tuple[Hit, ...]
    stats: Stats
    freshness: Freshness
    generation: int
    warnings: tuple[str, ...] = ()
    hint: str = ""
