"""Every message of the wire as a type: what a client may ask and what the daemon answers.

Owned by nobody at run time: values only, imported by client and daemon. WIRE.md says the same in prose.

Rules of evolution: a new field comes last in its struct and has a default; no field changes its type or
meaning; a receiver ignores fields it does not know. Fields at their default are not sent. `Hello`, `Welcome`,
`Stop` and `Failure` keep their fields for good: they are how two versions tell each other apart.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from ctxprotocol.endpoint import PROTOCOL_VERSION as PROTOCOL_VERSION

Output = Literal["text", "json"]
Content = Literal["all", "code", "docs", "config"]


class Hello(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="hello"):
    """First frame of every connection, sent by the client together with its request.

    `build` orders two installations of one version: nanoseconds since 1970 at which this copy was installed.
    """

    protocol: int
    version: str
    build: int = 0


class Request(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What every request carries. `output` picks the rendering; `width` is 0 when stdout is no terminal."""

    output: Output = "text"
    width: int = 0
    color: bool = False
    timeout_ms: int = 60_000


class InWorktree(Request, frozen=True, kw_only=True, omit_defaults=True):
    """A request about one worktree, and how the caller names it.

    Paths are bytes as the caller's kernel gave them. `directory` is the absolute directory to act from: the
    caller's own, or that of `-C` with `chosen` set. `root` is the caller's CTX_ROOT or empty. `home` is the
    caller's HOME or empty: a home directory is never indexed unless `init` named it.
    `fresh_within_ms`: how long the answer may wait for freshness. `index_wait_ms`: how long it may wait for a
    first index; -1 = until it is done, with Progress replies (the caller sits at a terminal).
    """

    directory: bytes
    chosen: bool = False
    root: bytes = b""
    home: bytes = b""
    fresh_within_ms: int = 5_000
    index_wait_ms: int = 10_000


class Filtered(InWorktree, frozen=True, kw_only=True, omit_defaults=True):
    """A request whose results can be narrowed. `limit` 0 = the command's own. Globs are worktree-relative."""

    limit: int = 0
    languages: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    kind: str = ""
    content: Content = "all"


class Query(Filtered, frozen=True, kw_only=True, omit_defaults=True, tag="query"):
    """`ctx query`: compile the context for `text` into `budget` tokens (0 = the default).

    `without` names parts of a score that do not count, as `explain` prints them: for measuring what each is worth.
    `session` names who asks: what it was sent before, and what has not changed since, is not sent again.
    `semantic`: vectors must speak, or must not; None leaves it to how much words found.
    `llm`: the language model that the user configured may plan the search and judge what was found.
    """

    text: str
    budget: int = 0
    full: bool = False
    stubs: bool = False
    explain: bool = False
    without: tuple[str, ...] = ()
    session: str = ""
    semantic: bool | None = None
    llm: bool = False


class Find(Filtered, frozen=True, kw_only=True, omit_defaults=True, tag="find"):
    """`ctx find`: ranked places for `text`, with their code when `full`. The other fields as in Query."""

    text: str
    full: bool = False
    explain: bool = False
    without: tuple[str, ...] = ()
    semantic: bool | None = None
    llm: bool = False


class Symbols(Filtered, frozen=True, kw_only=True, omit_defaults=True, tag="symbols"):
    """`ctx symbols`: defined names; exact, qualified, or a glob if `pattern` holds `*` or `?`; empty: all."""

    pattern: str = ""


class Outline(Filtered, frozen=True, kw_only=True, omit_defaults=True, tag="outline"):
    """`ctx outline`: the definitions of one file. `file` is relative to `directory`, or absolute."""

    file: bytes


class Callers(Filtered, frozen=True, kw_only=True, omit_defaults=True, tag="callers"):
    """`ctx callers`: the references that mean `name`, and how sure each is.

    `name` may be qualified, FILE:LINE, or PATH:NAME; a path is relative to `directory`. `kind` is a kind of reference.
    """

    name: str


class Callees(Filtered, frozen=True, kw_only=True, omit_defaults=True, tag="callees"):
    """`ctx callees`: what the definitions called `name` refer to. `name` and `kind` as in Callers."""

    name: str


