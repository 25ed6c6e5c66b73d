"""Resolve the judged references again, over checkouts of their repositories: see README.md."""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from collections import Counter
from pathlib import Path

from ctxd.search.graph import Graph
from ctxd.search.resolver import Resolver
from ctxd.store import relations
from tests.indexed import Index

JUDGED = Path(__file__).with_name("judged.tsv")


_ALL = 1 << 31


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
    resolver = Resolver(graph)
    for source in graph.sources.values():
        for site in relations.sites_inside(graph.snapshot, source.id, 0, 1 << 31):
            if site.kind != "import":
                found.setdefault(source.language, Counter())[resolver.resolve(site).confidence] += 1
    return found


def _files(root: str) -> list[str]:
    found = [os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names]
    return sorted(path for path in found if "/locale/" not in path and not path.startswith(".git/"))


def main(folder: str) -> int:
    """Print what differs and the figures; 1 where anything differs."""
    worst = 0
    for repo, rows in judged().items():
        root = os.path.join(folder, repo)
        if not os.path.isdir(root):
            continue
        with tempfile.TemporaryDirectory() as place:
            index = Index(root, f"{place}/index.db")
            index.take(*_files(root))
            with index.snapshot() as snapshot:
                said = differing(Graph(snapshot, max_texts=_ALL), rows)
                print(*said, f"{repo}: {len(rows) - len(said)} of {len(rows)} as judged", sep="\n")
                for language, counted in sorted(tallied(Graph(snapshot, max_texts=_ALL)).items()):
                    print(f"  {language}: {dict(counted)}")
            index.close()
        worst = max(worst, int(bool(said)))
    return worst


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
