"""A small index for tests of search: definitions by pattern, rows written directly. Needs no parser, no writer."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Iterator, Mapping

import apsw

from ctxd import tokens, words
from ctxd.store import schema
from ctxd.store.snapshot import Snapshot

_LANGUAGES = {"py": "python", "c": "c", "h": "c", "md": "markdown", "js": "javascript", "ts": "typescript", "go": "go"}
_PYTHON = re.compile(r"^(?P<indent>[ \t]*)(?:async )?(?P<kind>def|class)\s+(?P<name>\w+)", re.M)
_BRACED = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?:export|default|async|static|public|private|protected|readonly|abstract)\s+)*"
    r"(?:(?P<kind>class|interface|enum|struct|type|func|function)\s+(?:\([^)]*\)\s*)?(?P<name>\w+)"
    r"|(?:const|let|var)\s+(?P<arrow>\w+)\s*=\s*(?:async\s*)?(?:function\b|\([^)\n]*\)\s*(?::[^=\n]+)?=>)"
    r"|(?P<member>(?!if|for|while|switch|return|catch|else)[A-Za-z_]\w*)\s*\([^;\n]*\)\s*(?::[^{;\n]+)?\{\s*$"
    r"|(?:[A-Za-z_][\w \t*]*[ \t*])(?P<c>\w+)\s*\([^;{]*\)\s*\{)",
    re.M,
)
_HEADING = re.compile(r"^(?P<indent>)#+\s+(?P<name>.+)$", re.M)
_KIND = {
    "def": "function",
    "class": "class",
    "func": "function",
    "struct": "struct",
    "interface": "interface",
    "enum": "enum",
    "type": "type",
}
_LARGE = 500


class Definition:
    """One definition as a pattern sees it."""

    def __init__(self, name: str, kind: str, start: int, end: int, parent: str, signature: str, doc: str) -> None:
        self.name, self.kind, self.start, self.end = name, kind, start, end
        self.parent, self.signature, self.doc = parent, signature, doc


def connect() -> apsw.Connection:
    """Return an empty index in memory."""
    connection = apsw.Connection(":memory:")
    connection.execute(schema.SCHEMA)
    return connection


def snapshot(files: Mapping[str, str]) -> Snapshot:
    """Return an index of these files."""
    connection = connect()
    with connection:
        for path, text in files.items():
            add(connection, path, text)
    return Snapshot(connection, 1)


def remove(connection: apsw.Connection, path: str) -> None:
    """Take a file out again."""
    (file,) = connection.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
    connection.execute("DELETE FROM fts WHERE rowid IN (SELECT id FROM chunks WHERE file_id = ?)", (file,))
    for table in ("texts", "chunks", "symbols", "refs", "imports"):
        connection.execute(f"DELETE FROM {table} WHERE file_id = ?", (file,))
    connection.execute("DELETE FROM files WHERE id = ?", (file,))


def add(connection: apsw.Connection, path: str, text: str) -> None:
    """Index one file."""
    language = _LANGUAGES.get(path.rpartition(".")[2], "")
    content = "docs" if language == "markdown" else "code" if language else "text"
    body = text.encode()
    lines = text.splitlines(keepends=True) or [""]
    connection.execute(
        "INSERT INTO files(path, language, content, facts, digest, size_bytes, mtime_ns, ctime_ns, inode, hashed_ns,"
        " line_count) VALUES(?,?,?,?,?,?,0,0,0,0,?)",
        (path, language, content, _facts(path), hashlib.sha256(body).digest(), len(body), len(lines)),
    )
    file = connection.last_insert_rowid()
    connection.execute("INSERT INTO texts VALUES(?, ?)", (file, zlib.compress(body)))
    found = list(_definitions(language, text, lines))
    ids = []
    for one in found:
        qualified = f"{one.parent}.{one.name}" if one.parent else one.name
        connection.execute(
            "INSERT INTO symbols(file_id, name_id, qualified_name, kind, parent, exported, line_start, line_end,"
            " definition_line, signature, doc) VALUES(?,?,?,?,?,?,?,?,?,?,?)",
            (file, _name(connection, one.name), qualified, one.kind, one.parent, not one.name.startswith("_"),
             one.start, one.end, one.start, one.signature, one.doc),
        )  # fmt: skip
        ids.append(connection.last_insert_rowid())
    for start, end, kind, owner in _cut(found, lines):
        _add_chunk(connection, file, path, lines, (start, end, kind), found[owner] if owner >= 0 else None,
                   ids[owner] if owner >= 0 else None)  # fmt: skip
    _add_references(connection, file, lines, {one.name for one in found})


def _add_chunk(
    connection: apsw.Connection,
    file: int,
    path: str,
    lines: list[str],
    span: tuple[int, int, str],
    owner: Definition | None,
    symbol: int | None,
) -> None:
    start, end, kind = span
    text = "".join(lines[start - 1 : end])
    first = len("".join(lines[: start - 1]).encode())
    connection.execute(
        "INSERT INTO chunks(file_id, symbol_id, kind, line_start, line_end, byte_start, byte_end, tokens)"
        " VALUES(?,?,?,?,?,?,?,?)",
        (file, symbol, kind, start, end, first, first + len(text.encode()), tokens.count(text)),
    )
    *folders, base = path.split("/")
    stem = base.split(".")[0]
    connection.execute(
        "INSERT INTO fts(rowid, path, name, context, body) VALUES(?,?,?,?,?)",
        (
            connection.last_insert_rowid(),
            words.expand(" ".join([stem, stem, *folders[-2:]])),
            words.expand(f"{owner.name} {owner.parent}") if owner else "",
            words.expand(owner.signature) if owner else "",
            words.expand(text),
        ),
    )


def _add_references(connection: apsw.Connection, file: int, lines: list[str], own: set[str]) -> None:
    call = schema.REFERENCE_KINDS.index("call")
    place = 0
    for number, line in enumerate(lines, 1):
        for name in dict.fromkeys(re.findall(r"(\w+)\(", line)):
            if not re.search(rf"(?:def|class|func|function)\s+{name}\b", line):
                connection.execute(
                    "INSERT INTO refs(file_id, place, name_id, kind, line, symbol_id, receiver) VALUES(?,?,?,?,?,NULL,'')",
                    (file, place, _name(connection, name), call, number),
                )
                place += 1


def _name(connection: apsw.Connection, name: str) -> int:
    connection.execute("INSERT OR IGNORE INTO names(name, folded) VALUES(?, ?)", (name, name.casefold()))
    return int(connection.execute("SELECT id FROM names WHERE name = ?", (name,)).fetchone()[0])


def _facts(path: str) -> int:
    parts = path.split("/")
    base = parts[-1]
    test = bool({"test", "tests", "__tests__"} & set(parts[:-1])) or base.startswith("test_") or ".test." in base
    vendored = bool({"vendor", "third_party", "deps"} & set(parts[:-1])) or ".min." in base
    example = bool({"examples", "example", "docs_src"} & set(parts[:-1]))
    return test * schema.TEST | vendored * schema.VENDORED | example * schema.EXAMPLE


def _definitions(language: str, text: str, lines: list[str]) -> Iterator[Definition]:
    pattern = {"python": _PYTHON, "markdown": _HEADING, "": None}.get(language, _BRACED)
    owners: list[Definition] = []
    for match in pattern.finditer(text) if pattern else ():
        groups = match.groupdict()
        name = groups.get("name") or groups.get("arrow") or groups.get("member") or groups.get("c") or ""
        start = text.count("\n", 0, match.start()) + 1
        end = _heading_end(lines, start) if language == "markdown" else _end(lines, start, len(match["indent"]))
        owners = [one for one in owners if one.end >= end and one.kind in ("class", "interface")]
        kind = "section" if language == "markdown" else _KIND.get(groups.get("kind") or "", "function")
        parent = owners[-1].name if owners else ""
        kind = "method" if parent and kind == "function" else kind
        doc = re.match(r'\s*"""(.+?)("""|\n\n|$)', "".join(lines[start : start + 4]), re.S)
        one = Definition(name, kind, start, end, parent, lines[start - 1].strip()[:240], doc[1].strip() if doc else "")
        owners.append(one)
        yield one


def _end(lines: list[str], start: int, indent: int) -> int:
    """The last line that is indented further, or closes the block."""
    end = start
    for number in range(start, len(lines)):
        text = lines[number]
        if text.strip() and len(text) - len(text.lstrip()) <= indent and text.strip()[0] not in "})":
            break
        if text.strip():
            end = number + 1
        if text.strip()[:1] in ("}", ")") and len(text) - len(text.lstrip()) <= indent:
            break
    return end


def _heading_end(lines: list[str], start: int) -> int:
    for number in range(start, len(lines)):
        if lines[number].startswith("#"):
            return number
    return len(lines)


def _cut(found: list[Definition], lines: list[str]) -> Iterator[tuple[int, int, str, int]]:
    """Chunks that partition the lines: small definitions whole, large classes by member, long bodies in parts."""
    owner = [-1] * (len(lines) + 1)
    for place, one in enumerate(found):
        size = tokens.count("".join(lines[one.start - 1 : one.end]))
        outer = owner[one.start]
        if outer >= 0 and tokens.count("".join(lines[found[outer].start - 1 : found[outer].end])) <= _LARGE:
            continue
        for number in range(one.start, one.end + 1):
            owner[number] = place
        one.large = size > _LARGE  # type: ignore[attr-defined]
    start = 1
    for number in range(2, len(lines) + 2):
        place = owner[start]
        full = tokens.count("".join(lines[start - 1 : number - 1])) > _LARGE and not lines[number - 2].strip()
        if number > len(lines) or owner[number] != place or full:
            kind = "text" if place < 0 else "part" if getattr(found[place], "large", False) else "definition"
            yield start, number - 1, kind, place
            start = number
