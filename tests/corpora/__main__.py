"""Hold the index of real sources against what other programs and the files themselves say.

    python -m tests.corpora [--seed N] DIR...

For each directory: draws names with one definition and with several, asks `find` for each, and counts how often a
right definition comes first; then puts every indexed file together again from its chunks and compares the bytes.
Exit 1 when a figure is below its mark.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path
from random import Random

from ctxprotocol.messages import Find
from tests.corpora import oracle, whole
from tests.home import Home
from tests.link import Link

ONE, SEVERAL = 200, 50
# One name of the 200 may be missed: the oracle reads macros that no parser can see through.
ONE_MARK, SEVERAL_MARK = 199, 50


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("directories", nargs="+", type=Path)
    args = parser.parse_args()
    return max(check(directory.resolve(), Random(args.seed)) for directory in args.directories)


def check(root: Path, random: Random) -> int:
    """Print the figures of one directory; return 1 when one is below its mark."""
    home = Home()
    try:
        indexed = home.run("update", cwd=root, timeout=1_200)
        assert indexed.returncode == 0, indexed.stderr
        places = oracle.definitions(root)
        single = sorted(name for name, where in places.items() if len(where) == 1)
        several = sorted(name for name, where in places.items() if len(where) > 1)
        with Link(home.path, timeout_s=60) as link:
            one = [ask(link, root, name, places) for name in random.sample(single, min(ONE, len(single)))]
            more = [ask(link, root, name, places) for name in random.sample(several, min(SEVERAL, len(several)))]
        report = whole.put_together(home.path, root)
    finally:
        home.close()
    print(f"{root.name}: one definition {sum(one)} of {len(one)}, several {sum(more)} of {len(more)} first")
    print(f"{root.name}: {report.equal} of {report.files} files equal their chunks, {report.masked} but for secrets")
    for path in report.unequal:
        print(f"  not equal: {path}")
    good = len(one) - sum(one) <= ONE - ONE_MARK and len(more) - sum(more) <= SEVERAL - SEVERAL_MARK
    return int(not good or bool(report.unequal))


def ask(link: Link, root: Path, name: str, places: oracle.Places) -> bool:
    """Say whether the first result of `find NAME` is one of the places that define it."""
    answer = link.ask(Find(directory=os.fsencode(root), text=name, output="json"))
    results = json.loads(answer.out)["results"]
    if results and any(
        results[0]["file"] == path and results[0]["line_start"] <= line <= results[0]["line_end"]
        for path, line in places[name]
    ):
        return True
    first = f"{results[0]['file']}:{results[0]['line_start']}" if results else "nothing"
    print(f"  {name}: {first}, not {sorted(places[name])[:3]}")
    return False


if __name__ == "__main__":
    sys.exit(main())
