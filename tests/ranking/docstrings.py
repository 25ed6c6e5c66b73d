"""Docstrings asked for the functions that they stood in: `python -m tests.ranking.docstrings SOURCE TREE`.

Copies the Python files below SOURCE to TREE without the docstrings of their functions, indexes that, and asks for a
number of them (drawn by a seed) with the first paragraph of what was taken out. Prints the mean reciprocal rank and the
share found among ten, with words alone and with vectors. Runs by hand; the daemon is the one of CTX_HOME.
"""

from __future__ import annotations

import argparse
import ast
import os
import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ctxclient.bench import metrics
from ctxclient.bench.datasets import Span
from ctxclient.bench.session import Session

# A paragraph that says something and is no essay.
WORDS = range(5, 41)
_Function = ast.FunctionDef | ast.AsyncFunctionDef


class Asked(NamedTuple):
    """A question and the function that answers it."""

    text: str
    place: Span


def functions(tree: ast.Module) -> Iterator[tuple[_Function, str]]:
    """Yield the functions of a module that have a docstring, with it."""
    for node in ast.walk(tree):
        if isinstance(node, _Function) and (text := ast.get_docstring(node)):
            yield node, text


def without_docstrings(source: str) -> str:
    """Return a module's text without the docstrings of its functions; what would be left empty holds `pass`."""
    lines = source.split("\n")
    for node, _ in sorted(functions(ast.parse(source)), key=lambda one: -one[0].lineno):
        text = node.body[0]
        assert text.end_lineno is not None and text.end_col_offset is not None
        before = lines[text.lineno - 1].encode()[: text.col_offset].decode()
        after = lines[text.end_lineno - 1].encode()[text.end_col_offset :].decode()
        kept = before + ("pass" if len(node.body) == 1 else "") + after
        lines[text.lineno - 1 : text.end_lineno] = [kept] if kept.strip("; ") else []
    return "\n".join(lines)


def asked(path: str, source: str, stripped: str) -> list[Asked]:
    """Return the questions that a file answers; a function is known by its place among the file's functions."""
    before = [node for node in ast.walk(ast.parse(source)) if isinstance(node, _Function)]
    after = [node for node in ast.walk(ast.parse(stripped)) if isinstance(node, _Function)]
    found = []
    for one, left in zip(before, after, strict=True):
        first = " ".join((ast.get_docstring(one) or "").split("\n\n")[0].split())
        if len(first.split()) in WORDS and len(left.body) > 1:
            found.append(Asked(first, Span(path, left.lineno, left.end_lineno or left.lineno)))
    return found


def copied(source: str, tree: str) -> list[Asked]:
    """Write the stripped files below `tree` and return all questions, in the order of paths."""
    found: list[Asked] = []
    for directory, folders, names in os.walk(source):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            full = os.path.join(directory, name)
            path = os.path.relpath(full, source)
            if not name.endswith(".py"):
                continue
            with open(full, encoding="utf-8") as file:
                text = file.read()
            try:
                stripped = without_docstrings(text)
                found += asked(path, text, stripped)
            except SyntaxError:
                continue
            os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
            with open(os.path.join(tree, path), "w", encoding="utf-8") as file:
                file.write(stripped)
    return found


def drawn(questions: Sequence[Asked], count: int, seed: int) -> list[Asked]:
    """Return `count` of the questions that only one function answers."""
    texts = [one.text for one in questions]
    once = [one for one in questions if texts.count(one.text) == 1]
    return random.Random(seed).sample(once, min(count, len(once)))


def measured(session: Session, tree: str, questions: Sequence[Asked]) -> tuple[float, float]:
    """Return the mean reciprocal rank among ten and the share found there."""
    places = [session.find(tree, one.text, metrics.DEPTH).places for one in questions]
    ranks = [min(metrics.ranks([one.place], found), default=0) for one, found in zip(questions, places, strict=True)]
    return metrics.mean(1 / rank if rank else 0.0 for rank in ranks), metrics.mean(map(bool, ranks))


def main() -> None:
    """Do as the command line says."""
    parser = argparse.ArgumentParser(description="Measure docstring-to-function questions.")
    parser.add_argument("source")
    parser.add_argument("tree")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    tree = os.path.abspath(given.tree)
    everything = copied(given.source, tree)
    chosen = drawn(everything, given.questions, given.seed)
    with Session() as session:
        indexed = session.init(tree)
        print(f"{indexed.files} files, {indexed.chunks} chunks; {len(chosen)} of {len(everything)} questions")
        session.semantic = False
        print("words alone    MRR {:.3f}  hit@10 {:.3f}".format(*measured(session, tree, chosen)))
        found = session.vectors(tree, lambda _done, _total: None)
        if found.state != "ready":
            print(f"no vectors: {found.reason}; {found.hint}")
            return
        for session.semantic, name in ((None, "by themselves"), (True, "--semantic   ")):
            print("{}  MRR {:.3f}  hit@10 {:.3f}".format(name, *measured(session, tree, chosen)))


if __name__ == "__main__":
    main()
