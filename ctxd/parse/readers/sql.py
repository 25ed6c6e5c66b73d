"""The reader of SQL: tables with their columns, views, routines, triggers, indexes, types, in any dialect. Pure."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

import msgspec

from ctxd.model import Import, ReferenceKind
from ctxd.parse import comments
from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.families.family import Family
from ctxd.parse.families.recovery import trimmed_end
from ctxd.parse.readers import sqlwords as words
from ctxd.parse.readers.outline import Entry, Mention, cuts_by_indentation, outline
from ctxd.parse.readers.sqltext import Masked, mask, statements
from ctxd.parse.symbols import line_starts

# A schema has so many tables and columns. Looking further for an END would cost the file's length for each routine.
_MAX_NAMES, _MAX_BODY = 20_000, 100_000


class Sql(Family):
    """Comments of SQL."""

    line_comments = (b"--",)


_FAMILY = Sql()


class _Reader:
    """One file: its text in three forms, and what was found in it so far."""

    def __init__(self, source: bytes) -> None:
        self.source = source
        self.lines = source.split(b"\n")
        self.starts = line_starts(self.lines)
        self.masked: Masked = mask(source)
        self.entries: list[Entry] = []
        self.mentions: list[Mention] = []
        self.imports: list[Import] = []
        self.named: set[int] = set()
        self.docs = {
            _plain(found["name"]).lower(): _unquoted(found["text"]) for found in words.COMMENT_ON.finditer(source)
        }

    def row(self, at: int) -> int:
        return bisect_right(self.starts, at) - 1

    def read(self) -> Extracted:
        flat = self.masked.flat
        for begin, end in statements(flat):
            found = list(words.CREATE.finditer(flat, begin, end))
            if found and (found[0].start() == begin and found[0]["type"].split()[0] in words.ROUTINES):
                found = found[:1]
            first, last = self.row(begin), self.row(end - 1)
            added = [] if found else list(words.ALTER.finditer(flat, begin, end))
            if not (found or added) or (found and self.row(found[0].start()) > first):
                self.entries.append(Entry("", "", first, last))
            for place, head in enumerate(found):
                stop = found[place + 1].start() if place + 1 < len(found) else end
                self.define(head, trimmed_end(flat, head.start(), stop))
            for column in added:
                self.add_column(column, end)
            if last > first:
                self.entries += cuts_by_indentation(self.lines, first, last)
        self.read_queries()
        self.read_uses()
        imports = [Import(_text(one["path"]), self.row(one.start()) + 1) for one in words.IMPORT.finditer(self.source)]
        imports = sorted([*self.imports, *imports], key=lambda one: one.line)
        made = outline(self.lines, self.entries, self.mentions, imports, max_names=_MAX_NAMES)
        return msgspec.structs.replace(made, comment_header_end=comments.header_end(self.lines, _FAMILY))

    def define(self, head: re.Match[bytes], end: int) -> None:
        """Add what a CREATE makes, from its head to byte `end`."""
        flat, begin, after = self.masked.flat, head.start(), head.end()
        word = head["type"].split()[0]
        name, owner = self.name(head)
        self.named.add(head.start("name"))
        if not name:
            return
        first, last, row = self.row(begin), self.row(end - 1), self.row(head.start("name"))
        if word == b"extension":
            self.imports.append(Import(name, row + 1))
            self.entries.append(Entry("", "", first, last))
            return
        qualified = f"{owner}.{name}" if owner else name
        body = words.AS.search(flat, after, end) if word not in (b"table", b"index") else None
        entry = Entry(words.KINDS.get(word, "function"), name, row, last, self.comment_row(first), owner=owner)
        entry.signature = self.signature(begin, body.start() if body and word in words.BODIES else end)
        entry.doc = self.doc(entry.first_row, first, qualified, body.start() if body else -1, end)
        self.entries.append(entry)
        fields = words.FIELDS.match(flat, after, end) if word in (b"table", b"type") else None
        if fields and not (word == b"type" and flat[after : fields.end()].strip() == b"("):
            entry.kind = "struct"
            entry.signature = self.signature(begin, fields.end() - 1)
            self.columns(qualified, fields.end(), end)
        elif word == b"type" and (enum := words.ENUM.match(flat, after, end)):
            entry.kind = "enum"
            self.values(qualified, enum.end(), end)
        elif head["type"].startswith(b"package"):
            for member in words.MEMBER.finditer(flat, after, end):
                self.entries.append(self.member(member, qualified, end))
        if word in (b"index", b"trigger", b"policy", b"rule") and (on := words.ON.search(flat, after, end)):
            self.mention(on, "name", "type")
        for parent in words.PARENT.finditer(flat, after, end) if word == b"table" else ():
            self.mention(parent, "name", "extends")

    def columns(self, table: str, begin: int, end: int) -> None:
        """Add the columns of a list that opens before byte `begin`."""
        flat = self.masked.flat
        for start, stop in _items(flat, begin, end):
            column = words.COLUMN.match(flat, start, stop)
            if column is None or column["name"] in words.NO_COLUMNS:
                continue
            at, name = column.start("name"), _text(self.source[column.start("name") : column.end("name")])
            row = self.row(at)
            beside = words.BESIDE.match(self.source, stop)
            note = words.NOTE.search(self.source, at, stop)
            first = self.comment_row(row) if not self.lines[row][: at - self.starts[row]].strip() else row
            doc = self.docs.get(f"{table}.{name}".lower(), "") or (_unquoted(note[1]) if note else "")
            doc = doc or (comments.paragraph(b"\n".join(self.lines[first:row])) if first < row else "")
            doc = doc or (_text(beside[1]) if beside else "")
            text = " ".join(_text(self.source[at:stop]).split())
            end_row = self.row(max(at, trimmed_end(flat, start, stop) - 1))
            self.entries.append(Entry("field", name.strip('"`[]'), row, end_row, first, text, doc, table))

    def values(self, enum: str, begin: int, end: int) -> None:
        close = self.masked.flat.find(b")", begin, end)
        for value in words.QUOTED.finditer(self.source, begin, close if close != -1 else end):
            row = self.row(value.start())
            self.entries.append(Entry("constant", _text(value[1]), row, row, -1, _text(value[0]), "", enum))

    def member(self, head: re.Match[bytes], package: str, end: int) -> Entry:
        """Return a routine of a package: its declaration, or its body up to the `END` of its name."""
        flat = self.masked.flat
        stop = flat.find(b";", head.end(), end)
        named = re.compile(rb"\bend\s+" + re.escape(head["name"]) + rb"\s*;")
        opened = words.AS.search(flat, head.end(), stop if stop != -1 else end)
        closed = named.search(flat, head.end(), min(end, head.end() + _MAX_BODY)) if opened else None
        last = closed.end() if closed else stop if stop != -1 else end
        begin = head.end() - len(head.group().lstrip())
        row = self.row(begin)
        signature = self.signature(begin, opened.start() if opened else last)
        first = self.comment_row(row)
        doc = comments.paragraph(b"\n".join(self.lines[first:row])) if first < row else ""
        self.named.add(head.start("name"))
        name = _text(self.source[head.start("name") : head.end("name")])
        return Entry("function", name, row, self.row(last - 1), first, signature, doc, package)

    def add_column(self, added: re.Match[bytes], end: int) -> None:
        """Add the column that an ALTER TABLE adds; it belongs to the table wherever that is created."""
        table = _plain(self.source[added.start("table") : added.end("table")])
        name = _text(self.source[added.start("name") : added.end("name")]).strip('"`[]')
        first, row = self.row(added.start()), self.row(added.start("name"))
        last = self.row(end - 1)
        text = self.signature(added.start(), end)
        self.named.add(added.start("name"))
        self.entries.append(Entry("field", name, row, last, self.comment_row(first), text, "", table))

    def read_queries(self) -> None:
        """Add the queries that a comment names for a code generator: `-- name: GetUser :one`."""
        flat = self.masked.flat
        whole = len(flat.rstrip())
        for query in words.QUERY.finditer(self.source):
            close = flat.find(b";", query.end())
            row = self.row(query.start())
            last = self.row(close if close != -1 else whole)
            self.entries.append(Entry("function", _text(query["name"]), row, max(row, last), -1, _text(query[0])))

    def read_uses(self) -> None:
        """Add the tables that are named and the routines that are called."""
        for use in words.USE.finditer(self.masked.code):
            group = use.lastgroup or ""
            if group != "none" and use.start(group) not in self.named and use[group].strip(b'"`[]') not in words.WORDS:
                self.mention(use, group, "call" if group in ("run", "call") else "type")

    def mention(self, found: re.Match[bytes], group: str, kind: ReferenceKind) -> None:
        text = _plain(self.source[found.start(group) : found.end(group)])
        receiver, _, name = text.rpartition(".")
        if name and not name.isdigit() and not name.startswith(("@", "#", ":")):
            row = self.row(found.start(group))
            self.mentions.append(Mention(name, kind, row, receiver))

    def name(self, head: re.Match[bytes]) -> tuple[str, str]:
        """Return the name and its schema; a schema that is a placeholder is none."""
        text = _plain(self.source[head.start("name") : head.end("name")])
        owner, _, name = text.rpartition(".")
        return name, "" if any(mark in owner for mark in "@{&$") else owner

    def comment_row(self, row: int) -> int:
        return comments.first_comment_row(self.lines, row, _FAMILY)

    def signature(self, begin: int, end: int) -> str:
        raw = comments.without_comments(self.source[begin : min(end, begin + 2000)], _FAMILY)
        return " ".join(_text(raw).split()).rstrip(" (")

    def doc(self, first: int, row: int, name: str, body: int, end: int) -> str:
        """Return the comment above, else what COMMENT ON says, else the comment that opens the body."""
        if first < row and (above := comments.paragraph(b"\n".join(self.lines[first:row]))):
            return above
        if said := self.docs.get(name.lower()):
            return said
        opening = words.OPENING.match(self.source, body, end) if body != -1 else None
        return comments.paragraph(opening["doc"]) if opening else ""


def _items(flat: bytes, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the items of a bracketed list that opens before byte `begin`."""
    depth, start = 0, begin
    for mark in words.MARK.finditer(flat, begin, end):
        match mark.group():
            case b"(":
                depth += 1
            case b")" if depth > 0:
                depth -= 1
            case b")":
                yield start, mark.start()
                return
            case _ if depth == 0:
                yield start, mark.start()
                start = mark.end()
    yield start, end


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace").strip()


def _unquoted(raw: bytes) -> str:
    return " ".join(_text(raw).replace("''", "'").split())


def _plain(raw: bytes) -> str:
    """Return a name without its quotes: `[dbo].[Order Lines]` is `dbo.Order Lines`."""
    return ".".join(part.strip().strip('"`[]') for part in _text(raw).split("."))


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return what an SQL text creates, names and calls."""
    return _Reader(source).read()
