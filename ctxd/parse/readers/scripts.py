"""Script blocks of HTML, Vue, Svelte and Astro: definitions inside them, and the components that markup uses. Pure.

The scripts are read as one program that has nothing on the lines around them, so that its lines are the file's.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

import msgspec

from ctxd.model import Symbol
from ctxd.parse.extracted import Extracted, ExtractFailed, Inner
from ctxd.parse.languages import named
from ctxd.parse.readers.outline import Mention, cuts_by_indentation, references_of
from ctxd.parse.structure import Block, nest
from ctxd.parse.symbols import line_starts

# Bounded, since a file of unclosed tags would cost its length squared.
_TAG = re.compile(
    rb"<!--.*?(?:-->|\Z)"
    rb"|<script(?P<attributes>(?:\s(?:[^>\"']|\"[^\"]{0,400}\"|'[^']{0,400}'){0,400})?)>"
    rb"(?P<code>.*?)(?P<close></script\s*>|\Z)",
    re.I | re.S,
)
_FRONT_MATTER = re.compile(rb"---[ \t]*\r?\n(?P<code>.*?\n)(?P<close>---[ \t]*\r?\n)", re.S)
_ATTRIBUTE = re.compile(rb"\b(lang|type)\s*=\s*[\"']?([\w/+.-]+)", re.I)
_TYPED = frozenset({b"ts", b"typescript", b"text/typescript", b"application/typescript"})
_JSX = frozenset({b"jsx", b"tsx", b"text/babel", b"text/jsx"})
_PLAIN = frozenset(
    {b"js", b"javascript", b"module", b"text/javascript", b"application/javascript", b"text/ecmascript", b"text/jsx"}
)
# Blank lines between a script's tag and its first statement.
_MAX_PAUSE = 10
_CLOSING = re.compile(rb"\s*</script\s*>\s*$", re.I)
# What Svelte writes for a value that follows others.
_REACTIVE = re.compile(rb"^([ \t]*)\$:[ \t]+(?=[A-Za-z_$][\w$]*[ \t]*=[^=])", re.M)
# The name that a component gives itself.
_NAME = re.compile(rb"(?:export\s+default\s+(?:defineComponent\s*\(\s*)?|Vue\.extend\s*\(\s*|defineOptions\s*\(\s*)"
                   rb"\{\s*name\s*:\s*[\"']([A-Za-z][\w.-]*)[\"']")  # fmt: skip
_COMPONENT = re.compile(rb"<([A-Z][\w]*)(?:\.(\w+))?")
_HANDLER = re.compile(
    rb"(?:@[\w.:-]+|v-on:[\w.:-]+)=\"([A-Za-z_$][\w$]*)(?=[\"(])|\bon:?\w+(?:\|\w+)*=\{([A-Za-z_$][\w$]*)\}"
)


class _Script(msgspec.Struct, frozen=True):
    """A script: its language and the bytes of its code; its tags are outside."""

    language: str
    start: int
    end: int
    outer_start: int


def read(source: bytes, inner: Inner) -> Extracted:
    """Return what the scripts define, use and import, and what the markup around them uses."""
    lines = source.split(b"\n")
    starts = line_starts(lines)
    scripts = list(_scripts(source))
    found = _program(source, scripts, starts, inner)
    is_component = not source[:200].lstrip().lower().startswith((b"<!doctype", b"<html"))
    if is_component and (name := _NAME.search(source)):
        found = _renamed(found, name[1].decode(), source.count(b"\n", 0, name.start(1)) + 1)
    regions = list(_regions(lines, scripts, starts))
    mentions: list[Mention] = []
    blocks = _with_tags(found.blocks, scripts, lines, starts)
    for first, last in regions:
        blocks.append(Block("statement", -1, first + 1, last + 1, 0))
        blocks += [
            Block("statement", -1, cut.row + 1, cut.end_row + 1, 0) for cut in cuts_by_indentation(lines, first, last)
        ]
        if is_component:
            for row in range(first, last + 1):
                _mention(lines[row], row, mentions)
    blocks.sort(key=lambda block: (block.line_start, -block.line_end, block.kind == "statement"))
    used = (*found.references, *references_of(found.symbols, mentions))
    return Extracted(
        symbols=found.symbols,
        references=tuple(sorted(used, key=lambda use: use.line)),
        imports=found.imports,
        blocks=nest(blocks, found.symbols),
        note=found.note,
    )


def _scripts(source: bytes) -> Iterator[_Script]:
    """Yield the scripts in a language that is read; others are markup."""
    if front := _FRONT_MATTER.match(source):
        yield _Script("typescript", front.start("code"), front.end("code"), 0)
    for tag in _TAG.finditer(source):
        if tag["code"] is None or not tag["code"].strip():
            continue
        kinds = {value.lower() for _, value in _ATTRIBUTE.findall(tag["attributes"] or b"")}
        if kinds & _JSX:
            language = "tsx"
        elif kinds & _TYPED:
            language = "typescript"
        elif kinds <= _PLAIN:
            language = "javascript"
        else:
            continue
        yield _Script(language, tag.start("code"), tag.end("code"), tag.start())


def _program(source: bytes, scripts: Sequence[_Script], starts: Sequence[int], inner: Inner) -> Extracted:
    """Return the facts of all scripts, read together: those of one component see each other's names."""
    languages = {script.language for script in scripts}
    if not languages:
        return Extracted()
    language = next(name for name in ("tsx", "typescript", "javascript") if name in languages)
    text: list[bytes] = []
    row = 0
    for script in scripts:
        first = bisect_right(starts, script.start) - 1
        text.append(b"\n" * (first - row))
        text.append(_REACTIVE.sub(rb"\1let ", source[script.start : script.end]))
        row = first + source.count(b"\n", script.start, script.end)
    try:
        return inner(named(language), b"".join(text))
    except ExtractFailed:
        return Extracted()


