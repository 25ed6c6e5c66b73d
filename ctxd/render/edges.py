"""References with what they mean -> text and JSON. Pure; runs on the reader threads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Literal

import msgspec

from ctxd.render import escape, json
from ctxd.render.reply import Listing, closing, reply
from ctxd.render.style import Style, count, cropped

_CODE = 120
_TARGETS = 5


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """A definition: its span, the line of the definition itself, how it is called."""

    file: str
    line_start: int
    line_end: int
    line: int
    name: str
    qualified_name: str
    kind: str
    language: str


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """One reference. `caller` is the definition around it, `callee` what it means where that is sure.

    `outside` is the module that it leads to: one of the repo, by its path, when `in_repo`.
    """

    file: str
    line: int
    name: str
    receiver: str
    kind: str
    code: str
    caller: Place | None
    callee: Place | None
    confidence: Literal["sure", "ambiguous", "unresolved"]
    rule: str
    candidates: int = 0
    outside: str = ""
    in_repo: bool = False


class Counted(msgspec.Struct, frozen=True):
    """How many references are how sure; `elsewhere` mean something else of that name."""

    sure: int
    ambiguous: int
    unresolved: int
    elsewhere: int = 0


class Edges(Listing, frozen=True, kw_only=True):
    """One answer before it is rendered. `unseen` references were too many to look at, `removed` filters kept out."""

    verb: Literal["callers", "callees"]
    query: str
    targets: tuple[Place, ...]
    rows: tuple[Edge, ...]
    counted: Counted
    unseen: int
    removed: int
    filters: str


class EdgeResult(msgspec.Struct, frozen=True, kw_only=True):
    """One row of `results`. Span, name and type are those of the caller (`callers`) or of the callee (`callees`)."""

    file: str
    line_start: int
    line_end: int
    type: str
    name: str
    qualified_name: str
    line: int
    kind: str
    confidence: str
    rule: str
    candidates: int
    code: str
    receiver: str
    reference: str
    caller: str
    caller_file: str
    callee: str
    callee_file: str
    callee_line: int
    module: str | msgspec.UnsetType = msgspec.UNSET
    uri: str | msgspec.UnsetType = msgspec.UNSET


def callers(answer: Edges, style: Style) -> str:
    """Return the definition, then its references by file, surest first, then how many there are of each."""
    lines = [*_heads(answer, style)]
    several = len({row.callee.qualified_name for row in answer.rows if row.callee is not None}) > 1
    for confidence, rows in groupby(answer.rows, lambda row: row.confidence):
        lines += ["", *([] if confidence == "sure" else [confidence])]
        for file, group in groupby(rows, lambda row: row.file):
            lines.append(style.bold(style.path(file)))
            lines += [_caller(row, style, several) for row in group]
    return "\n".join([*lines, "", *_closing(answer, style)]) + "\n"


def callees(answer: Edges, style: Style) -> str:
    """Return the definition, then what it refers to by line with its place, what is unresolved last."""
    lines = [*_heads(answer, style)]
    for resolved, rows in groupby(answer.rows, lambda row: row.confidence != "unresolved"):
        lines += ["", *([] if resolved else ["unresolved"])]
        for _, group in groupby(rows, lambda row: row.file if len(answer.targets) > 1 else ""):
            members = list(group)
            if len({row.file for row in answer.rows}) > 1:
                lines.append(style.bold(style.path(members[0].file)))
            lines += [_callee(row, style) for row in members]
    return "\n".join([*lines, "", *_closing(answer, style)]) + "\n"


def edges_json(answer: Edges) -> str:
    """Return the same as JSON."""
    return reply(
        answer,
        [_result(row, answer.verb) for row in answer.rows],
        query=answer.query,
        targets=answer.targets,
        counts=answer.counted,
        not_looked_at=answer.unseen,
        hint="; ".join(_said(answer)) or None,
    )


def _heads(answer: Edges, style: Style) -> Iterator[str]:
    for one in answer.targets[:_TARGETS]:
        lines = f"L{one.line_start}-L{one.line_end}" if one.line_end != one.line_start else f"L{one.line_start}"
        where = style.bold(f"{style.path(one.file)}  {lines}")
        yield f"{where}  {escape.line(one.kind)} {escape.line(one.qualified_name)}"
    if len(answer.targets) > _TARGETS:
        yield f"and {count(len(answer.targets) - _TARGETS, 'definition')} more of that name"
    if not answer.targets:
        yield f"{escape.line(answer.query)} is not defined here"


def _caller(row: Edge, style: Style, several: bool) -> str:
    inside = escape.line(row.caller.qualified_name) if row.caller is not None else "-"
    means = f" → {escape.line(row.callee.qualified_name)}" if several and row.callee is not None else ""
    said = " · ".join(filter(None, [row.kind if row.kind != "call" else "", _why(row)]))
    return f"  {row.line}  {inside}  {cropped(row.code, _CODE)}{style.dim(f'{means}  · {said}')}"


def _callee(row: Edge, style: Style) -> str:
    joint = "" if not row.receiver else "." if row.receiver[-1:] not in ".:>" else ""
    name = cropped(f"{row.receiver}{joint}{row.name}", _CODE)
    kind = f"{row.kind} " if row.kind != "call" else ""
    means = ""
    if row.callee is not None:
        one = row.callee
        means = f" → {style.path(one.file)}:{one.line} {escape.line(one.kind)} {escape.line(one.qualified_name)}"
    elif row.in_repo:
        means = f" → {style.path(row.outside)}"
    return f"  {row.line}  {kind}{name}{means}{style.dim(f'  · {_why(row)}')}"


def _why(row: Edge) -> str:
    if row.confidence == "ambiguous":
        return f"{row.rule}: {count(row.candidates, 'candidate')}"
    if row.outside and not row.in_repo:
        return f"{row.rule}: {escape.line(row.outside)}"
    return row.rule


def _said(answer: Edges) -> Iterator[str]:
    """What the rows do not say: that none is sure, what was left aside."""
    counted = answer.counted
    if not answer.rows and answer.verb == "callers":
        yield "no reference of this name" + (" is left" if answer.removed or counted.elsewhere else " is in the index")
    elif not answer.rows:
        yield "it refers to nothing"
    if answer.unseen:
        yield f"{answer.unseen:,} more references of this name were too many to look at"
    if answer.removed:
        yield f"without {escape.line(answer.filters)}: {answer.removed:,} more"


def _closing(answer: Edges, style: Style) -> Iterable[str]:
    counted = answer.counted
    yield from _said(answer)
    parts = [
        f"{counted.sure:,} sure · {counted.ambiguous:,} ambiguous · {counted.unresolved:,} unresolved",
        f"{counted.elsewhere:,} of something else called that" if counted.elsewhere else "",
        *closing(answer),
    ]
    yield style.dim(" · ".join(filter(None, parts)))


def _result(row: Edge, verb: str) -> EdgeResult:
    shown = row.caller if verb == "callers" else row.callee
    file = row.file if verb == "callers" else shown.file if shown is not None else row.outside if row.in_repo else ""
    start, end = (shown.line_start, shown.line_end) if shown is not None else (row.line, row.line)
    if verb == "callees" and shown is None:
        start = end = 0
    return EdgeResult(
        file=file,
        line_start=start,
        line_end=end,
        type=shown.kind if shown is not None else "module" if verb == "callers" else "",
        name=shown.name if shown is not None else "" if verb == "callers" else row.name,
        qualified_name=shown.qualified_name if shown is not None else "",
        line=row.line,
        kind=row.kind,
        confidence=row.confidence,
        rule=row.rule,
        candidates=row.candidates,
        code=row.code,
        receiver=row.receiver,
        reference=row.name,
        caller=row.caller.qualified_name if row.caller is not None else "",
        caller_file=row.file,
        callee=row.callee.qualified_name if row.callee is not None else "",
        callee_file=row.callee.file if row.callee is not None else "",
        callee_line=row.callee.line if row.callee is not None else 0,
        module=row.outside or msgspec.UNSET,
        uri=json.uri(file, start, end) if file and start else msgspec.UNSET,
    )
