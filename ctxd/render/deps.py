"""What files import -> text and JSON. Pure; runs on the reader threads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from ctxd.render import escape
from ctxd.render.reply import Listing, closing, reply
from ctxd.render.style import Style, count, cropped

_NAMES = 80


class Dependency(msgspec.Struct, frozen=True, kw_only=True):
    """One import. `file` is the file it means ("" = outside of the repo), a folder for a package; with `--reverse`
    the file that imports. `again`: the file is opened elsewhere in the answer.
    """

    file: str
    kind: Literal["file", "package", "outside"]
    importer: str
    line: int
    module: str
    names: tuple[str, ...]
    depth: int
    also: tuple[str, ...] = ()
    again: bool = False


class Dependencies(Listing, frozen=True, kw_only=True):
    """One answer before it is rendered."""

    path: str
    reverse: bool
    rows: tuple[Dependency, ...]
    inside: int
    outside: int
    filters: str


class DependencyResult(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `results`; the lines are those of the import in `importer`."""

    file: str
    line_start: int
    line_end: int
    type: str
    name: str
    importer: str
    names: tuple[str, ...]
    depth: int
    also: tuple[str, ...]
    again: bool


def deps(answer: Dependencies, style: Style) -> str:
    """Return the imports as an indented tree, then how many lead where."""
    head = "is imported by" if answer.reverse else "imports"
    lines = [f"{style.bold(style.path(answer.path))} {head}"]
    lines += [_row(row, answer.reverse, style) for row in answer.rows]
    lines += [] if answer.rows else [f"  {_nothing(answer)}"]
    return "\n".join([*lines, "", style.dim(" · ".join(_footer(answer)))]) + "\n"


def deps_json(answer: Dependencies) -> str:
    """Return the same as JSON."""
    results = [
        DependencyResult(
            file=row.file,
            line_start=row.line,
            line_end=row.line,
            type=row.kind,
            name=row.module,
            importer=row.importer,
            names=row.names,
            depth=row.depth,
            also=row.also,
            again=row.again,
        )
        for row in answer.rows
    ]
    return reply(answer, results, query=answer.path, hint=None if answer.rows else _nothing(answer))


def _row(row: Dependency, reverse: bool, style: Style) -> str:
    indent = "  " * row.depth
    names = cropped(", ".join(row.names), _NAMES) if row.names else ""
    asked = f"{escape.line(row.module)}{f' ({names})' if names else ''}"
    again = style.dim("  · as above") if row.again else ""
    if reverse:
        return f"{indent}{style.path(row.file)}:{row.line}  {asked}{again}"
    where = ", ".join(map(style.path, [row.file, *row.also])) if row.file else "outside"
    return f"{indent}{row.line}  {asked} → {where}{again}"


def _nothing(answer: Dependencies) -> str:
    left = f" that {escape.line(answer.filters)} leaves" if answer.filters else ""
    return f"no file{left}: no import in the index leads here" if answer.reverse else f"nothing{left}"


def _footer(answer: Dependencies) -> Iterator[str]:
    yield f"{count(answer.inside, 'import')} inside" + ("" if answer.reverse else f" · {answer.outside:,} outside")
    yield from closing(answer)
