"""Which names, in which watched directories outside the tree's own rules, are rules or HEAD. Pure.

A file is watched by its directory: tools replace files, and a watch on the file itself would go with the old one.
"""

from __future__ import annotations

import os

from ctxd.model import EventKind

# Ignore files of the tree itself.
RULE_NAMES = frozenset((".gitignore", ".ctxignore"))
_HEADS = ("HEAD", "packed-refs")
_REFS = "/refs/heads"


class Rulebook:
    """The watched rule files of one worktree."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, str]] = {}
        self._numbers: dict[int, str] = {}

    def enter(self, path: str) -> tuple[str, ...]:
        """Take in an absolute path, of a file or of a directory of refs; return the directories to watch for it."""
        directory, name = os.path.split(path)
        self._names.setdefault(directory, {})[name] = path
        if _REFS not in path or not os.path.isdir(path):
            return (directory,)
        self._names.setdefault(path, {})[""] = path
        return directory, path

    def watch(self, directory: str, number: int) -> None:
        """Take in the number under which a directory is watched."""
        self._numbers[number] = directory

    def holds(self, number: int) -> bool:
        """Say whether a watch is needed for rule files."""
        return number in self._numbers

    def events(self, number: int, name: str) -> list[tuple[str, EventKind]]:
        """Return what an event on `name` in a watched directory means: at most one rule file changed."""
        directory = self._numbers.get(number)
        if directory is None or not name or name.endswith(".lock"):
            return []
        names = self._names[directory]
        if name in names:
            return [(names[name], _kind(names[name]))]
        return [(os.path.join(directory, name), _kind(names[""]))] if "" in names else []

    def deleted(self, number: int) -> list[tuple[str, EventKind]]:
        """Forget a watch that the kernel gave up; all rule files in its directory may have changed."""
        directory = self._numbers.pop(number, None)
        return [] if directory is None else [(path, _kind(path)) for path in self._names[directory].values()]


def _kind(path: str) -> EventKind:
    return "head" if os.path.basename(path) in _HEADS or _REFS in path else "rules"
