"""Show for each language how many definitions of a plain text search the index knows, by name and line.

    python -m tests.corpora.definitions [--seed N]... [--count 30] DIR...

For each language found in the directories: draws definitions at random from all lines that look like one by the
tables of `programs` and `papers`, comments, strings and here-documents left out, and looks each up in its file's
outline. What is missed is listed: also what the search took for a definition and is none. Not drawn from are
files that the index does not hold, or holds as text because of their size, and tables of configuration (more than 100
keys), which are one chunk on purpose.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from random import Random

from ctxprotocol.messages import Files, Outline
from tests.corpora.drawing import LANGUAGES, Named, Site, draw, holds, sites
from tests.home import Home
from tests.link import Link

COUNT = 30
ALL = 1_000_000
# The default of `index.max_file_bytes`: larger files are text without definitions.
MAX_BYTES = 1_000_000

# A directory, a path in it, what is defined there.
Place = tuple[str, str, Site]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, action="append", help="repeatable: a draw for each (1)")
    parser.add_argument("--count", type=int, default=COUNT)
    parser.add_argument("directories", nargs="+", type=Path)
    args = parser.parse_args()
    roots = [str(directory.resolve()) for directory in args.directories]
    home = Home()
    try:
        for root in roots:
            indexed = home.run("update", cwd=root, timeout=1_200)
            assert indexed.returncode == 0, indexed.stderr
        with Link(home.path, timeout_s=60) as link:
            found = search(link, roots)
            print("| language | repository | found | drawn | right |\n|---|---|---|---|---|")
            for language in sorted(found):
                for seed in args.seed or [1]:
                    report(link, language, draw(found[language], args.count, Random(seed)), len(found[language]))
    finally:
        home.close()
    return 0


def search(link: Link, roots: list[str]) -> dict[str, list[Place]]:
    """Return for each language what its text search finds in the indexed files below the directories."""
    found: dict[str, list[Place]] = defaultdict(list)
    for root in roots:
        answer = json.loads(link.ask(Files(directory=os.fsencode(root), limit=ALL, output="json")).out)
        for row in answer["results"]:
            if row["language"] in LANGUAGES and row["size_bytes"] <= MAX_BYTES:
                text = Path(root, row["file"]).read_text("utf-8", "replace")
                found[row["language"]] += [(root, row["file"], site) for site in sites(row["language"], text)]
    return {language: places for language, places in found.items() if places}


def report(link: Link, language: str, drawn: list[Place], total: int) -> None:
    """Print one language's row and what was missed."""
    missed = [place for place in drawn if not holds(language, place[2], symbols(link, place[0], place[1]))]
    names = sorted({Path(root).name for root, _, _ in drawn})
    repository = ", ".join(names) if len(names) <= 3 else f"{len(names)} of them"
    print(f"| {language} | {repository} | {total} | {len(drawn)} | {len(drawn) - len(missed)} |", flush=True)
    for root, path, site in missed:
        print(f"    missed: {Path(root).name}/{path}:{site.line} {site.name}")


def symbols(link: Link, root: str, path: str) -> list[Named]:
    """Return what the index holds of one file."""
    request = Outline(directory=os.fsencode(root), file=os.fsencode(path), limit=ALL, output="json")
    answer = json.loads(link.ask(request).out)
    return [Named(row["name"], row["qualified_name"], row["definition_line"]) for row in answer["results"]]


if __name__ == "__main__":
    sys.exit(main())
