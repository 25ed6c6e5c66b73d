"""The patterns of one ignore file, held against single entries. Scan thread; reads the file, nothing else.

Patterns are a repository's, not ours: they are matched by RE2, all of a file at once, in time proportional to the
path. An entry is held against the patterns by itself: whoever walks the tree knows what its directory came to.
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

import re2
from pathspec.patterns.gitignore.base import GitIgnorePatternError
from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

from ctxd.scan.smallfile import read_regular

# git reads up to 100 MB; no ignore file written by people is larger than this.
MAX_BYTES = 1_000_000
# RE2's automaton for all patterns of a file; with less it gives up on long files and matches nothing.
_MAX_MEM = 64 << 20
_EITHER = "(?:(?P<ps_d>/)|$)"
_FOLDER = "(?P<ps_d>/)"


class Patterns:
    """The patterns of the ignore file `source`, which lies in the directory `base` ("" or "a/b/")."""

    __slots__ = ("_base", "_files", "_includes", "_lines", "_reaching", "_set", "negates", "source")

    def __init__(self, lines: Sequence[str], base: str = "", source: str = "") -> None:
        self._base = len(base)
        self.source = source
        options = re2.Options()
        options.dot_nl = True
        options.log_errors = False
        options.never_capture = True
        options.max_mem = _MAX_MEM
        self._set = re2.Set.SearchSet(options)
        self._includes: list[bool] = []
        self._lines: list[int] = []
        self._reaching: list[list[str]] = []
        self._files = False
        for number, line in enumerate(lines, 1):
            self._add(line, number)
        self.negates = not all(self._includes)
        if self._includes:
            self._set.Compile()

    def verdict(self, path: str) -> bool | None:
        """Return True when the last pattern that matches ignores the entry, False when it takes it back, else None.

        `path` is relative to the worktree; that of a directory ends in `/`.
        """
        at = self._last(path)
        return None if at < 0 else self._includes[at]

    def rule(self, path: str) -> str:
        """Return the place of the pattern that decided, as `file:line`."""
        at = self._last(path)
        if not self.source:
            return "index.ignore"
        return self.source if at < 0 else f"{self.source}:{self._lines[at]}"

    def leads(self, directory: str) -> bool:
        """Say whether a pattern with `!` names something below a directory that is itself ignored."""
        parts = directory[self._base :].split("/")
        for wanted in self._reaching:
            for part, pattern in zip(parts, wanted, strict=False):
                if pattern == "**":
                    return True
                if not fnmatchcase(part, pattern):
                    break
            else:
                if len(parts) < len(wanted):
                    return True
        return False

    def _last(self, path: str) -> int:
        if not self._includes or not (self._files or path.endswith("/")):
            return -1
        found = self._set.Match(path[self._base :])
        return max(found) if found else -1

    def _add(self, line: str, number: int) -> None:
        try:
            regex, include = GitIgnoreSpecPattern.pattern_to_regex(line)
        except GitIgnorePatternError:
            return
        if regex is None or include is None:
            return
        regex = _own(regex, line)
        try:
            self._set.Add(regex)
        except re2.error:
            return
        self._includes.append(include)
        self._lines.append(number)
        self._files = self._files or not regex.endswith("/$")
        anchored = line.strip().lstrip("!")
        if not include and "/" in anchored.rstrip("/"):
            self._reaching.append(anchored.strip("/").split("/"))


def _own(regex: str, line: str) -> str:
    """Return the expression that matches an entry itself, not what lies below an entry that matches."""
    if line.rstrip().endswith("/**/") and regex.endswith(_FOLDER):
        return regex.removesuffix(_FOLDER) + "/.+/$"
    if regex.endswith(_EITHER):
        return regex.removesuffix(_EITHER) + "/?$"
    if regex.endswith(_FOLDER):
        return regex.removesuffix(_FOLDER) + "/$"
    return regex + "." if regex.endswith("/") else regex


def verdict(layers: Sequence[Patterns], path: str) -> bool | None:
    """Return what the innermost ignore file that has something to say about the entry says; outermost first."""
    for patterns in reversed(layers):
        said = patterns.verdict(path)
        if said is not None:
            return said
    return None


def rule(layers: Sequence[Patterns], path: str) -> str:
    """Return the place of the pattern that decided `verdict`."""
    for patterns in reversed(layers):
        if patterns.verdict(path) is not None:
            return patterns.rule(path)
    return ""


def read(path: str, base: str, source: str) -> Patterns | None:
    """Read an ignore file; None when there is none. Links, directories, FIFOs and files over MAX_BYTES are none."""
    data = read_regular(path, MAX_BYTES, follow=False)
    if data is None:
        return None
    text = data.decode("utf-8-sig", "replace")
    return Patterns([line.removesuffix("\r") for line in text.split("\n")], base, source)
