"""What each module of the three packages imports, by reading its source, and the table of what it may."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {
    "ctxprotocol": ROOT / "protocol/ctxprotocol",
    "ctxclient": ROOT / "ctxclient",
    "ctxd": ROOT / "ctxd",
}


@dataclass(frozen=True)
class Import:
    """One import: its full name, `late` inside a function, `typing` under TYPE_CHECKING only."""

    name: str
    line: int
    late: bool = False
    typing: bool = False


@dataclass(frozen=True)
class Row:
    """`module` and all below it may import `ours` of this project, `outside` of the rest (None: any).

    `late` may be added inside functions. `never` names what else would break `reason`.
    """

    module: str
    ours: tuple[str, ...]
    reason: str
    outside: tuple[str, ...] | None = None
    late: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


LEAVES = (
    "ctxd.frames",
    "ctxd.guide",
    "ctxd.inode",
    "ctxd.model",
    "ctxd.packing",
    "ctxd.process",
    "ctxd.state",
    "ctxd.words",
    "ctxd.tokens",
    "ctxprotocol.files",
)
ERRORS = "ctxprotocol.errors"
# What reads an index and cannot write it.
SNAPSHOT = (
    *("ctxd.store.read", "ctxd.store.catalog", "ctxd.store.lexicon", "ctxd.store.schema", "ctxd.store.relations"),
    *("ctxd.store.spelling", "ctxd.store.snapshot", "ctxd.store.vectors"),
)
DATABASES = ("apsw", "sqlite3")
# Heavy ones: only the embedding process loads them.
MODELS = ("onnxruntime", "tokenizers", "numpy")
ROOM = "rooms below the pipeline know values only, so that each can be read, tested and replaced alone"

TABLE = (
    Row(
        "ctxprotocol.endpoint",
        (),
        "on the client's hot path each import costs milliseconds",
        ("os", "sys"),
        # On Windows, which the hot path leaves to cli.
        ("pwd", "ctxprotocol.windows"),
    ),
    Row(
        "ctxprotocol",
        ("ctxprotocol",),
        "the vocabulary of the wire knows neither side",
        never=("asyncio", *DATABASES),
    ),
    Row(
        "ctxclient.fast",
        ("ctxclient.msgpack", "ctxclient.plain", "ctxprotocol.endpoint"),
        "a warm `ctx find` costs hardly more than an interpreter: anything else only when it is needed",
        ("os", "sys", "_socket"),
        late=("*",),
    ),
    Row(
        "ctxclient.plain",
        ("ctxclient.msgpack",),
        "on the client's hot path each import costs milliseconds",
        ("os",),
        late=("*",),
    ),
    Row("ctxclient.msgpack", (), "on the client's hot path each import costs milliseconds", ()),
    Row(
        "ctxclient",
        ("ctxclient", "ctxprotocol"),
        "the client is thin, blocking, and never opens the database",
        never=("asyncio", "ctxd", "tree_sitter", *DATABASES),
    ),
    Row(
        "ctxd.model",
        (),
        "values that every room shares depend on none",
        ("__future__", "collections.abc", "typing", "msgspec"),
    ),
    Row("ctxd.state", ("ctxd.model",), "values that every room shares", ("__future__", "typing", "msgspec")),
    Row("ctxd.guide", (), "values that search and steering share", ("__future__", "typing", "msgspec")),
    Row("ctxd.words", LEAVES, "a pure function that every room shares"),
    Row("ctxd.frames", (), "both ends of a pipe load it", ("__future__", "os", "signal", "struct")),
    Row("ctxd.inode", (), "a look at a path", ("__future__", "os")),
    Row(
        "ctxd.process",
        (),
        "the children load it before anything else",
        ("__future__", "collections.abc", "os", "signal", "sys", "typing"),
        late=("psutil", "pwd", "resource"),
    ),
    Row("ctxd.piped", ("ctxd.frames",), "a process and its pipe, whatever it does"),
    Row("ctxd.packing", LEAVES, "a pure function that every room shares"),
    Row("ctxd.tokens", LEAVES, "a pure function that every room shares"),
    Row(
        "ctxd.config",
        ("ctxprotocol.endpoint", "ctxprotocol.settings", ERRORS),
        "the only reader of the environment decides nothing else",
    ),
    Row("ctxd.watch", ("ctxd.watch", *LEAVES, ERRORS), ROOM, never=DATABASES),
    Row("ctxd.scan", ("ctxd.scan", *LEAVES, ERRORS), ROOM, never=DATABASES),
    Row(
        "ctxd.parse.worker",
        ("ctxd.parse", *LEAVES, ERRORS),
        "a child loads no database and no loop",
        never=("asyncio",),
    ),
    Row(
        "ctxd.parse.families",
        (
            *("ctxd.parse.families", "ctxd.parse.capture", "ctxd.parse.languages"),
            *LEAVES,
        ),
        "what a language's query cannot say is told of one tree or one text",
        ("__future__", "bisect", "collections.abc", "itertools", "msgspec", "re", "typing", "tree_sitter"),
    ),
    Row(
        "ctxd.parse.readers",
        (
            *("ctxd.parse.readers", "ctxd.parse.comments", "ctxd.parse.extracted", "ctxd.parse.families"),
            *("ctxd.parse.languages", "ctxd.parse.structure", "ctxd.parse.symbols", *LEAVES),
        ),
        "a reader makes facts of one text, without a grammar",
        ("__future__", "bisect", "collections.abc", "itertools", "json", "msgspec", "re", "typing"),
    ),
    Row("ctxd.parse", ("ctxd.parse", "ctxd.piped", *LEAVES, ERRORS), ROOM, never=DATABASES),
    Row(
        "ctxd.remote",
        (
            *("ctxd.remote", "ctxd.threads", "ctxprotocol.providers", "ctxprotocol.secrets", "ctxprotocol.settings"),
            *("ctxprotocol.files", "ctxprotocol.web", ERRORS),
        ),
        "asking over the network knows values only, and loads what it needs when a provider is asked",
        (
            *("__future__", "asyncio", "collections", "contextlib", "email", "ipaddress", "logging", "msgspec", "os"),
            *("re", "socket", "threading", "time", "typing", "urllib"),
        ),
        late=("anyio", "httpx"),
        never=DATABASES,
    ),
    Row("ctxd.store", ("ctxd.store", *LEAVES, ERRORS), ROOM, never=("tree_sitter",)),
    Row(
        "ctxd.embed.worker",
        ("ctxd.embed.model", "ctxd.embed.pipe", "ctxd.frames", "ctxd.process"),
        "the only process that loads a model loads nothing else",
        never=("asyncio", *DATABASES),
    ),
    Row(
        "ctxd.embed",
        (
            *("ctxd.embed", "ctxd.piped", "ctxd.remote", "ctxd.store", "ctxprotocol.providers"),
            # Which models of a hub are on this machine: the client fetches them, nothing here does.
            *("ctxprotocol.models", *LEAVES, ERRORS),
        ),
        ROOM,
        never=(*MODELS, *DATABASES),
    ),
    Row(
        "ctxd.render",
        ("ctxd.render", "ctxprotocol", *LEAVES),
        "values in, text out",
        never=("asyncio", *DATABASES),
    ),
    Row(
        "ctxd.search.question",
        ("ctxd.search.question", *LEAVES, ERRORS),
        "what a question asks for is read off its text alone",
        ("__future__", "msgspec", "re", "typing"),
    ),
    Row(
        "ctxd.search.edges",
        (
            *("ctxd.search.edges", "ctxd.store.read", "ctxd.store.relations", "ctxd.store.schema"),
            *("ctxd.store.snapshot", *LEAVES),
        ),
        "what a reference means depends on no question, ranking or answer",
        never=("asyncio",),
    ),
    Row(
        "ctxd.search.ranking",
        ("ctxd.search.ranking", "ctxd.search.question", "ctxd.search.filters", *SNAPSHOT, *LEAVES, ERRORS),
        "the order of places depends on no budget and no way of showing them",
        never=("asyncio",),
    ),
    Row(
        "ctxd.search.listing",
        (
            *("ctxd.search.listing", "ctxd.search.edges", "ctxd.search.absence", "ctxd.search.filters"),
            *("ctxd.search.globs", "ctxd.search.places", "ctxd.search.ranking.announced"),
            *("ctxd.render", "ctxprotocol", *SNAPSHOT, *LEAVES),
        ),
        "a list shows what there is and ranks nothing",
        never=("asyncio",),
    ),
    Row(
        "ctxd.search",
        ("ctxd.search", *SNAPSHOT, "ctxd.render", "ctxprotocol", *LEAVES),
        "search reads one snapshot: it neither writes nor waits",
        never=("asyncio",),
    ),
    *(
        Row(
            module,
            (
                "ctxd.survey",
                "ctxd.writes",
                "ctxd.feed",
                "ctxd.scan",
                "ctxd.parse.pool",
                "ctxd.store",
                "ctxprotocol",
                *LEAVES,
            ),
            "from a batch to committed rows, and no further",
            never=("ctxd.watch", "tree_sitter"),
        )
        for module in ("ctxd.pipeline", "ctxd.survey", "ctxd.writes")
    ),
    Row(
        "ctxd.lookout",
        ("ctxd.watch", "ctxd.survey", *LEAVES),
        "a watcher and when to try another: what its events mean is the worktree's business",
        never=DATABASES,
    ),
    *(
        Row(
            module,
            (
                *(
                    "ctxd.worktree",
                    "ctxd.lookout",
                    "ctxd.watch",
                    "ctxd.pipeline",
                    "ctxd.survey",
                    "ctxd.store",
                    "ctxd.scan",
                ),
                *("ctxd.feed", "ctxd.config", "ctxd.roots", "ctxd.looks", "ctxprotocol", *LEAVES),
            ),
            "the state of each worktree; questions are not its business",
            never=("ctxd.search", *DATABASES),
        )
        for module in ("ctxd.worktree", "ctxd.worktrees")
    ),
    Row("ctxd.remaking", ("ctxd.worktree", ERRORS), "when a rebuild is tried again, and nothing of how it is done"),
    Row("ctxd.leftovers", ("ctxd.worktrees", ERRORS), "what is gone; forgetting it is the worktrees' business"),
    Row(
        "ctxd.audit",
        (
            *("ctxd.worktrees", "ctxd.worktree", "ctxd.store.catalog", "ctxd.scan.reconcile", "ctxd.parse.pool"),
            *(ERRORS, *LEAVES),
        ),
        "the audit finds and tells; what follows is the worktree's business",
        never=DATABASES,
    ),
    Row(
        "ctxd.visit",
        (
            *("ctxd.worktrees", "ctxd.worktree", "ctxd.roots", "ctxd.condition", "ctxd.config", "ctxd.search"),
            *("ctxd.embed.tier", "ctxd.store.snapshot", "ctxd.store.driver", "ctxprotocol", *LEAVES),
            *("ctxd.remote.providers", "ctxd.steer.lately"),
        ),
        "what requests share; what they differ in is the handlers'",
        never=DATABASES,
    ),
    Row(
        "ctxd.steer.lately",
        (),
        "what requests share of steering loads nothing of it",
        ("__future__", "collections.abc", "time"),
    ),
    Row(
        "ctxd.steer",
        ("ctxd.steer", "ctxd.remote", "ctxprotocol.providers", *LEAVES),
        "a language model is asked here, and sees values only: no index, no file",
        never=DATABASES,
    ),
    Row(
        "ctxd.guiding",
        (
            *("ctxd.visit", "ctxd.worktree", "ctxd.steer", "ctxd.search.run", "ctxd.store.catalog", "ctxd.store.read"),
            *("ctxd.store.snapshot", "ctxprotocol", *LEAVES),
        ),
        "where steering and search meet",
        never=DATABASES,
    ),
    Row(
        "ctxd.handlers",
        (
            *(
                "ctxd.visit",
                "ctxd.worktrees",
                "ctxd.worktree",
                "ctxd.roots",
                "ctxd.condition",
                "ctxd.config",
                "ctxd.search",
            ),
            *(
                "ctxd.narrowing",
                "ctxd.render",
                "ctxd.store.readers",
                "ctxd.store.snapshot",
                "ctxd.store.catalog",
                "ctxd.store.driver",
            ),
            *("ctxprotocol", *LEAVES),
        ),
        "a handler asks the rooms; it does not reach behind them",
        late=("ctxd.guiding",),
        never=DATABASES,
    ),
    Row("ctxd.feed", LEAVES, "those who report know nothing of those who watch", never=DATABASES),
    Row(
        "ctxd.following",
        ("ctxd.visit", "ctxd.handlers", "ctxd.feed", "ctxd.roots", "ctxd.render", "ctxprotocol", *LEAVES),
        "a handler asks the rooms; it does not reach behind them",
        never=DATABASES,
    ),
    Row(
        "ctxd.condition",
        (
            *("ctxd.instance", "ctxd.server", "ctxd.worktrees", "ctxd.worktree", "ctxd.parse.pool"),
            *("ctxd.embed.tier", "ctxprotocol", *LEAVES),
        ),
        "what the daemon says of itself: it looks, and changes nothing",
        never=DATABASES,
    ),
    Row("ctxd.roots", ("ctxprotocol", *LEAVES), "which directory a request is about, by stats alone"),
    Row("ctxd.narrowing", ("ctxprotocol", *LEAVES), "names in, names out"),
    Row("ctxd.server", ("ctxd.namedpipe", "ctxprotocol"), "frames in, frames out: handlers are passed in"),
    Row("ctxd.namedpipe", ("ctxprotocol",), "clients in; what they say is the server's business"),
    Row(
        "ctxd.instance",
        ("ctxd.inode", "ctxd.namedpipe", "ctxprotocol"),
        "the lock is taken before anything heavy is loaded",
        never=("asyncio",),
    ),
    Row(
        "ctxd.calm",
        (),
        "a load average and a wait",
        ("__future__", "asyncio", "collections", "os", "sys", "time"),
        late=("psutil",),
    ),
    Row("ctxd.heap", (), "the C library's affair alone", ("__future__", "contextlib", "ctypes", "gc")),
    Row("ctxd.threads", (), "an executor that does not end by hanging"),
    Row(
        "ctxd.looks",
        ("ctxd.model", "ctxd.threads", "ctxprotocol.errors"),
        "threads that wait for disks, so that nobody else has to",
    ),
    Row("ctxd.main", ("ctxd", "ctxclient", "ctxprotocol"), "the composition root knows all"),
    Row("ctxd.daemon", ("ctxd", "ctxprotocol"), "the composition root knows all"),
    Row("ctxd.__main__", ("ctxd.main",), "an entry point"),
)

# Nobody imports the composition root: what two modules need lies below it.
IMPORTED_BY_NONE = ("ctxd.main", "ctxd.daemon", "ctxclient.fast")
ENTRY_POINTS = ("ctxd.__main__", "ctxd.main", "ctxclient.__main__")


def modules() -> dict[str, Path]:
    """Return every module of the project with its file."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in sorted(folder.rglob("*.py")):
            parts = [package, *path.relative_to(folder).with_suffix("").parts]
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imports_of(source: str, module: str, is_package: bool, known: frozenset[str]) -> list[Import]:
    """Return the imports of one source text; `from a import b` is `a.b` where that is a module of ours."""
    found: list[Import] = []

    def visit(node: ast.AST, late: bool, typing: bool) -> None:
        match node:
            case ast.Import(names=names):
                found.extend(Import(each.name, node.lineno, late, typing) for each in names)
            case ast.ImportFrom(module=base, names=names, level=level):
                start = module.split(".")
                start = start[: len(start) - level + is_package] if level else []
                base = ".".join([*start, *([base] if base else [])])
                for each in names:
                    full = f"{base}.{each.name}"
                    found.append(Import(full if full in known else base, node.lineno, late, typing))
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                for child in ast.iter_child_nodes(node):
                    visit(child, True, typing)
            case ast.If(test=ast.Name(id="TYPE_CHECKING") | ast.Attribute(attr="TYPE_CHECKING")):
                for child in node.body:
                    visit(child, late, True)
                for child in node.orelse:
                    visit(child, late, typing)
            case _:
                for child in ast.iter_child_nodes(node):
                    visit(child, late, typing)

    visit(ast.parse(source), False, False)
    return found


