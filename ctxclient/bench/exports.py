"""One commit's files as a plain folder in the cache of `ctx bench`: written once, used again by the next run.

The bytes come straight from git's objects, so no filter, hook or attribute of the repository has a say. Only regular
files are written: links, submodules and names that could lead out of the folder are left out and counted. Runs in the
client process; the cache is CACHE/NAME/COMMIT-FOLDER/{tree,export.json}.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence

import msgspec

from ctxclient.bench.datasets import Repository
from ctxclient.bench.git import Blob, Git, GitFailed

_REGULAR = ("100644", "100755", "100664")
# What no path may hold as one of its parts, whatever the file system thinks of case and trailing dots.
_FORBIDDEN = ("", ".", "..", ".git", "git~1")


class Export(msgspec.Struct, frozen=True, kw_only=True):
    """A folder in the cache. `commit` is what it holds, `exact` whether that is what the set asks for.

    `missing` counts files whose bytes a partial clone lacks, `left_out` links, submodules and odd names.
    """

    place: str
    commit: str
    exact: bool
    files: int
    missing: int = 0
    left_out: int = 0


class _Counts(msgspec.Struct, frozen=True):
    files: int
    missing: int
    left_out: int


def exported(repository: Repository, clones: str, cache: str, *, whole: bool, any_commit: bool) -> Export:
    """Return the folder of a repository at its commit, written if it is not in the cache yet. Raises GitFailed."""
    clone = os.path.join(clones, repository.name)
    git = Git.at(clone)
    if git is None:
        raise GitFailed(f"{repository.name}: no git repository of that name", f"clone {repository.url or 'it'} there")
    commit = git.commit(repository.commit)
    exact = commit is not None
    if commit is None:
        commit = git.commit("HEAD") if any_commit else None
    if commit is None:
        raise GitFailed(
            f"{repository.name}: commit {repository.commit[:12]} is not in the clone",
            "fetch it, or take what HEAD has: --any-commit",
        )
    folder = "" if whole else repository.root or ""
    return snapshot(git, commit, os.path.join(cache, repository.name), folder, exact=exact)


def snapshot(git: Git, commit: str, cache: str, folder: str = "", *, exact: bool = True) -> Export:
    """Return a commit's folder ("" for the whole tree) as files below `cache`. Raises GitFailed."""
    tree = git.tree(commit, folder)
    if tree is None:
        raise GitFailed(f"commit {commit[:12]} has no folder {folder}")
    kind = hashlib.sha256(folder.encode()).hexdigest()[:8] if folder else "whole"
    place = os.path.join(cache, f"{commit[:16]}-{kind}")
    known = os.path.join(place, "export.json")
    try:
        with open(known, "rb") as file:
            counts = msgspec.json.decode(file.read(), type=_Counts)
    except (OSError, msgspec.DecodeError):
        counts = _written(git, tree, place)
    return Export(
        place=os.path.join(place, "tree"),
        commit=commit,
        exact=exact,
        files=counts.files,
        missing=counts.missing,
        left_out=counts.left_out,
    )


def _written(git: Git, tree: str, place: str) -> _Counts:
    """Write a tree beside its place and move it there when it is whole."""
    os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
    beside = tempfile.mkdtemp(prefix=".new-", dir=os.path.dirname(place))
    try:
        counts = _extract(git, tree, os.fsencode(os.path.join(beside, "tree")))
        with open(os.path.join(beside, "export.json"), "wb") as file:
            file.write(msgspec.json.encode(counts))
        shutil.rmtree(place, ignore_errors=True)
        try:
            os.rename(beside, place)
        except OSError:
            if not os.path.exists(os.path.join(place, "export.json")):  # else another run was faster
                raise
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    return counts


def _extract(git: Git, tree: str, target: bytes) -> _Counts:
    blobs = git.blobs(tree)
    regular = [blob for blob in blobs if blob.mode in _REGULAR and is_safe(blob.path)]
    absent = git.missing(tree)
    there = [blob for blob in regular if blob.oid not in absent]
    os.mkdir(target, 0o700)
    written = 0
    for blob, (_, data) in zip(there, git.contents([blob.oid for blob in there]), strict=True):
        if data is not None and _write(os.path.join(target, blob.path), data):
            written += 1
    return _Counts(
        written, missing=len(regular) - len(there), left_out=len(blobs) - len(regular) + len(there) - written
    )


def is_safe(path: bytes) -> bool:
    """Say whether a path of a tree stays below the folder it is written to, and is no part of a git directory."""
    parts = path.split(b"/")
    return not any(part.rstrip(b" .").lower().decode("latin-1") in _FORBIDDEN or b"\\" in part for part in parts)


def _write(path: bytes, data: bytes) -> bool:
    """Write a file that does not exist yet; False where a forged tree has two entries of one name, or one too long."""
    try:
        os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
        with open(path, "xb") as file:
            file.write(data)
    except (FileExistsError, NotADirectoryError):
        return False
    except OSError as error:
        if error.errno is not None and error.errno != 36:  # ENAMETOOLONG
            raise
        return False
    return True


def names(paths: Sequence[Blob]) -> frozenset[str]:
    """Return the paths of entries as text."""
    return frozenset(blob.path.decode("utf-8", "surrogateescape") for blob in paths)
