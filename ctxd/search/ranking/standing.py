"""What is known of a candidate's file beyond its path: what it exports, and whether a newer one stands beside it.

Two small reads in the request's snapshot, on its reader thread.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import msgspec

from ctxd.search.question.plan import Plan
from ctxd.search.ranking.candidates import Candidate
from ctxd.search.ranking.features import Subject
from ctxd.search.ranking.shortlist import Shortlist
from ctxd.store import read
from ctxd.store.snapshot import Snapshot

# Files whose names are read: further down none came up by it, and headers export hundreds.
_FILES = 12
# A folder for one version: v1/, _v2/.
_VERSION = re.compile(r"(?:^|(?<=/))_?v\d{1,3}/")


class Standing(msgspec.Struct, frozen=True):
    """By file id: `exports`, how well a name that the file exports fits the question (0 to 1); `older`: the file stands
    in the folder of a version, and without that folder there is one of the same path.
    """

    exports: Mapping[int, float] = {}
    older: frozenset[int] = frozenset()


def standing(
    snapshot: Snapshot, asked: Plan, subject: Subject, found: Shortlist, candidates: Sequence[Candidate]
) -> Standing:
    """Return what is known of the files of these candidates. Who asks for a name or a path is told by those alone."""
    exports = _exports(snapshot, subject, found) if asked.kind == "prose" else {}
    return Standing(exports, _older(snapshot, candidates))


def _exports(snapshot: Snapshot, subject: Subject, found: Shortlist) -> dict[int, float]:
    leading = list(dict.fromkeys(chunk.file for chunk in found.chunks.values()))[:_FILES]
    best: dict[int, float] = {}
    for file, name in read.exported(snapshot, leading, subject.beginnings()):
        best[file] = max(best.get(file, 0.0), subject.name(name))
    return best


def _older(snapshot: Snapshot, candidates: Sequence[Candidate]) -> frozenset[int]:
    beside: dict[int, str] = {}
    for one in candidates:
        if _VERSION.search(one.file.path):
            beside[one.file.id] = _VERSION.sub("", one.file.path, count=1)
    there = read.indexed(snapshot, set(beside.values())) if beside else frozenset()
    return frozenset(file for file, plain in beside.items() if plain in there)