def row_of(module: str, table: tuple[Row, ...] = TABLE) -> Row | None:
    """Return the longest row that covers `module`."""
    fitting = [row for row in table if covers(row.module, module)]
    return max(fitting, key=lambda row: len(row.module), default=None)


def covers(prefix: str, module: str) -> bool:
    return module == prefix or module.startswith(prefix + ".")


def faults_of(module: str, imports: list[Import], table: tuple[Row, ...] = TABLE) -> list[str]:
    """Return what `module` imports against the table, a sentence each with the reason."""
    row = row_of(module, table)
    if row is None:
        return [f"{module}: not in the import table; add a row that says who may import whom and why"]
    bad = []
    for each in imports:
        if each.name == "__future__" or (each.typing and not _ours(each.name)):
            continue
        allowed = row.ours if _ours(each.name) else row.outside
        if any(covers(name, each.name) for name in row.never):
            allowed = ()
        if allowed is None or any(covers(name, each.name) for name in allowed):
            fine = True
        else:
            fine = each.late and ("*" in row.late or any(covers(name, each.name) for name in row.late))
        if any(covers(name, each.name) for name in IMPORTED_BY_NONE) and module not in ENTRY_POINTS:
            fine = False
        if not fine:
            bad.append(f"{module}:{each.line} imports {each.name}: {row.reason}")
    return bad


def _ours(name: str) -> bool:
    return name.split(".")[0] in PACKAGES