def _with_tags(
    blocks: Sequence[Block], scripts: Sequence[_Script], lines: Sequence[bytes], starts: Sequence[int]
) -> list[Block]:
    """Return the blocks, those that follow a script's tag directly with the tag: it is no chunk by itself."""
    tags = [bisect_right(starts, script.outer_start) for script in scripts]
    made: list[Block] = []
    for block in blocks:
        start = block.line_start
        place = bisect_left(tags, start) - 1
        if place >= 0 and not block.depth and block.kind in ("imports", "statement"):
            tag = tags[place]
            if start - tag < _MAX_PAUSE and not b"".join(lines[tag : start - 1]).strip():
                start = tag
        made.append(Block(block.kind, block.symbol, start, block.line_end, block.depth))
    return made


def _renamed(found: Extracted, name: str, line: int) -> Extracted:
    """Call the default export by the name that the component gives itself."""

    def rename(path: str) -> str:
        return name + path[len("default") :] if path == "default" or path.startswith("default.") else path

    symbols: list[Symbol] = []
    for symbol in found.symbols:
        is_it = symbol.qualified_name == "default" and symbol.line_start <= line <= symbol.line_end
        symbols.append(
            msgspec.structs.replace(
                symbol,
                name=name if is_it else symbol.name,
                kind="class" if is_it else symbol.kind,
                exported=symbol.exported or is_it,
                qualified_name=rename(symbol.qualified_name),
                parent=rename(symbol.parent),
            )
        )
    return msgspec.structs.replace(found, symbols=tuple(symbols))


def _regions(lines: Sequence[bytes], scripts: Sequence[_Script], starts: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last row of what lies between the scripts, their opening tags left out, blank ends too."""
    at = 0
    for script in [*scripts, None]:
        stop = len(lines) if script is None else bisect_right(starts, script.outer_start) - 1
        first, last = at, stop - 1
        while first <= last and not lines[first].strip():
            first += 1
        while last > first and not lines[last].strip():
            last -= 1
        # A closing tag alone goes with what follows it.
        if first < last or (first == last and not _CLOSING.match(lines[first])):
            yield first, last
        if script is not None:
            at = max(bisect_right(starts, script.end) - 1, stop)


def _mention(line: bytes, row: int, mentions: list[Mention]) -> None:
    """Note the components and handlers that a line of markup names."""
    if b"<" in line:
        for name, member in _COMPONENT.findall(line[:2000]):
            mentions.append(Mention((member or name).decode(), "call", row, name.decode() if member else ""))
    if b"=" in line:
        for one, other in _HANDLER.findall(line[:2000]):
            mentions.append(Mention((one or other).decode(), "call", row))
