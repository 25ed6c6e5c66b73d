"""Files of sections and assignments, line by line: TOML, INI and its many relatives, environment files. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.readers.outline import Entry, comment_above, comment_text, cuts_by_indentation, line_text, outline

_TABLE = re.compile(rb"[ \t]*(\[\[?)[ \t]*([^\[\]\n]*(?:\"[^\"]*\"[^\[\]\n]*)*)\]")
_ASSIGNED = re.compile(
    rb"""[ \t]*((?:[\w-]+|"[^"\n]*"|'[^'\n]*')(?:[ \t]*\.[ \t]*(?:[\w-]+|"[^"\n]*"|'[^'\n]*'))*)[ \t]*="""
)
_SEGMENT = re.compile(rb"""[\w-]+|"[^"]*"|'[^']*'""")
_TITLE = re.compile(rb"""[ \t]*(?:name|id)[ \t]*=[ \t]*["']([^"'\n]+)["']""")
# A string, a comment, or a bracket, where values may go on over several lines.
_VALUE_TOKEN = re.compile(rb"""\"(?:[^"\\\n]|\\.)*\"|'[^'\n]*'|#[^\n]*|[\[\]{}]""")
_INI_SECTION = re.compile(rb"[ \t]*\[([^\]\n]+)\]")
_INI_KEY = re.compile(rb"([ \t]*)(?:export[ \t]+)?([^\s=:#;\[\]{}()<>$][^=:#;\n{}()<>]{0,100}?)[ \t]*[=:](?![:=])")
_ENVIRONMENT = re.compile(rb"[ \t]*(#?)[ \t]?(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*=")
# At least this share of the lines of a file without sections are assignments, or it is written in something else.
_LEAST_SHARE = 0.6
_MAX_LINE = 1000


def read_toml(source: bytes, _inner: Inner) -> Extracted:
    """Return the tables and their keys, by their full dotted names."""
    lines = source.split(b"\n")
    entries: list[Entry] = []
    table: Entry | None = None
    owner = ""
    row = 0
    while row < len(lines):
        line = lines[row][:_MAX_LINE]
        if header := _TABLE.match(line):
            _close(table, lines, row)
            owner, name = _dotted(header[2], "")
            table = _entry("section", name, row, lines, owner)
            if header[1] == b"[[":
                table.name = _title(lines, row + 1) or name
            entries.append(table)
            owner = f"{owner}.{name}" if owner else name
        elif assigned := _ASSIGNED.match(line):
            end = _value_end(lines, row, assigned.end())
            above, name = _dotted(assigned[1], owner)
            entry = _entry("key", name, row, lines, above)
            entry.end_row = end
            entries.append(entry)
            entries += cuts_by_indentation(lines, row, end)
            row = end
        row += 1
    _close(table, lines, len(lines))
    return outline(lines, entries)


def _dotted(path: bytes, owner: str) -> tuple[str, str]:
    """Return the owner and the name of a dotted key below `owner`."""
    segments = [segment.decode("utf-8", "replace").strip("\"'") for segment in _SEGMENT.findall(path)]
    if not segments:
        return owner, ""
    return ".".join([*([owner] if owner else []), *segments[:-1]]), segments[-1]


def _title(lines: Sequence[bytes], row: int) -> str:
    """Return what an element of an array of tables calls itself."""
    for line in lines[row : row + 10]:
        if line.lstrip()[:1] == b"[":
            break
        if found := _TITLE.match(line):
            return found[1].decode("utf-8", "replace")
    return ""


def _value_end(lines: Sequence[bytes], row: int, at: int) -> int:
    """Return the last row of the value that begins at byte `at` of a row."""
    value = lines[row][at:].strip()
    for quote in (b'"""', b"'''"):
        if value.startswith(quote):
            end = row if quote in value[3:] else row + 1
            while end < len(lines) - 1 and end > row and quote not in lines[end]:
                end += 1
            return min(end, len(lines) - 1)
    if value[:1] not in (b"[", b"{"):
        return row
    depth, end, text = 0, row, value
    while True:
        for token in _VALUE_TOKEN.finditer(text):
            first = token.group()[:1]
            depth += (first in b"[{") - (first in b"]}")
        if depth <= 0 or end + 1 >= len(lines):
            return end
        end += 1
        text = lines[end]


def read_ini(source: bytes, _inner: Inner) -> Extracted:
    """Return the sections and their keys; nothing of a file that is not made of assignments."""
    lines = source.split(b"\n")
    entries: list[Entry] = []
    section: Entry | None = None
    key: Entry | None = None
    indent = others = keys = 0
    for row, whole in enumerate(lines):
        line = whole[:_MAX_LINE]
        stripped = line.strip()
        if not stripped or stripped[:1] in (b"#", b";", b"!"):
            continue
        deeper = len(line) - len(line.lstrip()) > indent
        if key is not None and (lines[row - 1].rstrip(b"\r").endswith(b"\\") or (deeper and section is not None)):
            key.end_row = row
        elif header := _INI_SECTION.match(line):
            _close(section, lines, row)
            section, key = _entry("section", header[1].decode("utf-8", "replace").strip(), row, lines, None), None
            entries.append(section)
            indent = 0 if line[:1] == b"[" else indent
        elif assigned := _INI_KEY.match(line):
            keys += 1
            indent = len(assigned[1])
            key = _entry("key", assigned[2].decode("utf-8", "replace").strip("\"' \t"), row, lines, None)
            entries.append(key)
        else:
            others += section is None
            key = None
    _close(section, lines, len(lines))
    if keys < _LEAST_SHARE * (keys + others) or not entries:
        return Extracted()
    return outline(lines, entries)


def read_environment(source: bytes, _inner: Inner) -> Extracted:
    """Return the variables, those too that are only suggested in a comment (`# DEBUG=1`)."""
    lines = source.split(b"\n")
    entries: list[Entry] = []
    row = 0
    while row < len(lines):
        found = _ENVIRONMENT.match(lines[row][:_MAX_LINE])
        if found and (not found[1] or found[2].isupper()):
            entry = _entry("environment", found[2].decode(), row, lines, None)
            while entry.first_row < row and any(map(_suggests, lines[entry.first_row : row])):
                entry.first_row += 1
            entry.doc = comment_text(lines, entry.first_row, row)
            entry.signature = entry.signature.lstrip("# ")
            value = lines[row][found.end() :].strip()
            quote = value[:1]
            if quote in (b'"', b"'") and value.count(quote) == 1:
                end = next((r for r in range(row + 1, min(len(lines), row + 200)) if quote in lines[r]), row)
                entry.end_row = row = end
            entries.append(entry)
        row += 1
    return outline(lines, entries)


def _suggests(line: bytes) -> bool:
    found = _ENVIRONMENT.match(line[:_MAX_LINE])
    return found is not None and found[2].isupper()


def _entry(kind: str, name: str, row: int, lines: Sequence[bytes], owner: str | None) -> Entry:
    first = comment_above(lines, row, (b"#", b";", b"!"))
    return Entry(kind, name, row, row, first, line_text(lines[row]), comment_text(lines, first, row), owner)


def _close(section: Entry | None, lines: Sequence[bytes], row: int) -> None:
    """Let a section end above `row`, without the blank lines and comments there."""
    if section is not None:
        end = row - 1
        while end > section.row and lines[end].strip()[:1] in (b"", b"#", b";"):
            end -= 1
        section.end_row = end
