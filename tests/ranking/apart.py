"""What vectors find that words cannot: `python -m tests.ranking.apart SET TREE`, TREE being SET's only repository.

Asks each question with `--no-semantic` and with `--semantic` and prints how many have a right place among three and
ten. Then the questions whose place stands among three by meaning and not among ten by words, where no content word of
the question, stemmed, is in the text of what was found or in its path. Runs by hand; the daemon is the one of CTX_HOME.
"""

from __future__ import annotations

import argparse
import os
import re
from typing import NamedTuple

import apsw

from ctxclient.bench import datasets, metrics
from ctxclient.bench.datasets import Question, Span
from ctxclient.bench.session import Session
from ctxd import words

FIRST = 3
# Words that are in any sentence whatever it is about. All others count, "make" and "new" and "two" too.
FUNCTION_WORDS = frozenset(
    """
    a about all also an and any anybody anything are as at be been being both but by can could did do does each every
    for from had has have he her here him his how i if in into is it its may me might must my no nobody nor not nothing
    of off on once only or our out over she should so some somebody something such than that the their them then there
    these they this those to too until up us very was we were what when where which while who whom whose why will with
    without would you your
    """.split()  # noqa: SIM905
)


class Tried(NamedTuple):
    """A question, the rank of a right place by words and by meaning (0 = not among ten), and that place by meaning."""

    question: Question
    by_words: int
    by_meaning: int
    place: Span | None


def stems(text: str) -> frozenset[str]:
    """Return the words of a text and the parts of its identifiers as SQLite's stemmer leaves them."""
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5(said, tokenize='porter unicode61 remove_diacritics 2')")
    connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(t, row)")
    said = [part for word in words.WORD.findall(text) for part in (word, *words.parts(word))]
    connection.execute("INSERT INTO t VALUES (?)", (" ".join(said),))
    found = frozenset(term for (term,) in connection.execute("SELECT term FROM v"))
    connection.close()
    return found


def content(text: str) -> frozenset[str]:
    """Return the stems of those words of a question that say what it is about."""
    said = re.findall(r"\w+", text.lower().replace("'s", ""))
    return stems(" ".join(word for word in said if word not in FUNCTION_WORDS))


def shared(question: str, tree: str, place: Span) -> frozenset[str]:
    """Return the content words of a question that a place has, in its lines or in its path."""
    with open(os.path.join(tree, place.path), encoding="utf-8") as file:
        lines = file.read().split("\n")[place.start_line - 1 : place.end_line]
    return content(question) & stems("\n".join([place.path, *lines]))


def tried(session: Session, tree: str, question: Question) -> Tried:
    """Ask one question both ways."""
    places = {}
    for session.semantic in (False, True):
        places[session.semantic] = session.find(tree, question.query, metrics.DEPTH).places
    # By words a place that merely helps counts as well: what is claimed is that they find nothing.
    ranks = {
        False: min(metrics.ranks(question.targets, places[False]), default=0),
        True: min(metrics.ranks(question.relevant, places[True]), default=0),
    }
    return Tried(question, ranks[False], ranks[True], places[True][ranks[True] - 1] if ranks[True] else None)


def counted(name: str, ranks: list[int]) -> str:
    first, ten = sum(0 < rank <= FIRST for rank in ranks), sum(map(bool, ranks))
    return f"{name}: {first} of {len(ranks)} among {FIRST}, {ten} among {metrics.DEPTH}"


def main() -> None:
    """Do as the command line says."""
    parser = argparse.ArgumentParser(description="What only vectors find.")
    parser.add_argument("set")
    parser.add_argument("tree")
    given = parser.parse_args()
    tree = os.path.abspath(given.tree)
    (labelled,) = datasets.load(given.set)
    with Session() as session:
        session.init(tree)
        if (found := session.vectors(tree, lambda _done, _total: None)).state != "ready":
            print(f"no vectors: {found.reason}; {found.hint}")
            return
        done = [tried(session, tree, question) for question in labelled.questions]
    for category in sorted({one.question.category for one in done}):
        asked = [one for one in done if one.question.category == category]
        print(category)
        print(counted("  --no-semantic", [one.by_words for one in asked]))
        print(counted("  --semantic   ", [one.by_meaning for one in asked]))
    for one in done:
        if one.place is not None and one.by_meaning <= FIRST and not one.by_words:
            both = sorted(shared(one.question.query, tree, one.place))
            place = f"{one.place.path}:{one.place.start_line}-{one.place.end_line}"
            said = f"shares {' '.join(both)}" if both else "apart"
            print(f"{one.by_meaning}  {one.question.query}  ->  {place}  {said}")


if __name__ == "__main__":
    main()
