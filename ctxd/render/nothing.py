"""Why nothing was found: what is indexed, what is not yet, what filters removed, which names are near.

Pure; runs on the reader threads. The exit code of such an answer is 1.
"""

from __future__ import annotations

import msgspec

from ctxd.model import Freshness
from ctxd.render import escape, text, titles
from ctxd.render.style import Style, count
from ctxd.state import LanguageCount, Near

_SHOWN = 300  # characters of the question that are repeated


class Nothing(msgspec.Struct, frozen=True, kw_only=True):
    """A question without a result. `removed` counts results that only `filters` (as typed) kept out.

    `unparsed` counts files that are indexed without definitions because parsing them failed; `ignored` and `ignored_by`
    explain an index without files.
    """

    query: str
    languages: tuple[LanguageCount, ...]
    skipped: int = 0
    unparsed: int = 0
    freshness: Freshness = Freshness(fresh=True)
    nearest: tuple[Near, ...] = ()
    removed: int = 0
    filters: str = ""
    ignored: int = 0
    ignored_by: str = ""


def explained(nothing: Nothing, style: Style) -> str:
    """Return the text for people."""
    asked = escape.line(nothing.query)
    asked = asked if len(asked) <= _SHOWN else asked[: _SHOWN - 1] + "…"
    lines = [(f'nothing found for "{asked}"' if asked else "nothing found") + f" {_where(nothing)}"]
    if nothing.removed:
        lines.append(_removed(nothing))
    if not nothing.freshness.fresh:
        lines.append(text.freshness(nothing.freshness))
    if nothing.nearest:
        lines.append(_nearest(nothing.nearest, style))
    return "\n".join(lines) + "\n"


def hint(nothing: Nothing) -> str:
    """Return the same for the `hint` of a JSON answer: what to do next, "" when there is nothing to say."""
    files = sum(one.files for one in nothing.languages)
    parts = [
        "" if files else empty(nothing.ignored, nothing.ignored_by),
        _removed(nothing) if nothing.removed else "",
        _nearest(nothing.nearest, Style()) if nothing.nearest else "",
    ]
    return "; ".join(filter(None, parts))


def empty(ignored: int, ignored_by: str) -> str:
    """Return why an index has no files: `0 files indexed, 12 ignored by .gitignore:1`."""
    if not ignored:
        return "0 files indexed"
    by = f" by {escape.line(ignored_by)}" if ignored_by else ""
    return f"0 files indexed, {ignored:,} ignored{by}"


def _where(nothing: Nothing) -> str:
    files = sum(one.files for one in nothing.languages)
    left_out = [
        f"{nothing.skipped:,} skipped" if nothing.skipped else "",
        f"{nothing.unparsed:,} not parsed" if nothing.unparsed else "",
    ]
    skipped = f"{', '.join(filter(None, left_out))}: ctx status --skipped" if any(left_out) else ""
    if not files:
        said = empty(nothing.ignored, nothing.ignored_by)
        return f"({said}; {skipped})" if skipped else f"({said})"
    return f"in {count(files, 'file')} ({'; '.join(filter(None, [titles.listed(nothing.languages), skipped]))})"


def _removed(nothing: Nothing) -> str:
    return f"without {escape.line(nothing.filters)}: {count(nothing.removed, 'result')}"


def _nearest(nearest: tuple[Near, ...], style: Style) -> str:
    names = (f"{escape.line(one.name)} ({style.path(one.path)}:{one.line})" for one in nearest)
    return f"nearest names: {', '.join(names)}"
