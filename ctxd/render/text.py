"""Found -> text for people and agents: results, their code, a footer. Pure; runs on the reader threads.

A line that begins in column 0 is ours; whatever comes from a file is behind a number or a space, on one line
with its hidden characters written out, and a path that could be read as anything else is in quotes. So no
content of a file and no file name can pose as a result. `search.pack` counts the tokens of exactly this text.
"""

from __future__ import annotations

from ctxd.model import Found, Freshness, Hit, Stats
from ctxd.render import escape
from ctxd.render.style import Style, count, cropped, milliseconds, money

# Longest summary where no terminal says how wide it is: the first sentence of nearly any doc comment fits.
_SUMMARY = 160
# Longest line of a language model.
_SAID = 160


def found(answer: Found, style: Style) -> str:
    """Return the text of an answer that has results: rows in their order, a blank line, the footer."""
    rows = [row(hit, style) for hit in answer.hits]
    gap = "\n" if style.width and any(hit.code is not None for hit in answer.hits) else ""
    return gap.join(rows) + "\n" + style.dim(footer(answer, style)) + "\n"


def notes(answer: Found) -> str:
    """Return warnings and hint as lines for stderr, "" when there are none."""
    lines = [f"note: {escape.line(text)}\n" for text in answer.warnings]
    return "".join([*lines, hint(answer.hint)])


def hint(said: str) -> str:
    """Return a hint as a line for stderr, "" for none."""
    return f"hint: {escape.line(said)}\n" if said else ""


def row(hit: Hit, style: Style) -> str:
    """Return one result, ending in a line break."""
    if hit.code is None and style.inline_stubs:
        return _stub(hit, style) + _said(hit) + _explained(hit, style)
    head = f"{style.path(hit.file)}  {span(hit)}"
    tail = " ".join(filter(None, [escape.line(hit.type), title(hit)]))
    if style.width and hit.code is not None:
        text = _ruled(head, tail, style)
    else:
        text = f"{style.bold(head)}  {tail}" if tail else style.bold(head)
    lines = [text + _unverified(hit)]
    summary = hit.why or hit.summary or hit.signature
    if hit.said:
        lines.append(_said(hit).rstrip("\n"))
    elif summary and (hit.code is None or hit.why):
        lines.append("  " + cropped(summary, style.width - 2 if style.width > 20 else _SUMMARY))
    text = "\n".join(lines) + "\n" + _explained(hit, style)
    return text if hit.code is None else text + code(hit, style)


def span(hit: Hit) -> str:
    """Return the lines of a hit: `L8-L45`, `L8` when it is one line."""
    return f"L{hit.line_start}" if hit.line_start == hit.line_end else f"L{hit.line_start}-L{hit.line_end}"


def title(hit: Hit) -> str:
    """Return the name that a person knows a hit by, escaped; "" when it has none."""
    return escape.line(hit.qualified_name or hit.name)


def code(hit: Hit, style: Style) -> str:
    """Return a hit's code, each line behind its number, or behind a space where numbers say nothing new."""
    lines = escape.lines(hit.code or "")
    if not (style.numbered or hit.lines):
        while lines and not lines[-1].strip():  # at the end it says nothing
            lines.pop()
        return "".join(f" {line}\n" if line else "\n" for line in lines)
    numbers = hit.lines or range(hit.line_start, hit.line_start + len(lines))
    wide = len(str(max(numbers, default=0)))
    rows, last = [], -1
    for number, line in zip(numbers, lines, strict=False):
        # Where lines are left out a number says where it goes on: one before each line costs a fifth of the budget.
        said = style.numbered or number != last + 1
        shown = f"{number if said else '':{'>' if style.width else '<'}{wide}}"
        rows.append(f"{style.dim(shown)}  {line}".rstrip(" ") + "\n")
        last = number
    return "".join(rows)


def footer(answer: Found, style: Style) -> str:
    """Return the closing line: results, where (to a caller outside), left out, time, freshness, tokens."""
    stats = answer.stats
    here = "" if style.prefix is not None else f" in {escape.path(escape.root(answer.root))}"
    parts = [
        count(len(answer.hits), "result") + here,
        f"{stats.omitted:,} left out" if stats.omitted else "",
        f"{milliseconds(stats.search_ms)} search",
        freshness(answer.freshness),
        count(stats.tokens, "token") if stats.tokens else "",
        steering(stats),
    ]
    return " · ".join(filter(None, parts))


def steering(stats: Stats) -> str:
    """Return which model had a say, for how much, and for how long; "" where none had."""
    if not stats.steered_by:
        return ""
    cost = "price unknown" if stats.cost_usd is None else money(stats.cost_usd)
    dropped = f"{stats.dropped} dropped" if stats.dropped else ""
    said = [f"steered by {escape.line(stats.steered_by)}", cost, f"{stats.steering_ms / 1e3:.1f} s", dropped]
    return ", ".join(filter(None, said))


def freshness(state: Freshness) -> str:
    """Return `fresh`, or that it is not, why, and how many files are pending."""
    if state.fresh:
        return "fresh"
    pending = f"{count(state.pending, 'file')} pending" if state.pending else ""
    said = ", ".join(filter(None, [escape.line(state.reason), pending]))
    return f"not fresh: {said}" if said else "not fresh"


def _stub(hit: Hit, style: Style) -> str:
    lines = f"{hit.line_start}-{hit.line_end}" if hit.line_end != hit.line_start else f"{hit.line_start}"
    place = style.bold(f"{style.path(hit.file)}:{lines}")
    said = ", ".join(filter(None, [escape.line(hit.why), "sent before" if hit.sent_before else ""]))
    why = f" ({said})" if said else ""
    name = title(hit)
    return (f"{name} — {place}" if name else place) + why + _unverified(hit) + "\n"


def _said(hit: Hit) -> str:
    """Return what a model says of a hit: in column 0, where nothing from a file can stand, behind a mark of ours."""
    return f"llm: {cropped(hit.said, _SAID)}\n" if hit.said else ""


def _ruled(head: str, tail: str, style: Style) -> str:
    room = style.width - len(head) - len(tail) - 6
    rule = style.dim("─" * max(room, 2))
    return (
        f"{style.dim('──')} {style.bold(head)}  {tail} {rule}"
        if tail
        else f"{style.dim('──')} {style.bold(head)} {rule}"
    )


def _unverified(hit: Hit) -> str:
    if hit.silent:
        return "  (its file system does not answer)"
    return "" if hit.verified else "  (changed since it was indexed)"


def _explained(hit: Hit, style: Style) -> str:
    if not style.explain:
        return ""
    parts = ", ".join(f"{escape.line(name)} {_figure(value)}" for name, value in hit.parts)
    via = f" · via {', '.join(hit.via)}" if hit.via else ""
    return f"  score {_figure(hit.score)}{f' = {parts}' if parts else ''}{via}\n"


def _figure(value: float) -> str:
    return f"{value:.4g}"
