"""Plain BM25 on a labelled set, to stand beside `ctx bench`: `python -m tests.ranking.baseline SET CLONES`.

FTS5 as it comes (`porter unicode61`) over windows of 40 lines of every text file, the words of a question joined by OR,
the best window of each file. Nothing of the daemon is used. Runs by hand; trees are exported to a temporary folder.
"""

from __future__ import annotations

import argparse
import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence

from ctxclient.bench import datasets, metrics
from ctxclient.bench.datasets import Labelled, Question, Span
from ctxclient.bench.exports import exported

WINDOW = 40
HITS = (1, 3, 5, 10)
# A file above it is data.
_MAX_BYTES = 1_000_000
# A file's best window may stand behind many windows of others.
_WINDOWS = 1_000
_WORD = re.compile(r"\w+")


def texts(root: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of every file below `root` that is text."""
    for directory, folders, names in os.walk(root):
        folders.sort()
        for name in sorted(names):
            full = os.path.join(directory, name)
            if os.path.islink(full) or os.path.getsize(full) > _MAX_BYTES:
                continue
            with open(full, "rb") as file:
                data = file.read()
            if b"\0" not in data:
                yield os.path.relpath(full, root), data.decode("utf-8", "replace")


def windows(text: str) -> Iterator[tuple[int, str]]:
    """Yield the first line of each window, counted from 1, and its text."""
    lines = text.split("\n")
    for start in range(0, len(lines), WINDOW):
        yield start + 1, "\n".join(lines[start : start + WINDOW])


def indexed(root: str) -> sqlite3.Connection:
    """Return a database in memory with the windows of all files below `root`."""
    database = sqlite3.connect(":memory:")
    database.execute(
        "CREATE VIRTUAL TABLE windows USING fts5(text, path UNINDEXED, line UNINDEXED, tokenize='porter unicode61')"
    )
    rows = ((text, path, line) for path, whole in texts(root) for line, text in windows(whole))
    database.executemany("INSERT INTO windows VALUES (?, ?, ?)", rows)
    return database


def results(database: sqlite3.Connection, query: str) -> list[Span]:
    """Return the best window of each of the ten best files."""
    words = dict.fromkeys(_WORD.findall(query.lower()))
    if not words:
        return []
    wanted = " OR ".join(f'"{word}"' for word in words)
    found: dict[str, Span] = {}
    select = "SELECT path, line FROM windows WHERE windows MATCH ? ORDER BY rank LIMIT ?"
    for path, line in database.execute(select, (wanted, _WINDOWS)):
        found.setdefault(path, Span(path, line, line + WINDOW - 1))
    return list(found.values())[: metrics.DEPTH]


def ranks(labelled: Labelled, root: str) -> list[tuple[Question, int, float]]:
    """Return each question with the rank of the first relevant file (0: none) and its NDCG@10."""
    database = indexed(root)
    found = []
    for question in labelled.questions:
        places = results(database, question.query)
        found.append((question, metrics.first_rank(question.files, places), metrics.ndcg(question, places)))
    database.close()
    return found


def line(name: str, asked: Sequence[tuple[Question, int, float]]) -> str:
    """Return a row of the table."""
    hits = (sum(1 for _, rank, _ in asked if 0 < rank <= depth) / len(asked) for depth in HITS)
    gain = metrics.mean(each for _, _, each in asked)
    return f"{name:16} {len(asked):4}  {gain:.3f}  " + "  ".join(f"{hit:.3f}" for hit in hits)


def main() -> None:
    """Print the table of a set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("set")
    parser.add_argument("clones")
    given = parser.parse_args()
    everything: list[tuple[Question, int, float]] = []
    print(f"{'':16} {'':4}  NDCG   " + "  ".join(f"hit@{depth:<2}"[:6] for depth in HITS))
    with tempfile.TemporaryDirectory() as cache:
        for labelled in datasets.load(given.set):
            export = exported(labelled.repository, given.clones, cache, whole=False, any_commit=False)
            asked = ranks(labelled, export.place)
            everything += asked
            print(line(labelled.repository.name, asked), flush=True)
    for category in sorted({question.category for question, _, _ in everything}):
        print(line(category, [each for each in everything if each[0].category == category]))
    print(line("all", everything))


if __name__ == "__main__":
    main()