class Deps(Filtered, frozen=True, kw_only=True, omit_defaults=True, tag="deps"):
    """`ctx deps`: what a file imports, with `reverse` what imports it, over `depth` steps. `file` as in Outline."""

    file: bytes
    depth: int = 1
    reverse: bool = False


class Chunk(InWorktree, frozen=True, kw_only=True, omit_defaults=True, tag="chunk"):
    """`ctx chunk`: the chunk with line `line` of `file` (1-based), and `around` neighbours on each side."""

    file: bytes
    line: int
    around: int = 0


class Files(Filtered, frozen=True, kw_only=True, omit_defaults=True, tag="files"):
    """`ctx files`: the indexed paths."""


class Status(InWorktree, frozen=True, kw_only=True, omit_defaults=True, tag="status"):
    """`ctx status`: what is indexed, and with `skipped` what is not and why."""

    skipped: bool = False


class Init(InWorktree, frozen=True, kw_only=True, omit_defaults=True, tag="init"):
    """`ctx init`: attach exactly `directory` (also a home directory or a plain folder) and index it."""


class Update(InWorktree, frozen=True, kw_only=True, omit_defaults=True, tag="update"):
    """`ctx update`: bring the index up to date now; `full` builds a new one beside the old."""

    full: bool = False


class Forget(InWorktree, frozen=True, kw_only=True, omit_defaults=True, tag="forget"):
    """`ctx forget`: detach the worktree at `directory` and delete its index."""


class Watch(InWorktree, frozen=True, kw_only=True, omit_defaults=True, tag="watch"):
    """`ctx watch`: follow what happens in one worktree, by Part replies, until the client hangs up."""


class Repos(Request, frozen=True, kw_only=True, omit_defaults=True, tag="repos"):
    """`ctx repos`: the attached worktrees."""


class Languages(Request, frozen=True, kw_only=True, omit_defaults=True, tag="languages"):
    """The names that `--lang` takes, one a line, for a shell to complete; answered by the loop itself."""


class Features(Request, frozen=True, kw_only=True, omit_defaults=True, tag="features"):
    """The names that `without` takes, one a line; answered by the loop itself. `names`: only what these mean."""

    names: tuple[str, ...] = ()


class Tokens(Request, frozen=True, kw_only=True, omit_defaults=True, tag="tokens"):
    """How many tokens each text has by the daemon's own count, a number a line; answered by the loop itself."""

    texts: tuple[str, ...]


class DaemonStatus(Request, frozen=True, kw_only=True, omit_defaults=True, tag="daemon_status"):
    """`ctx daemon status`: answered by the loop itself, never behind other work."""


class Stop(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="stop"):
    """Ask the daemon to end. Valid in every version; answered when the endpoint is already free."""


class Welcome(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="welcome"):
    """The daemon's side of the handshake: sent at once for every Hello, before anything else is decoded."""

    protocol: int
    version: str
    build: int = 0
    pid: int = 0


class Progress(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="progress"):
    """Zero or more of these may come before the last reply. `total` 0 = not known yet."""

    phase: str
    done: int = 0
    total: int = 0


class Part(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="part"):
    """A piece of an answer that has no end yet: `out` for stdout, now. Only a request that follows gets these."""

    out: str


class Answer(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="answer"):
    """A finished reply: `out` for stdout, `notes` for stderr (empty, or whole lines), exit `code`."""

    out: str = ""
    notes: str = ""
    code: int = 0


class Failure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, tag="failure"):
    """An error as data; see errors.py. `error` is its stable name, `code` the exit code."""

    error: str
    message: str
    hint: str = ""
    code: int = 4


AnyRequest = (
    Query
    | Find
    | Symbols
    | Outline
    | Callers
    | Callees
    | Deps
    | Chunk
    | Files
    | Status
    | Init
    | Update
    | Watch
    | Forget
    | Repos
    | Languages
    | Features
    | Tokens
    | DaemonStatus
    | Stop
)
AnyReply = Welcome | Progress | Part | Answer | Failure
