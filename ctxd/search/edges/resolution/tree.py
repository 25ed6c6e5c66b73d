"""The paths of an index as a tree: what an import may mean is asked of it.

Pure; shared by the reader threads, so what is worked out later is published whole.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator


class Tree:
    """Indexed paths. `modules` maps the import path of each Go module to its folder."""

    def __init__(self, paths: Iterable[str], modules: dict[str, str] | None = None) -> None:
        self._paths = set(paths)
        self._named: dict[str, list[str]] | None = None
        self._folders: dict[str, list[str]] | None = None
        self.modules = modules or {}

    def has(self, path: str) -> bool:
        """Return whether this very path is indexed."""
        return path in self._paths

    def first(self, paths: Iterable[str]) -> str:
        """Return the first of these paths that is indexed, "" when none is."""
        return next((path for path in paths if path in self._paths), "")

    def folder(self, folder: str) -> list[str]:
        """Return the files that lie directly in a folder, sorted."""
        if self._folders is None:
            folders: dict[str, list[str]] = {}
            for path in sorted(self._paths):
                folders.setdefault(posixpath.dirname(path), []).append(path)
            self._folders = folders
        return self._folders.get(folder, [])

    def folders(self) -> Iterator[str]:
        """Give the folders that hold files."""
        self.folder("")
        assert self._folders is not None
        yield from self._folders

    def ending(self, tail: str) -> list[str]:
        """Return the paths that are `tail` or end in `/tail`, sorted."""
        if self._named is None:
            named: dict[str, list[str]] = {}
            for path in sorted(self._paths):
                named.setdefault(posixpath.basename(path), []).append(path)
            self._named = named
        found = self._named.get(posixpath.basename(tail), [])
        return [path for path in found if path == tail or path.endswith("/" + tail)]


def above(path: str) -> Iterator[str]:
    """Give the folders of a path from its own up to the root, ""."""
    folder = posixpath.dirname(path)
    while folder:
        yield folder
        folder = posixpath.dirname(folder)
    yield ""


def joined(folder: str, tail: str) -> str | None:
    """Return a path relative to a folder, worktree-relative; None when it leads out of the worktree."""
    path = posixpath.normpath(posixpath.join(folder, tail))
    if path == "." or path == "/":
        return ""
    return None if path.startswith(("../", "/")) or path == ".." else path


def nearest(paths: Iterable[str], to: str) -> list[str]:
    """Return the paths that share the longest beginning with `to`: all of them that are equally near."""
    folders = posixpath.dirname(to).split("/")

    def distance(path: str) -> tuple[int, int]:
        others = posixpath.dirname(path).split("/")
        shared = 0
        while shared < min(len(folders), len(others)) and folders[shared] == others[shared]:
            shared += 1
        return -shared, len(others)

    ranked = sorted(paths, key=lambda path: (distance(path), path))
    return [path for path in ranked if distance(path) == distance(ranked[0])]
