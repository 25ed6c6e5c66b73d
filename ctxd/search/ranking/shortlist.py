"""Of the many chunks that hold words of a question, the ones that are worth a closer look. On a reader thread.

Cheap for each chunk: its words, how much of the question it covers, what its path says. What a file's chunks hold
together is worked out here, over the whole window; everything else is looked at for the short list alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import msgspec

from ctxd.search.ranking import fuse, weights
from ctxd.search.ranking.features import Subject
from ctxd.search.ranking.retrieve import Lexical
from ctxd.search.ranking.weights import NONE, Without
from ctxd.store import read
from ctxd.store.read import ChunkRow, FileRow
from ctxd.store.snapshot import Snapshot

# A longer one changed the mean of the labelled set by less than .001.
LENGTH = 80


class Base(msgspec.Struct, frozen=True, array_like=True):
    """The lexical share of a chunk and what coverage adds to it: 1 together for the best of the window."""

    lexical: float
    coverage: float


class Shortlist(msgspec.Struct, frozen=True):
    """`base` of every chunk of the window; `together`: each file's sum of it as a share of the largest sum.

    `chunks` is the short list itself, `files` the files of the window.
    """

    base: Mapping[int, Base]
    together: Mapping[int, float]
    chunks: Mapping[int, ChunkRow]
    files: Mapping[int, FileRow]


def shortlist(snapshot: Snapshot, found: Lexical, subject: Subject, without: Without = NONE) -> Shortlist:
    """Return the best of the window; the parts of a score `without` do not count."""
    rows = read.chunks(snapshot, [one.chunk for one in found.ranked])
    files = read.files(snapshot, {row.file for row in rows.values()})
    base = _base(found, weights.COVERAGE * ("coverage" not in without))
    coherence = weights.COHERENCE * ("coherence" not in without)
    saturation = 1.0 if "saturation" in without else weights.SATURATION
    paths = {file.id: _path_worth(subject, file.path, without) for file in files.values()}
    sums: dict[int, float] = defaultdict(float)
    worth: dict[int, float] = {}
    for row in rows.values():
        share = base[row.id].lexical + base[row.id].coverage
        sums[row.file] += share
        worth[row.id] = share + paths[row.file]
    most = max(sums.values(), default=0.0) or 1.0
    best = fuse.ordered(
        rows.values(),
        lambda row: worth[row.id],
        lambda row: (files[row.file].path, row.line_start, row.line_end),
    )
    further: dict[int, int] = defaultdict(int)
    kept: list[tuple[float, int]] = []
    for place, row in enumerate(best):
        lift = coherence * sums[row.file] / most if not further[row.file] else 0.0
        kept.append((-(worth[row.id] + lift) * saturation ** further[row.file], place))
        further[row.file] += 1
    kept.sort()
    return Shortlist(
        base=base,
        together={file: total / most for file, total in sums.items()},
        chunks={best[place].id: best[place] for _, place in kept[:LENGTH]},
        files=files,
    )


def _path_worth(subject: Subject, path: str, without: Without) -> float:
    return sum(value for name, value in subject.of_path(path) if name not in without)


def _base(found: Lexical, coverage: float) -> dict[int, Base]:
    best = max([one.score for one in found.ranked], default=0.0) or 1.0
    rows = []
    for one in found.ranked:
        lexical = one.score / best
        share = found.coverage.get(one.chunk, 0.0)
        rows.append((one.chunk, lexical, lexical * coverage * share**weights.COVERAGE_POWER))
    top = max([lexical + more for _, lexical, more in rows], default=0.0) or 1.0
    return {chunk: Base(lexical / top, more / top) for chunk, lexical, more in rows}
