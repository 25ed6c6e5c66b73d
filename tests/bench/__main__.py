"""Measure and print a table: `python -m tests.bench [--corpora DIR] [--packages DIR] [--json FILE] [--seed N]`.

On a generated tree, on the sources of Redis and Django by package name (kept in --packages; what cannot be had is
said), and on each directory in --corpora (or CORPORA=DIR).

Each source gets a CTX_HOME of its own, so every first index is one from nothing.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path
from random import Random

import psutil

from tests.bench import measure, packages, sources
from tests.home import Home
from tests.link import Link

OUT = Path(__file__).parent / "out" / "bench.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", default=os.environ.get("CORPORA", ""), help="a directory of source directories")
    parser.add_argument("--packages", type=Path, help="where the sources of packages are kept; none without it")
    parser.add_argument("--json", type=Path, default=OUT)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    machine = f"{psutil.cpu_count()} cores, {platform.platform()}, Python {platform.python_version()}"
    print(machine)
    for missing in packages.fetch(args.packages) if args.packages else []:
        print(missing)
    real = [*given(args.packages), *given(args.corpora)]
    figures: list[measure.Figure] = []
    with tempfile.TemporaryDirectory(prefix="ctx-bench-", dir="/tmp") as folder:
        for source in [sources.generated(Path(folder) / "generated", args.seed), *real]:
            figures += one(source, args.seed, own=source.root.is_relative_to(folder))
            table([each for each in figures if each.source == source.name])
    args.json.parent.mkdir(parents=True, exist_ok=True)
    rows = [asdict(each) | {"ratio": each.ratio} for each in figures]
    args.json.write_text(json.dumps({"machine": machine, "seed": args.seed, "figures": rows}, indent=1) + "\n")
    print(f"written: {args.json}")
    return 0


def given(folder: str | Path | None) -> list[sources.Source]:
    return sources.given(str(folder)) if folder else []


def one(source: sources.Source, seed: int, own: bool) -> list[measure.Figure]:
    """Measure one source; only one that is our own is written to."""
    random, home = Random(seed), Home()
    try:
        started = home.run("daemon", "start", cwd="/")
        assert started.returncode == 0, started.stderr
        with Link(home.path, timeout_s=1_200) as link:
            figures = measure.first_index(home, source, link)
            figures += measure.disk(home, source)
            interpreter = measure.interpreter_ms(home)
            figures += measure.unchanged(source, link, interpreter)
            figures += measure.finds(source, link, random, interpreter)
            if own:
                figures += measure.saves(source, link, random, interpreter)
            figures += measure.memory(home, source.name)
            name = link.symbols(source.root, "*_*_*", limit=1, kind="function")["results"][0]["name"]
        return figures + measure.client(home, source, name)
    finally:
        home.close()


def table(figures: list[measure.Figure]) -> None:
    """Print figures with their unit, baseline and ratio."""
    print(f"\n{figures[0].source}")
    for each in figures:
        ratio = f"{each.ratio:7.2f} x {each.baseline} ({each.baseline_value:.1f} {each.unit})" if each.baseline else ""
        print(f"  {each.what:52} {each.value:10.2f} {each.unit:5} {ratio}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
