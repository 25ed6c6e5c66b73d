"""A labelled set from a repository's own history: what a commit says of itself, and the files that it changed.

The newest commits that qualify, so that one HEAD gives one set. A commit qualifies when it is no merge and no revert,
changes at most MAX_FILES files, says at least MIN_WORDS words, and a file that it changed or added is still there.
Sources are relevant; tests, documents and data beside them are secondary. A subject that names one of its files is
kept in a category of its own: finding that is easier. Runs in the client process.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import msgspec

from ctxclient.bench.datasets import Labelled, Question, Repository, Span
from ctxclient.bench.git import Git, GitFailed

MAX_FILES = 12
MIN_WORDS = 3
# So many commits are looked at for each question that is wanted.
_LOOKED_AT = 20

NAMED, PLAIN = "file named", "described"

_UNDONE = re.compile(r"revert|reapply|merge\b|fixup!|squash!|amend!", re.IGNORECASE)
# What forges and bots add to a subject.
_NUMBER = re.compile(r"\s*\((?:#|!|gh-)\d+\)|\s*\[(?:ci skip|skip ci)\]", re.IGNORECASE)
_BESIDE = re.compile(
    r"(?:^|/)(?:tests?|testing|spec|specs|__tests__|docs?|examples?|fixtures|\.github)/"
    r"|(?:^|/)(?:test_[^/]*|[^/]*[_.-](?:test|tests|spec)\.[^/]*|[^/]*Tests?\.[^/]*)$"
    r"|(?:^|/)(?:change(?:s|log)|history|news|authors|readme|contributing|license)[^/]*$"
    r"|\.(?:md|rst|adoc|txt|po|pot|lock|sum|snap|svg|png|gif|jpe?g|ico|json|ya?ml|toml|cfg|ini|csv|xml|html)$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")


class Commit(msgspec.Struct, frozen=True):
    """One commit: its subject and the files that it added or changed."""

    oid: str
    subject: str
    paths: tuple[str, ...]


def labelled(git: Git, name: str, head: str, wanted: int) -> Labelled:
    """Return at most `wanted` questions from the history before the commit `head`. Raises GitFailed."""
    tree = git.tree(head, "")
    if tree is None:
        raise GitFailed(f"commit {head[:12]} has no tree")
    there = {blob.path.decode("utf-8", "surrogateescape") for blob in git.blobs(tree)}
    found: dict[str, Question] = {}
    for commit in commits(git, head, wanted * _LOOKED_AT):
        one = question(commit, there)
        if one is not None:
            found.setdefault(one.query.lower(), one)
        if len(found) == wanted:
            break
    return Labelled(Repository(name, "history", head), tuple(found.values()))


def commits(git: Git, head: str, most: int) -> Iterator[Commit]:
    """Yield the newest commits, merges left out. Raises GitFailed."""
    flags = ["--no-merges", f"--max-count={most}", "--encoding=UTF-8", "--format=%H%x00%s", "--end-of-options"]
    lines = git.run(["rev-list", *flags, head]).decode("utf-8", "replace").split("\n")
    subjects = dict(line.split("\0", 1) for line in lines if "\0" in line)
    changes = ["-r", "--root", "--raw", "-z", "--no-renames", "--diff-filter=AM"]
    out = git.run(["diff-tree", "--stdin", *changes], "".join(f"{oid}\n" for oid in subjects).encode())
    oid, paths = "", list[str]()
    fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
    for field in fields:
        if field.startswith(":"):
            path = next(fields, "")
            if field.split(" ")[1] in ("100644", "100755"):
                paths.append(path)
            continue
        if oid:
            yield Commit(oid, subjects.get(oid, ""), tuple(paths))
        oid, paths = field, []


def question(commit: Commit, there: Collection[str]) -> Question | None:
    """Return what a commit asks for, None when it does not qualify; `there` are the files of today."""
    subject = _NUMBER.sub("", commit.subject).strip()
    if _UNDONE.match(subject) or len(subject.split()) < MIN_WORDS or len(commit.paths) > MAX_FILES:
        return None
    paths = [path for path in commit.paths if path in there and path.isprintable()]
    sources = [path for path in paths if not _BESIDE.search(path)]
    if not sources:
        return None
    beside = [path for path in paths if path not in sources]
    category = NAMED if any(names(subject, path) for path in sources) else PLAIN
    return Question(subject, category, tuple(map(Span, sources)), tuple(map(Span, beside)))


def names(subject: str, path: str) -> bool:
    """Say whether a subject names a file: its path, its name, or all words of its stem in a row."""
    name = path.rpartition("/")[2]
    if name in subject:
        return True
    said = " ".join(_WORD.findall(subject.lower()))
    stem = " ".join(_WORD.findall(name.partition(".")[0].lower()))
    return bool(stem) and f" {stem} " in f" {said} "
