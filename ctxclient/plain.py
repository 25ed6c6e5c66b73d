"""Arguments in, answer out, without click: the plain command lines of the hot commands.

Runs in the client process, on the hot path: os only. Where a command line is not plain (an option it does not know,
a number that needs a second look) it says so by None, and click has the word. click is the source of truth for
arguments; the tests derive argument lists from it and demand the same bytes of both.
"""

import os

from ctxclient import msgpack

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ctxclient.msgpack import Value

    Fields = dict[str, Value]

REQUEST = ("output", "width", "color", "timeout_ms")
WORKTREE = (*REQUEST, "directory", "chosen", "root", "home", "fresh_within_ms", "index_wait_ms")
FILTERED = (*WORKTREE, "limit", "languages", "paths", "excludes", "kind", "content")
# The fields of each request in their order on the wire.
FIELDS = {
    "query": (*FILTERED, "text", "budget", "full", "stubs", "explain", "without", "session", "semantic", "llm"),
    "find": (*FILTERED, "text", "full", "explain", "without", "semantic", "llm"),
    "symbols": (*FILTERED, "pattern"),
    "outline": (*FILTERED, "file"),
    "callers": (*FILTERED, "name"),
    "callees": (*FILTERED, "name"),
    "deps": (*FILTERED, "file", "depth", "reverse"),
    "files": FILTERED,
    "chunk": (*WORKTREE, "file", "line", "around"),
    "status": (*WORKTREE, "skipped"),
    "daemon_status": REQUEST,
}
DEFAULTS: "Mapping[str, Value | None]" = {
    "output": "text",
    "width": 0,
    "color": False,
    "timeout_ms": 60_000,
    "chosen": False,
    "root": b"",
    "home": b"",
    "fresh_within_ms": 5_000,
    "index_wait_ms": 10_000,
    "limit": 0,
    "languages": (),
    "paths": (),
    "excludes": (),
    "kind": "",
    "content": "all",
    "budget": 0,
    "full": False,
    "stubs": False,
    "explain": False,
    "session": "",
    "semantic": None,
    "llm": False,
    "pattern": "",
    "depth": 1,
    "reverse": False,
    "around": 0,
    "skipped": False,
}

MILLION = 1_000_000
COMMON = {"-C": "dir", "--dir": "dir", "--json": "json", "--color": "color", "--timeout": "timeout_ms"}
WAITS = {**COMMON, "--fresh-within": "fresh_within_ms", "--index-wait": "index_wait_ms"}
LISTS = {**WAITS, "--limit": "limit", "--lang": "languages", "--language": "languages", "--path": "paths"}
FILTERS = {**LISTS, "--exclude": "excludes", "--type": "kind", "--content": "content"}
MODELS = {"--semantic": "semantic", "--no-semantic": "semantic", "--llm": "llm", "--no-llm": "llm"}
OPTIONS = {
    "query": {
        **FILTERS,
        "--budget": "budget",
        "--full": "full",
        "--stubs": "stubs",
        "--explain": "explain",
        "--session": "session",
        **MODELS,
    },
    "find": {**FILTERS, "--full": "full", "--explain": "explain", **MODELS},
    "symbols": FILTERS,
    "outline": {**LISTS, "--type": "kind"},
    "callers": {**LISTS, "--exclude": "excludes", "--type": "kind"},
    "callees": {**LISTS, "--exclude": "excludes", "--type": "kind"},
    "deps": {**LISTS, "--exclude": "excludes", "--depth": "depth", "--reverse": "reverse"},
    "files": {**LISTS, "--exclude": "excludes", "--content": "content"},
    "chunk": {**WAITS, "--around": "around"},
    "status": {**WAITS, "--skipped": "skipped"},
    "daemon_status": COMMON,
}
FLAGS = ("json", "full", "stubs", "explain", "skipped", "reverse", "semantic", "llm")
MANY = ("languages", "paths", "excludes")
CHOICES = {"color": ("auto", "always", "never"), "content": ("all", "code", "docs", "config")}
# Whole numbers only, and what one unit is on the wire: lowest, highest, factor.
NUMBERS = {
    "limit": (1, MILLION, 1),
    "budget": (1, MILLION, 1),
    "around": (0, 1000, 1),
    "depth": (1, 100, 1),
    "fresh_within_ms": (0, 86_400_000, 1),
    "index_wait_ms": (0, 86_400, 1000),
    "timeout_ms": (1, 86_400, 1000),
}
ENVIRONMENT = {
    "query": {"limit": "CTX_SEARCH_LIMIT", "budget": "CTX_SEARCH_BUDGET"},
    "find": {"limit": "CTX_SEARCH_LIMIT"},
}


def parse(argv: "Sequence[str]", environ: "Mapping[str, str]") -> "tuple[str, Fields] | None":
    """Return the request's tag and fields, or None where click has to look."""
    tag, rest = argv[0] if argv else "", list(argv[1:])
    if tag == "daemon" and rest[:1] == ["status"]:
        tag, rest = "daemon_status", rest[1:]
    if tag not in OPTIONS:
        return None
    given: Fields = {}
    words: list[str] = []
    rest.reverse()
    while rest:
        word = rest.pop()
        if word == "--":
            words.extend(reversed(rest))
            break
        if word[:1] != "-" or word == "-":
            words.append(word)
        elif not _take(OPTIONS[tag], word, rest, given):
            return None
    for field, variable in ENVIRONMENT.get(tag, {}).items():
        if field not in given and environ.get(variable) and not _set(given, field, environ[variable]):
            return None
    return (tag, given) if _place(tag, given, words) and _surround(tag, given, environ) else None


