"""Path patterns of a request (`--path`, `--exclude`) and name patterns of `symbols`. Pure; reader threads.

Patterns come from people: they go through RE2, whose time is in proportion to the text whatever the pattern.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import re2

from ctxprotocol.errors import TooLong, UsageFailed

# More than any person types; keeps a compiled pattern within what RE2 takes.
MAX_PATTERN = 1_000
MAX_PATTERNS = 100
# What RE2 may spend on one set; a hundred long patterns take a part of it.
_MEMORY = 64 << 20
_CLASS_SPECIAL = "\\[]^-&~"

Accept = Callable[[str], bool]


def paths(wanted: Sequence[str], unwanted: Sequence[str]) -> Accept | None:
    """Return a test for worktree-relative paths, None when it would accept all.

    As in ignore files: a pattern without `/` matches a file or folder of that name anywhere, with one it
    starts at the root; `*` stays in its folder, `**` does not; whatever matches a folder takes all below it.
    A path is accepted when one of `wanted` matches (or there is none) and none of `unwanted` does. Raises
    UsageFailed.
    """
    if not wanted and not unwanted:
        return None
    yes = _any(wanted) if wanted else None
    no = _any(unwanted) if unwanted else None
    return lambda path: (yes is None or yes(path)) and not (no is not None and no(path))


def names(pattern: str, *, folded: bool) -> Accept:
    """Return a test for whole names: `*` stands for any characters, `?` for one; all else for itself."""
    if len(pattern) > MAX_PATTERN:
        raise TooLong(f"a name pattern may have {MAX_PATTERN} characters, this one has {len(pattern)}")
    source = "".join(".*" if c == "*" else "." if c == "?" else re2.escape(c) for c in pattern)
    return _compiled([f"(?i){source}" if folded else source], pattern)


def _any(patterns: Sequence[str]) -> Accept:
    if len(patterns) > MAX_PATTERNS or any(len(one) > MAX_PATTERN for one in patterns):
        raise TooLong(f"at most {MAX_PATTERNS} path patterns of {MAX_PATTERN} characters")
    return _compiled([_path(one) for one in patterns], ", ".join(patterns))


def _compiled(sources: Sequence[str], shown: str) -> Accept:
    options = re2.Options()
    options.dot_nl = True
    options.log_errors = False
    options.max_mem = _MEMORY
    # A set says yes or no without building a match in Python: a fifth of the time of fullmatch, which is 6 us a path.
    patterns = re2.Set.FullMatchSet(options)
    try:
        for source in sources:
            patterns.Add(source)
        patterns.Compile()
    except re2.error as error:
        raise UsageFailed(f"not a pattern: {shown}") from error
    return lambda text: bool(patterns.Match(text))


def _path(glob: str) -> str:
    rooted = "/" in glob.rstrip("/")
    body = glob.removeprefix("./").strip("/")
    if not body:
        return ".*"
    return ("" if rooted else "(?:.*/)?") + _translated(body) + "(?:/.*)?"


def _translated(glob: str) -> str:
    out: list[str] = []
    i, braces = 0, 0
    while i < len(glob):
        c = glob[i]
        i += 1
        if glob.startswith("**/", i - 1) and (i == 1 or glob[i - 2] == "/"):
            out.append("(?:.*/)?")
            i += 2
        elif glob.startswith("**", i - 1):
            out.append(".*")
            i += 1
        elif c == "*":
            out.append("[^/]*")
        elif c == "?":
            out.append("[^/]")
        elif c == "[" and (end := glob.find("]", i + 1 + (glob[i : i + 1] in ("!", "^")))) > 0:
            out.append(_class(glob[i:end]))
            i = end + 1
        elif c == "{" and glob.find("}", i) > 0:
            out.append("(?:")
            braces += 1
        elif c == "}" and braces:
            out.append(")")
            braces -= 1
        elif c == "," and braces:
            out.append("|")
        elif c == "\\" and i < len(glob):
            out.append(re2.escape(glob[i]))
            i += 1
        else:
            out.append(re2.escape(c))
    return "".join(out) + ")" * braces


def _class(inside: str) -> str:
    negated = inside[:1] in ("!", "^")
    body = inside[1:] if negated else inside
    kept = "".join(c if c == "-" or c not in _CLASS_SPECIAL else "\\" + c for c in body)
    return f"[^/{kept}]" if negated else f"[{kept}]"


def literal(pattern: str) -> str:
    """Return the longest piece that every name must hold which a name pattern matches, "" when there is none."""
    return max(re.split(r"[*?]", pattern), key=len)
