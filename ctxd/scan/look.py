"""Say what single paths are now. Scan thread; git is started only for paths that are not known yet."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Collection, Sequence

import msgspec

from ctxd.model import FileStat, Listed
from ctxd.scan.descent import Descent
from ctxd.scan.git import GitFailed
from ctxd.scan.lockfiles import is_lock_file
from ctxd.scan.ownership import GitOwner
from ctxd.scan.place import Judge, Place, Ruling, is_utf8
from ctxd.scan.rules import Rules


class Looked(msgspec.Struct, frozen=True):
    """What single paths are now: files to index or record, and paths that are none."""

    found: tuple[Listed, ...]
    gone: tuple[str, ...]


def look(root: str, rules: Rules, paths: Sequence[str], known: Collection[str]) -> Looked:
    """Say what single paths are now; only those not in `known` are held against the ignore rules.

    Missing, ignored and directories come back as `gone`. Both lists are in the order of `paths`. How many files an
    index may hold is not looked at: which ones are too many, only a listing of the whole tree can say.
    """
    judge = Judge(root, rules)
    try:
        rows = _look(judge, Descent(judge), paths, known)
    except GitFailed:
        rows = _look(judge, Descent(judge, use_git=False), paths, known)
    return Looked(
        found=tuple(rows[path] for path in paths if path in rows),
        gone=tuple(path for path in paths if path not in rows),
    )


def _look(judge: Judge, descent: Descent, paths: Sequence[str], known: Collection[str]) -> dict[str, Listed]:
    rows: dict[str, Listed] = {}
    questions: dict[int, tuple[GitOwner, dict[str, os.stat_result]]] = {}
    for path in paths:
        found = _stat(judge, descent, path)
        if isinstance(found, Listed):
            rows[path] = found
            continue
        if found is None:
            continue
        # A lock file is one unless a `.ctxignore` took it back: the one rule that known files are held against.
        if path in known and not is_lock_file(path[path.rfind("/") + 1 :]):
            rows[path] = judge.listed(path, found, Ruling.LISTED)
            continue
        place = descent.place(path[: max(path.rfind("/"), 0)])
        ruling = Ruling.IGNORED if place is None else judge.file(place, path)
        if ruling is Ruling.ASK and path in known:
            ruling = Ruling.LISTED
        if ruling is Ruling.ASK and place is not None:
            _question(questions, place)[path] = found
        elif ruling is not Ruling.IGNORED:
            rows[path] = judge.listed(path, found, ruling)
    for owner, asked in questions.values():
        ignored = owner.ignored_now(list(asked))
        rows |= {p: judge.listed(p, found, Ruling.LISTED) for p, found in asked.items() if p not in ignored}
    return rows


def _stat(judge: Judge, descent: Descent, path: str) -> os.stat_result | Listed | None:
    """Return the stat of what is no directory, a row for what may not be read, None for all else."""
    if not is_utf8(path) or os.path.basename(path) == ".git" or not descent.is_real(path[: max(path.rfind("/"), 0)]):
        return None
    where = os.path.join(judge.root, path)
    try:
        found = os.lstat(where)
        if stat.S_ISLNK(found.st_mode) and judge.rules.follow_symlinks and judge.inside(path):
            found = os.stat(where)
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM):
            return Listed(path, FileStat(0, 0, 0, 0), "unreadable")
        return None
    return None if stat.S_ISDIR(found.st_mode) else found


def _question(
    questions: dict[int, tuple[GitOwner, dict[str, os.stat_result]]], place: Place
) -> dict[str, os.stat_result]:
    owner = place.owner
    assert isinstance(owner, GitOwner)
    return questions.setdefault(id(owner), (owner, {}))[1]
