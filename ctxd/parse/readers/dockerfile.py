"""Dockerfiles: stages with their variables, cut at instructions. Pure.

A stage is called by its alias or, without one, by its image. A continued instruction may hold comments and blank
lines; a here-document ends at its word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ctxd.model import Import
from ctxd.parse.extracted import Extracted, Inner
from ctxd.parse.readers.outline import Entry, Mention, comment_above, comment_text, line_text, outline

_INSTRUCTION = re.compile(rb"[ \t]*(?:ONBUILD[ \t]+)?([A-Za-z]+)(?:[ \t]+(.*))?$")
_FROM = re.compile(rb"(?:--\S+[ \t]+)*(\S+)(?:[ \t]+as[ \t]+(\S+))?", re.I)
_STAGE_USED = re.compile(rb"(?:--from=|\bfrom=)([\w.-]+)")
_VARIABLE_SET = re.compile(
    rb"([A-Za-z_]\w*)(?:=(?:\"(?:[^\"\\]|\\.)*\"|'[^']*'|(?:[^\s\\\"']|\\.)*)*|(?=[ \t]|$))", re.S
)
_VARIABLE_READ = re.compile(rb"(?<!\\)\$\{?([A-Z][A-Z0-9_]+)\b")
_HEREDOC = re.compile(rb"<<-?[\"']?([A-Za-z_]\w*)[\"']?")
_ESCAPE = re.compile(rb"#[ \t]*escape[ \t]*=[ \t]*`")
_DIRECTIVE = re.compile(rb"#[ \t]*(?:syntax|escape|check)[ \t]*=")
_MAX_LINE = 4000
_MAX_HEREDOC_ROWS = 2000


def read(source: bytes, _inner: Inner) -> Extracted:
    """Return stages, variables (ENV, ARG) and which stages and images are built upon."""
    lines = source.split(b"\n")
    entries: list[Entry] = []
    mentions: list[Mention] = []
    imports: list[Import] = []
    stages: set[str] = set()
    stage: Entry | None = None
    for row, end, word, rest in _instructions(lines):
        first = comment_above(lines, row, (b"#",))
        if first == 0 and row and _DIRECTIVE.match(lines[0]):
            first = 1
        doc = comment_text(lines, first, row)
        entries.append(Entry("", "", row, end, first))
        if word == b"FROM" and (found := _FROM.match(rest)):
            image = found[1].decode("utf-8", "replace")
            name = found[2].decode("utf-8", "replace") if found[2] else image
            _close(stage, lines, first)
            stage = Entry("section", name, row, end, first, line_text(lines[row]), doc)
            entries.append(stage)
            if image in stages:
                mentions.append(Mention(image, "import", row))
            else:
                imports.append(Import(image, row + 1))
            stages.add(name)
        elif word in (b"ENV", b"ARG"):
            kind = "environment" if word == b"ENV" else "variable"
            for name, at in _set(rest, legacy=word == b"ENV"):
                place = row + at
                entries.append(
                    Entry(kind, name, place, place, first if place == row else -1, line_text(lines[place]), doc)
                )
        _mention(lines, row, end, stages, mentions)
    _close(stage, lines, len(lines))
    return outline(lines, entries, mentions, imports)


def _instructions(lines: Sequence[bytes]) -> Iterator[tuple[int, int, bytes, bytes]]:
    """Yield first and last row, the instruction in capitals and all that follows it, line breaks kept."""
    escape = b"`" if any(_ESCAPE.match(line) for line in lines[:5]) else b"\\"
    row = 0
    while row < len(lines):
        stripped = lines[row].strip()
        head = _INSTRUCTION.match(lines[row][:_MAX_LINE].rstrip()) if stripped[:1] != b"#" else None
        if head is None:
            row += 1
            continue
        end = row
        while end + 1 < len(lines) and _goes_on(lines[end], escape, is_first=end == row):
            end += 1
        rest = b"\n".join([head[2] or b"", *(line[:_MAX_LINE] for line in lines[row + 1 : end + 1])])
        word = head[1].upper()
        if word in (b"RUN", b"COPY", b"ADD"):
            for opened in _HEREDOC.findall(rest):
                closing = range(end + 1, min(len(lines), end + _MAX_HEREDOC_ROWS))
                end = next((r for r in closing if lines[r].strip() == opened), end)
        yield row, end, word, rest
        row = end + 1


def _goes_on(line: bytes, escape: bytes, *, is_first: bool) -> bool:
    stripped = line.strip()
    return stripped.endswith(escape) or (not is_first and (not stripped or stripped[:1] == b"#"))


def _set(rest: bytes, *, legacy: bool) -> Iterator[tuple[str, int]]:
    """Yield the names that ENV or ARG sets and on which line below the instruction each stands."""
    at = 0
    for line_number, line in enumerate(rest.split(b"\n")):
        text = line.strip().rstrip(b"\\`").strip()
        if text[:1] == b"#":
            continue
        for found in _VARIABLE_SET.finditer(text):
            before = text[: found.start()]
            if before and not before[-1:].isspace():
                continue
            at += 1
            if legacy and b"=" not in found.group():
                # `ENV NAME the rest is its value`.
                if at == 1:
                    yield found[1].decode(), line_number
                return
            yield found[1].decode(), line_number


def _mention(lines: Sequence[bytes], row: int, end: int, stages: set[str], mentions: list[Mention]) -> None:
    for at in range(row, end + 1):
        line = lines[at][:_MAX_LINE]
        if b"from=" in line:
            used = (name.decode() for name in _STAGE_USED.findall(line))
            mentions += [Mention(name, "import", at) for name in used if name in stages]
        if b"$" in line:
            mentions += [Mention(name.decode(), "constant", at) for name in _VARIABLE_READ.findall(line)]


def _close(stage: Entry | None, lines: Sequence[bytes], row: int) -> None:
    if stage is not None:
        stage.end_row = row - 1
        while stage.end_row > stage.row and not lines[stage.end_row].strip():
            stage.end_row -= 1
