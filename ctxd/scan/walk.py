"""Walk a worktree, or a part of it, and list what is to be indexed. Scan thread; reads directories and ignore files.

A directory is watched, then read: what happens in it after that is an event, what happened before is in the listing.
git's listing was taken before the directories were watched. So it only decides about names: what lies there is what
the walk finds, names that git did not list are asked about afterwards, and `newest_ns` shows whether rules may have
changed meanwhile.
"""

from __future__ import annotations

import errno
import os
import time
from collections import Counter
from collections.abc import Callable

import msgspec

from ctxd.model import FileStat, Listed
from ctxd.scan.git import GitFailed
from ctxd.scan.ownership import GitOwner, loaded, nested_owner, plain
from ctxd.scan.place import RULE_FILES, Judge, Place, Ruling, Standing, is_utf8, leads, under
from ctxprotocol.errors import RootGone

# Errors that mean that a directory is not there (any more) or not ours to read; any other may pass, and a listing
# that took it for an empty directory would empty the index.
_NOT_THERE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG)
_NO_STAT = FileStat(0, 0, 0, 0)
# Names that cannot be shown as they are: all are counted, so many are kept for those who look for them.
ODD_NAMES = 100


class _Question(msgspec.Struct, frozen=True, eq=False):
    """An entry that git did not list."""

    place: Place
    path: str
    entry: os.DirEntry[str] | None


