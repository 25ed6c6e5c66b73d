"""One query pass over a tree: what its matches say, as plain values without nodes. Runs in a parse worker.

The convention that the queries follow is in `queries/README.md`.
"""

from __future__ import annotations

import msgspec
import tree_sitter

from ctxd.parse.families.family import Family
from ctxd.parse.grammar import Grammar

# A receiver longer than this is a chain of calls that nobody resolves: it is there, and that is all that is kept.
MAX_RECEIVER = 60
LONG_RECEIVER = "…"
MAX_NAME = 200
# Deeper nodes begin no match: every level of a sum of 20,000 terms waits for its children, which costs their square.
MAX_DEPTH = 2000


class Definition(msgspec.Struct):
    """A definition as it is being worked out. Byte offsets are half-open, rows 0-based and inclusive.

    `start` and `row` move up to the wrapper; `head` is where the signature begins. `parent` is "" at the top;
    `owner` what the source writes as its owner. `index` is its place among the symbols, -1 when it is dropped.
    `arity` counts its parameters where the query gives them; `doc` is what a family found to be its doc comment.
    """

    kind: str
    name: str
    start: int
    end: int
    row: int
    end_row: int
    head: int
    name_start: int
    name_row: int
    body: int
    pattern: int
    owner: str = ""
    arity: int = -1
    doc: bytes = b""
    belongs: bool = False
    exported: bool = False
    parent: str = ""
    qualified: str = ""
    index: int = -1


class Use(msgspec.Struct):
    """A reference before it knows what encloses it."""

    name: str
    kind: str
    start: int
    row: int
    pattern: int
    receiver: str


class Imported(msgspec.Struct):
    """An import statement; `rows` is its first and last row."""

    module: str
    row: int
    end_row: int
    names: list[str]
    aliases: list[str]


class Wrapper(msgspec.Struct, frozen=True):
    """What reaches further up than the node it wraps. `kind` "", "line" or "export"."""

    start: int
    row: int
    kind: str


class Mark(msgspec.Struct, frozen=True):
    """What the query points out to the family, over half-open bytes: a line `private`, a doc attribute."""

    kind: str
    start: int
    end: int
    row: int


class Captured(msgspec.Struct):
    """Everything one pass found. `definitions` are by the byte of their name, `uses` by the byte of theirs."""

    definitions: dict[int, Definition] = {}
    uses: dict[int, Use] = {}
    imports: dict[int, Imported] = {}
    wrappers: dict[int, Wrapper] = {}
    exports: set[str] = set()
    skips: list[tuple[int, int]] = []
    marks: list[Mark] = []


Captures = dict[str, list[tree_sitter.Node]]


def capture(grammar: Grammar, root: tree_sitter.Node, source: bytes, family: Family) -> Captured:
    """Run the query once and return what it matched."""
    found = Captured()
    uses, skips, plans = found.uses, found.skips, grammar.plans
    cursor = tree_sitter.QueryCursor(grammar.query)
    cursor.set_max_start_depth(MAX_DEPTH)
    for pattern, captures in cursor.matches(root):
        plan = plans[pattern]
        role = plan.role
        if role == "reference":
            node = captures[plan.main][0]
            start = node.start_byte
            known = uses.get(start)
            if known is None or known.pattern < pattern:
                name = source[start : node.end_byte].decode("utf-8", "replace")
                receiver = _receiver(captures, source) if "receiver" in captures else ""
                uses[start] = Use(name, plan.kind, start, node.start_point[0], pattern, receiver)
        elif role == "skip":
            node = captures["skip"][0]
            skips.append((node.start_byte, node.end_byte))
        elif role == "definition":
            _define(found, pattern, plan.kind, captures, captures[plan.main][0], source, family)
        elif role == "import":
            _import(found, captures, captures["import"][0], source, family)
        elif role == "wrapper":
            _wrap(found, captures["wrapped"][0], captures[plan.main][0], plan.kind)
        elif role == "mark":
            node = captures[plan.main][0]
            found.marks.append(Mark(plan.kind, node.start_byte, node.end_byte, node.start_point[0]))
        else:
            node = captures[plan.main][0]
            found.exports.add(_text(node, source))
    return found


def _text(node: tree_sitter.Node, source: bytes) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def _joined(nodes: list[tree_sitter.Node], source: bytes) -> str:
    """Return the text from the first node of a capture to its last."""
    return source[nodes[0].start_byte : nodes[-1].end_byte].decode("utf-8", "replace")


