"""Resolve the judged references again, count how sure all are, or draw some to judge: see README.md."""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ctxd.search.edges.graph import Graph
from ctxd.search.edges.resolver import Resolver
from ctxd.store import relations
from tests.indexed import Index
from tests.ranking.edges.draw import drawn, resolved

JUDGED = Path(__file__).with_name("judged.tsv")
_ALL = 1 << 31
_CONFIDENCES = ("sure", "ambiguous", "unresolved")
# Languages with fewer references say nothing.
_FEW = 100


def judged() -> dict[str, list[dict[str, str]]]:
    """Return the rows by repository."""
    found: dict[str, list[dict[str, str]]] = {}
    with JUDGED.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            found.setdefault(row["repo"], []).append(row)
    return found


def differing(graph: Graph, rows: list[dict[str, str]]) -> list[str]:
    """Return the places where a right edge is no longer sure, or a wrong one is again."""
    resolver = Resolver(graph)
    said = []
    for row in rows:
        path, _, line = row["caller"].rpartition(":")
        sites = relations.sites_inside(graph.snapshot, graph.ids[path], int(line), int(line))
        verdicts = [resolver.resolve(site) for site in sites if site.kind == row["kind"]]
        sure = {
            f"{graph.sources[one.file].path}:{one.definition_line}"
            for verdict in verdicts
            if verdict.confidence == "sure"
            for one in verdict.targets
        }
        if (row["callee"] in sure) != (row["verdict"] == "right"):
            said.append(
                f"{row['repo']} {row['caller']} -> {row['callee']} ({row['verdict']}), now {sorted(sure) or 'not sure'}"
            )
    return said


def tallied(graph: Graph) -> dict[str, Counter[str]]:
    """Return how many references of each language are how sure; imports are not counted."""
    found: dict[str, Counter[str]] = {}
    for site, verdict in resolved(graph):
        found.setdefault(graph.sources[site.file].language, Counter())[verdict.confidence] += 1
    return found


def table(tallies: dict[str, Counter[str]]) -> Iterator[str]:
    """Give the rows of the table of README.md."""
    yield "| language | references | sure | ambiguous | unresolved |"
    yield "|---|---|---|---|---|"
    for language, counted in sorted(tallies.items()):
        if (total := counted.total()) >= _FEW:
            shares = (f"{counted[one]:,} ({counted[one] / total:.0%})" for one in _CONFIDENCES)
            yield f"| {language} | {total:,} | {' | '.join(shares)} |"


@contextmanager
def opened(root: str) -> Iterator[Graph]:
    """Index a directory and open what a request would see of it."""
    with tempfile.TemporaryDirectory() as place:
        index = Index(root, f"{place}/index.db")
        index.take(*_files(root))
        with index.snapshot() as snapshot:
            yield Graph(snapshot, max_texts=_ALL)


def _files(root: str) -> list[str]:
    found = [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names]
    return sorted(path for path in found if "/locale/" not in path and not path.startswith(".git/"))


def check(folder: str) -> int:
    """Print what differs from what was judged, and the figures of all; 1 where anything differs."""
    worst = 0
    tallies: dict[str, Counter[str]] = {}
    for repo, rows in judged().items():
        root = os.path.join(folder, repo)
        if not os.path.isdir(root):
            continue
        with opened(root) as graph:
            said = differing(graph, rows)
            print(*said, f"{repo}: {len(rows) - len(said)} of {len(rows)} as judged", sep="\n")
            for language, counted in tallied(graph).items():
                tallies.setdefault(language, Counter()).update(counted)
        worst = max(worst, int(bool(said)))
    print(*table(tallies), sep="\n")
    return worst


def draw(folder: str, repos: Sequence[str], number: int, seed: str) -> None:
    """Print edges of each repository: a row of judged.tsv without its verdict, and behind it what there is to read."""
    for repo in repos:
        with opened(os.path.join(folder, repo)) as graph:
            for one in drawn(graph, number, f"{seed} {repo}"):
                print("", repo, one.caller, one.kind, one.callee, one.rule, "", sep="\t")
                print(f"  {one.name}", *one.shown, "", sep="\n")


def main(arguments: Sequence[str]) -> int:
    """Do what the arguments ask."""
    parser = argparse.ArgumentParser(prog="python -m tests.ranking.edges", description=__doc__)
    parser.add_argument("folder", help="holds the checkouts")
    parser.add_argument("repos", nargs="*", help="with --draw: those to draw from")
    parser.add_argument("--draw", type=int, metavar="N", help="N edges of each repository")
    parser.add_argument("--seed", default="", help="another seed, another draw")
    wanted = parser.parse_args(arguments)
    if wanted.draw:
        draw(wanted.folder, wanted.repos, wanted.draw, wanted.seed)
        return 0
    return check(wanted.folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