def _take(options: "Mapping[str, str]", word: str, rest: list[str], given: "Fields") -> bool:
    """Take in the option `word` with its value from `rest`; False where click has to look."""
    name, attached, value = word.partition("=") if word[:2] == "--" else (word, "", "")
    field = options.get(name)
    if field is None:
        return False
    if field in FLAGS:
        given[field] = name[:5] != "--no-"
        return not attached
    if not attached:
        if not rest:
            return False
        value = rest.pop()
    return _set(given, field, value)


def _set(given: "Fields", field: str, value: str) -> bool:
    if field in NUMBERS:
        lowest, highest, factor = NUMBERS[field]
        if not (value.isascii() and value.isdigit() and len(value) < 10):
            return False
        if not lowest <= int(value) <= highest:
            return False
        given[field] = int(value) * factor
    elif field in MANY:
        given[field] = (*given.get(field, ()), text(value))  # type: ignore[misc]
    else:
        given[field] = text(value) if field != "dir" else value
    return field not in CHOICES or value in CHOICES[field]


def _place(tag: str, given: "Fields", words: list[str]) -> bool:
    """Set what the words that are no options stand for."""
    if tag in ("query", "find"):
        given["text"] = text(" ".join(words))
        return bool(words) and words != ["-"]
    if len(words) > 1 or (tag == "daemon_status" and words):
        return False
    word = words[0] if words else ""
    if tag == "symbols":
        given["pattern"] = text(word)
    elif tag in ("callers", "callees"):
        given["name"] = text(word)
        return bool(word)
    elif tag == "chunk":
        word, _, line = word.rpartition(":")
        if not (line.isascii() and line.isdigit() and 0 < int(line[:10]) < 1 << 31):
            return False
        given["line"] = int(line)
    elif tag in ("files", "status"):
        given["word"] = word
        return bool(word) or not words
    if tag in ("chunk", "outline", "deps"):
        given["file"] = os.fsencode(word)
        return bool(word)
    return True


def _surround(tag: str, given: "Fields", environ: "Mapping[str, str]") -> bool:
    """Set what comes from the caller's surroundings: directories and terminal."""
    directory, word = given.pop("dir", None), given.pop("word", "")
    if given.pop("json", False):
        given["output"] = "json"
    given["width"] = width()
    given["color"] = color(str(given.get("color", "auto")), environ)
    if directory == "" or tag == "daemon_status":
        return directory != ""
    given["directory"] = place(str(directory or ""), str(word))
    given["chosen"] = bool(directory or word)
    given["root"] = place(environ["CTX_ROOT"]) if environ.get("CTX_ROOT") else b""
    given["home"] = os.fsencode(environ.get("HOME", ""))
    if "index_wait_ms" not in given and os.isatty(2):
        given["index_wait_ms"] = -1
    return True


def text(word: str) -> str:
    """Return an argument as text: bytes that are not UTF-8 become U+FFFD."""
    return word.encode("utf-8", "surrogateescape").decode("utf-8", "replace")


def place(*words: str) -> bytes:
    """Return the directory that `words`, one after the other, lead to from the current one."""
    here = os.getcwdb()
    there = os.path.join(here, *map(os.fsencode, words))
    return os.path.realpath(there) if any(words) else here


def width() -> int:
    """Return the columns of the terminal on stdout, 0 when it is none."""
    try:
        return os.get_terminal_size(1).columns or 80 if os.isatty(1) else 0
    except OSError:
        return 80


def color(choice: str, environ: "Mapping[str, str]") -> bool:
    """Say whether to color: as chosen, else on a terminal unless NO_COLOR is set or it is a dumb one."""
    if choice == "auto":
        return os.isatty(1) and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"
    return choice == "always"


def encode(tag: str, fields: "Fields") -> bytes:
    """Return the framed request; fields at their default are left out."""
    order = FIELDS[tag]
    sent = [(name, fields[name]) for name in order if name in fields and fields[name] != DEFAULTS.get(name)]
    return msgpack.frame(tag, len(order), sent)


def timeout_ms(fields: "Fields") -> int:
    """Return how long the daemon may take."""
    found = fields.get("timeout_ms", DEFAULTS["timeout_ms"])
    return found if isinstance(found, int) else 0


def deliver(out: bytes, notes: bytes, code: int) -> int:
    """Write an answer to stdout and stderr and return the exit code; a reader that went away is no error."""
    for descriptor, data in ((1, out), (2, notes)):
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(descriptor, view) :]
            except BrokenPipeError:
                break
            except BlockingIOError:
                import select

                select.select([], [descriptor], [])
            except OSError as error:
                from ctxclient import failures

                return failures.show_unwritable(error)
    return code