def _last_row(node: tree_sitter.Node) -> int:
    row, column = node.end_point
    return row - 1 if column == 0 and row > node.start_point[0] else row


def _receiver(captures: Captures, source: bytes) -> str:
    node = captures["receiver"][0]
    start, end = node.start_byte, node.end_byte
    if end - start > MAX_RECEIVER:
        return LONG_RECEIVER
    text = source[start:end].decode("utf-8", "replace")
    # Some grammars file the dot under the module in front of it.
    return LONG_RECEIVER if "\n" in text else text.rstrip(".")


def _define(
    found: Captured,
    pattern: int,
    kind: str,
    captures: Captures,
    node: tree_sitter.Node,
    source: bytes,
    family: Family,
) -> None:
    named = captures["name"][0]
    known = found.definitions.get(named.start_byte)
    if known is not None and known.pattern > pattern:
        return
    peeled, kind = family.peel(named, kind)
    if peeled is None or peeled.end_byte - peeled.start_byte > MAX_NAME:
        return
    body = captures.get("body")
    start, row = node.start_byte, node.start_point[0]
    several = len(captures["name"]) > 1
    name, owner = family.name(_joined(captures["name"], source) if several else _text(peeled, source), kind)
    if not name:
        return
    written = captures.get("owner")
    last = captures["end"][-1] if "end" in captures else node
    found.definitions[named.start_byte] = Definition(
        kind=kind,
        name=name,
        start=start,
        end=last.end_byte,
        row=row,
        end_row=_last_row(last),
        head=start,
        name_start=peeled.start_byte,
        name_row=peeled.start_point[0],
        body=body[0].start_byte if body else -1,
        pattern=pattern,
        owner=_text(written[0], source) if written else owner,
        belongs="this" in captures,
        arity=captures["arity"][0].named_child_count if "arity" in captures else -1,
    )


def _wrap(found: Captured, inner: tree_sitter.Node, outer: tree_sitter.Node, kind: str) -> None:
    row = outer.start_point[0]
    if kind == "line" and row != inner.start_point[0]:
        return
    found.wrappers[inner.start_byte] = Wrapper(outer.start_byte, row, kind)


def _import(found: Captured, captures: Captures, node: tree_sitter.Node, source: bytes, family: Family) -> None:
    if clauses := captures.get("import.clause"):
        _clause(found, node, clauses[0], source, family)
        return
    modules = captures.get("import.module")
    key = modules[0].start_byte if modules else node.start_byte
    known = found.imports.get(key)
    if known is None:
        module = _text(modules[0], source).strip("\"'`<> \t\r") if modules else ""
        known = found.imports[key] = Imported(module, node.start_point[0], _last_row(node), [], [])
    name, alias, bound = "", "", None
    if names := captures.get("import.name"):
        bound, name = names[0], _text(names[0], source)
        if aliases := captures.get("import.alias"):
            bound, alias = aliases[0], _text(aliases[0], source)
    elif defaults := captures.get("import.default"):
        bound, name, alias = defaults[0], "default", _text(defaults[0], source)
    elif spaces := captures.get("import.namespace"):
        bound, name, alias = spaces[0], "*", _text(spaces[0], source)
    elif "import.wildcard" in captures:
        name = "*"
    if name:
        known.names.append(name)
        known.aliases.append("" if alias == name else alias)
    used = name if name not in ("", "*", "default") else alias
    if bound is not None and used:
        start = bound.start_byte
        found.uses[start] = Use(used, "import", start, bound.start_point[0], 1 << 20, "")


def _clause(found: Captured, node: tree_sitter.Node, clause: tree_sitter.Node, source: bytes, family: Family) -> None:
    made: dict[str, Imported] = {}
    for bound in family.imports(source[clause.start_byte : clause.end_byte]):
        start = clause.start_byte + bound.at
        row = node.start_point[0] + source.count(b"\n", node.start_byte, start)
        known = made.get(bound.module)
        if known is None:
            known = Imported(bound.module, row, _last_row(node), [], [])
            found.imports[start] = made[bound.module] = known
        if bound.name:
            known.names.append(bound.name)
            known.aliases.append(bound.alias)
            used = bound.alias if bound.name in ("*", "default") else bound.name
            if used:
                found.uses[start] = Use(used, "import", start, row, 1 << 20, "")
