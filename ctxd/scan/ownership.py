"""Whose ignore rules hold where: those of a repository, told by git, or those of ignore files that we read.

Scan thread. A tree may hold several owners, one inside the other; each knows paths relative to the scanned root.
"""

from __future__ import annotations

import os
from collections.abc import Sequence

from ctxd.scan import patterns
from ctxd.scan.git import GitFailed, Repository, user_excludes
from ctxd.scan.patterns import Patterns

RULE_FILE = ".gitignore"


class GitOwner:
    """A repository whose rules git applies. `base` is where it lies below the scanned root ("" or "a/b/").

    `listed` are the paths that git lists, `directories` those that hold one; both are empty until `load`. `sparse`
    counts the tracked files that a sparse checkout leaves out. `family` holds the common directories of this
    repository and of those around it.
    """

    def __init__(self, repository: Repository, base: str, around: frozenset[str] = frozenset()) -> None:
        self.repository = repository
        self.base = base
        self.family = around | {repository.common_dir}
        self.listed: set[str] = set()
        self.directories: set[str] = set()
        self.sparse = 0

    def load(self, directory: str = "") -> None:
        """Take git's listing of the repository, or of what is below one directory. Raises GitFailed."""
        inside = directory[len(self.base) :] if directory else ""
        files = self.repository.files(inside)
        self.sparse = 0 if directory else self.repository.sparse()
        base = self.base
        self.listed = {base + path.rstrip("/") for path in files} if base else {p.rstrip("/") for p in files}
        directories = self.directories
        for path in self.listed:
            at = path.rfind("/")
            while at > 0 and (parent := path[:at]) not in directories:
                directories.add(parent)
                at = path.rfind("/", 0, at)

    def ignored(self, paths: Sequence[str]) -> dict[str, str]:
        """Return those of `paths`, none of them tracked, that rules ignore, with the rule. Raises GitFailed."""
        cut = len(self.base)
        found = self.repository.ignored([path[cut:] for path in paths])
        return {self.base + path: self._place(rule) for path, rule in found.items()}

    def ignored_now(self, paths: Sequence[str]) -> dict[str, str]:
        """Return those of `paths` that git would leave out: matched by a rule, and not tracked. Raises GitFailed."""
        found = self.ignored(paths)
        if found:
            cut = len(self.base)
            for path in self.repository.tracked([path[cut:] for path in found]):
                path = self.base + path
                while path:
                    found.pop(path, None)
                    path = path[: max(path.rfind("/"), 0)]
        return found

    def _place(self, rule: str) -> str:
        return rule if os.path.isabs(rule) or rule.startswith("..") else self.base + rule


class FileOwner:
    """Ignore files without git: `outer` are the patterns that hold from the start, the caller adds nested ones."""

    def __init__(self, base: str, outer: tuple[Patterns, ...], family: frozenset[str] = frozenset()) -> None:
        self.base = base
        self.outer = outer
        self.family = family


Owner = GitOwner | FileOwner


def plain(base: str, repository: Repository | None, family: frozenset[str] = frozenset()) -> FileOwner:
    """Return the owner of a tree outside git, or of `repository`'s worktree when git does not answer."""
    excludes = user_excludes() if repository is None else repository.global_excludes()
    places = [(excludes, excludes)]
    if repository is not None:
        places.append((os.path.join(repository.common_dir, "info", "exclude"), f"{base}.git/info/exclude"))
    read = [patterns.read(path, base, shown) for path, shown in places]
    return FileOwner(base, tuple(one for one in read if one is not None), family)


def owner_of(root: str) -> Owner:
    """Return whose rules hold at the scanned root; a GitOwner is not loaded yet."""
    repository = Repository.open(root)
    return plain("", None) if repository is None else GitOwner(repository, "")


def nested_owner(root: str, directory: str, around: Owner) -> Owner | None:
    """Return the owner that begins at a directory of the tree: a repository's, not loaded, or `around` when none does.

    None: it is a linked worktree of a repository around it, whose files are already there.
    """
    repository = Repository.at(os.path.join(root, directory))
    if repository is None:
        return around
    if repository.common_dir in around.family:
        return None
    return GitOwner(repository, f"{directory}/", around.family)


def loaded(owner: GitOwner, directory: str = "") -> tuple[Owner, str]:
    """Return `owner` with its listing, or, when git fails, its ignore files read by us and the reason as a note."""
    try:
        owner.load(directory)
    except GitFailed as failed:
        return plain(owner.base, owner.repository, owner.family), failed.message
    return owner, ""
