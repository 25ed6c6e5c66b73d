"""Lists -> text and JSON: definitions, the outline of a file, paths. Pure; runs on the reader threads."""

from __future__ import annotations

import msgspec

from ctxd.model import Found, Hit
from ctxd.render import escape, text
from ctxd.render.reply import Listing, reply
from ctxd.render.style import Style, count, cropped
from ctxd.state import FileRow

_SIGNATURE = 160


class Listed(Listing, frozen=True, kw_only=True):
    """The answer of `ctx files` before it is rendered."""

    rows: tuple[FileRow, ...]


class FileResult(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `results` of `ctx files`."""

    file: str
    language: str
    content: str
    size_bytes: int
    lines: int


def symbols(answer: Found, style: Style) -> str:
    """Return definitions, one a line: place, kind, name, signature; then the footer."""
    rows = []
    for hit in answer.hits:
        place = style.bold(f"{style.path(hit.file)}  {text.span(hit)}")
        signature = cropped(hit.signature, _SIGNATURE)
        rows.append("  ".join(filter(None, [place, f"{escape.line(hit.type)} {text.title(hit)}", signature])))
    return "\n".join([*rows, "", style.dim(text.footer(answer, style))]) + "\n"


def outline(answer: Found, style: Style) -> str:
    """Return the definitions of one file as an indented tree, its path above, the footer below."""
    rows = [style.bold(style.path(answer.query))]
    open_spans: list[int] = []
    for hit in answer.hits:
        while open_spans and hit.line_start > open_spans[-1]:
            open_spans.pop()
        rows.append("  " * len(open_spans) + f"{text.span(hit)}  {_declared(hit)}")
        open_spans.append(hit.line_end)
    if not answer.hits:
        rows.append(f"  {answer.hint}" if answer.hint else "  no definitions")
    return "\n".join([*rows, "", style.dim(text.footer(answer, style))]) + "\n"


def files(answer: Listed, style: Style) -> tuple[str, str]:
    """Return paths, one a line, for stdout, and what there is to note for stderr.

    A program gets nothing but paths on stdout; a terminal gets the footer there.
    """
    paths = "".join(f"{style.path(row.path)}\n" for row in answer.rows)
    left_out = f"{answer.stats.omitted:,} left out (--limit)" if answer.stats.omitted else ""
    stale = "" if answer.freshness.fresh else text.freshness(answer.freshness)
    if style.width:
        parts = [count(len(answer.rows), "file"), left_out, stale or "fresh"]
        return f"{paths}\n{style.dim(' · '.join(filter(None, parts)))}\n", ""
    return paths, "".join(f"note: {part}\n" for part in (left_out, stale) if part)


def files_json(answer: Listed) -> str:
    """Return the same as JSON."""
    results = [
        FileResult(
            file=row.path,
            language=row.language,
            content=row.content,
            size_bytes=row.size_bytes,
            lines=row.line_count,
        )
        for row in answer.rows
    ]
    return reply(answer, results)


def _declared(hit: Hit) -> str:
    return cropped(hit.signature, _SIGNATURE) or f"{escape.line(hit.type)} {escape.line(hit.name)}"
