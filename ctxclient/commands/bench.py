"""`ctx bench`: how good and how fast the answers are. Runs in the client process."""

from __future__ import annotations

import os
from typing import Any

import click

from ctxclient.commands import options


@click.command(
    "bench",
    epilog=options.examples(
        "ctx bench --set bench --clones ~/clones",
    ),
)
@click.argument("dir", required=False, metavar="[DIR]", type=options.Place())
@click.option("--set", "folder", metavar="FOLDER", type=options.Place(), help="A labelled set: repos.json, labels/.")
@click.option("--clones", metavar="DIR", type=options.Place(), help="Where its repositories lie by name.")
@click.option("--only", multiple=True, metavar="NAME", help="Only these repositories of the set.")
@click.option("--category", multiple=True, metavar="C", help="Only questions of this category.")
@click.option("--language", multiple=True, metavar="L", help="Only repositories of this language.")
@click.option("--whole", is_flag=True, help="Index whole repositories, not the set's source folders.")
@click.option("--any-commit", is_flag=True, help="Take what HEAD has where the set's commit is missing.")
@click.option("--cache", metavar="DIR", type=options.Place(), help="Where exported trees are kept.")
@click.option("--verbose", is_flag=True, help="Show each repository.")
@click.option("--failed", is_flag=True, help="List the questions under 0.5 and what came.")
@options.common
@click.option("--out", metavar="FILE", type=click.Path(dir_okay=False), help="Write the run as JSON.")
def bench(**given: Any) -> int:
    """Measure."""
    from ctxclient.bench import datasets, report, runs, trial
    from ctxclient.progress import Bar

    bar = Bar()
    labelled = datasets.narrowed(
        datasets.load(given["folder"]), _words(given["only"]), _words(given["category"]), _words(given["language"])
    )
    cache = os.path.abspath(given["cache"]) if given["cache"] else trial.cache_directory()
    locate = trial.clones(given["clones"], cache, whole=given["whole"], any_commit=given["any_commit"])
    trees = "whole repositories" if given["whole"] else "source folders"
    run = trial.attempt(labelled, locate, bar.show, trees=trees)
    bar.clear()
    if given["out"]:
        runs.save(given["out"], run)
    click.echo(report.report(run, verbose=given["verbose"], failed=given["failed"]), nl=False)
    return 4 if run.unusable else 0


def _words(found: tuple[str, ...]) -> list[str]:
    return [word for each in found for word in each.split(",") if word]