class Walk:
    """One walk. Its lists are unsorted; `ignored` counts the files that each rule hid, `hidden` names directories.

    `newest_ns` is the latest change of any directory's entries or of a rule file, by the file system's clock.
    """

    def __init__(self, judge: Judge, watch: Callable[[str], object]) -> None:
        self.files: list[Listed] = []
        self.nested: list[str] = []
        self.linked: list[str] = []
        self.not_utf8 = 0
        self.odd_names: list[str] = []
        self.sparse = 0
        self.ignored: Counter[str] = Counter()
        self.hidden: dict[str, str] = {}
        self.note = ""
        self.newest_ns = 0
        self._judge = judge
        self._root = judge.root
        self._watch = watch
        self._stack: list[Place] = []
        self._questions: list[_Question] = []

    def run(self, start: Place) -> None:
        """List everything below `start`. Raises RootGone when a directory cannot be read for a passing reason."""
        if start.path and start.owner.base == f"{start.path}/":
            self.nested.append(start.path)
        self._stack.append(start)
        while self._stack:
            while self._stack:
                self._list(self._stack.pop())
            self._ask()

    def _list(self, place: Place) -> None:
        self._watch(place.path)
        entries = self._read(place)
        dotted = frozenset(entry.name for entry in entries if entry.name[0] == ".")
        if ".git" in dotted:
            entered = self._enter(place)
            if entered is None:
                return
            place = entered
        if dotted & RULE_FILES:
            self._note_times(entries)
            place = self._judge.with_rule_files(place, dotted & RULE_FILES)
        prefix = f"{place.path}/" if place.path else ""
        for entry in entries:
            path = prefix + entry.name
            if entry.name == ".git":
                continue
            if not is_utf8(entry.name):
                self.not_utf8 += 1
                if len(self.odd_names) < ODD_NAMES:
                    self.odd_names.append(path)
            elif entry.is_dir(follow_symlinks=False):
                self._directory(place, path)
            elif not self._followed(place, path, entry):
                self._file(place, path, entry)

    def _read(self, place: Place) -> list[os.DirEntry[str]]:
        where = os.path.join(self._root, place.path) if place.path else self._root
        try:
            self.newest_ns = max(self.newest_ns, os.stat(where).st_mtime_ns)
            with os.scandir(where) as found:
                return list(found)
        except OSError as error:
            if error.errno not in _NOT_THERE or not place.path:
                raise RootGone(f"cannot read {where}: {error.strerror}") from error
            if error.errno in (errno.EACCES, errno.EPERM) and isinstance(place.owner, GitOwner):
                below = [path for path in place.owner.listed if path.startswith(f"{place.path}/")]
                self.files += [Listed(path, _NO_STAT, "unreadable") for path in below]
            return []

    def _note_times(self, entries: list[os.DirEntry[str]]) -> None:
        for entry in entries:
            if entry.name in RULE_FILES:
                try:
                    self.newest_ns = max(self.newest_ns, entry.stat(follow_symlinks=False).st_ctime_ns)
                except OSError:
                    self.newest_ns = max(self.newest_ns, time.time_ns())

    def _enter(self, place: Place) -> Place | None:
        """Return the place under the rules of the repository that begins here; None for a linked worktree."""
        base = f"{place.path}/"
        if not place.path or place.owner.base == base:
            return place
        owner = nested_owner(self._root, place.path, place.owner)
        if owner is None:
            self.linked.append(place.path)
            return None
        if owner is place.owner:
            return place
        assert isinstance(owner, GitOwner)
        self.nested.append(place.path)
        ready, note = loaded(owner)
        self.note = self.note or note
        self.sparse += ready.sparse if isinstance(ready, GitOwner) else 0
        if isinstance(place.owner, GitOwner) and isinstance(ready, GitOwner):
            # The outer repository may track files below a repository that was made later.
            ready.listed |= {path for path in place.owner.listed if path.startswith(base)}
        return under(place, ready)

    def _directory(self, place: Place, path: str) -> None:
        standing, ruling = self._judge.directory(place, path)
        if ruling is Ruling.ASK:
            self._questions.append(_Question(place, path, None))
        elif standing is not Standing.HIDDEN or leads(place, path):
            self._push(place, path, standing)
        else:
            self.hidden[path] = self.hidden.get(place.path) or self._judge.rule(place, f"{path}/")

    def _file(self, place: Place, path: str, entry: os.DirEntry[str]) -> None:
        ruling = self._judge.file(place, path)
        if ruling is Ruling.ASK:
            self._questions.append(_Question(place, path, entry))
        elif ruling is not Ruling.IGNORED:
            self._accept(path, entry, ruling)
        elif entry.name not in RULE_FILES:
            self.ignored[self._judge.rule(place, path)] += 1

    def _accept(self, path: str, entry: os.DirEntry[str], ruling: Ruling) -> None:
        try:
            found = entry.stat(follow_symlinks=False)
        except OSError:
            return  # gone since: its event is on its way
        self.files.append(self._judge.listed(path, found, ruling))

    def _push(self, place: Place, path: str, standing: Standing) -> None:
        self._stack.append(msgspec.structs.replace(place, path=path, standing=standing))

    def _ask(self) -> None:
        """Have git rule on what it did not list, each repository in one go."""
        questions, self._questions = self._questions, []
        owners: dict[int, list[_Question]] = {}
        for question in questions:
            owners.setdefault(id(question.place.owner), []).append(question)
        for asked in owners.values():
            owner = asked[0].place.owner
            assert isinstance(owner, GitOwner)
            try:
                ignored = owner.ignored([question.path for question in asked])
            except GitFailed as failed:
                # What git lists is listed already; the rest is, nearly always, what it ignores.
                self.note = self.note or failed.message
                continue
            for question in asked:
                self._answer(question, ignored.get(question.path))

    def _answer(self, question: _Question, rule: str | None) -> None:
        place, path, entry = question.place, question.path, question.entry
        if rule is None:
            if entry is None:
                self._push(place, path, Standing.OPEN)
            else:
                self._accept(path, entry, Ruling.LISTED)
        elif entry is None:
            if leads(place, path):
                self._push(place, path, Standing.HIDDEN)
            else:
                self.hidden[path] = rule
        elif entry.name not in RULE_FILES:
            self.ignored[rule] += 1

    def _followed(self, place: Place, path: str, entry: os.DirEntry[str]) -> bool:
        """Follow a link where that is configured; False: it is an entry like any other.

        A followed link is never watched: `watch` is told of it so that the watcher stops proving freshness.
        """
        if not self._judge.rules.follow_symlinks or not entry.is_symlink() or not self._judge.inside(path):
            return False
        target = os.path.realpath(entry.path)
        ruling = self._judge.file(place, path)
        if ruling is Ruling.IGNORED:
            return False
        if os.path.isfile(target):
            self._watch(path)
            found = os.stat(target)
            self.files.append(self._judge.listed(path, found, ruling))
            return True
        here = os.path.realpath(os.path.dirname(entry.path))
        trail = (*place.trail, here)
        if not os.path.isdir(target) or any(f"{real}/".startswith(f"{target}/") for real in trail):
            return False  # a link to where it came from would never end
        owner = plain(f"{path}/", None)
        self._stack.append(msgspec.structs.replace(place, path=path, owner=owner, files=(), trail=(*trail, target)))
        return True
