"""`ctx bench`: how good and how fast the answers are. Runs in the client process."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ctxclient import plain
from ctxclient.commands import options
from ctxprotocol.errors import UsageFailed

if TYPE_CHECKING:
    from ctxclient.bench.datasets import Labelled
    from ctxclient.bench.runs import Run
    from ctxclient.bench.trial import Locate, Plan

    Work = tuple[Sequence[Labelled], Locate, str, Plan]

UNUSABLE_CODE = 4
# What a set is made of when nothing else is said.
COMMITS = 200

FILE = click.Path(dir_okay=False)


@click.command(
    "bench",
    epilog=options.examples(
        "ctx bench --set bench --clones ~/clones --out run.json",
        "ctx bench --set bench --clones ~/clones --whole --only rails,click --compare run.json --failed",
        "ctx bench --set bench --clones ~/clones --without path,'file name' --without coherence",
        "ctx bench . --history --commits 100 --save mine",
    ),
)
@click.argument("dir", required=False, metavar="[DIR]", type=options.Place())
@options.common
@click.option("--set", "folder", metavar="FOLDER", type=options.Place(), help="A labelled set: repos.json, labels/.")
@click.option("--clones", metavar="DIR", type=options.Place(), help="Where the set's repositories lie, by name.")
@click.option("--only", multiple=True, metavar="NAME,...", help="Only these repositories of the set.")
@click.option("--category", multiple=True, metavar="C,...", help="Only questions of these categories.")
@click.option("--language", multiple=True, metavar="L,...", help="Only repositories of these languages.")
@click.option("--whole", is_flag=True, help="Index whole repositories, not the set's source folders.")
@click.option("--any-commit", is_flag=True, help="Take HEAD where the set's commit is not in the clone.")
@click.option("--cache", metavar="DIR", type=options.Place(), help="Where exported trees are kept.")
@click.option("--forget", is_flag=True, help="Detach the exported trees afterwards.")
@click.option("--history", is_flag=True, help="Only the questions that DIR's commits make.")
@click.option(
    "--commits", type=click.IntRange(1, 100_000), metavar="N", default=COMMITS, help=f"How many of them ({COMMITS})."
)
@click.option("--save", metavar="FOLDER", type=options.Place(), help="Write the commits' questions as a set.")
@click.option(
    "--budget", "budgets", multiple=True, metavar="N,...", help="Token budgets of query (500,1000,1200,2000,4000)."
)
@click.option("--without", multiple=True, metavar="PART,...", help="Also measure without these parts of the score.")
@click.option("--ablate", is_flag=True, help="Also measure without each part of the score, one by one.")
@click.option("--vectors", is_flag=True, help="Wait for vectors and search by meaning, too (else by words alone).")
@click.option("--verbose", is_flag=True, help="Show each repository; with --json each question.")
@click.option("--failed", is_flag=True, help="List the questions under 0.5, what was wanted and what came.")
@click.option("--out", metavar="FILE", type=FILE, help="Write the run as JSON.")
@click.option("--compare", metavar="RUN", type=FILE, help="Show what differs from a run that --out wrote.")
@click.option("--chart", metavar="FILE", type=FILE, help="Write recall against tokens as SVG.")
def bench(**given: Any) -> int:
    """Measure how good and how fast answers are.

    With --set: the questions of a labelled set, each repository taken at its commit from its clone. Else about the
    worktree DIR: the time of questions by their length, and in a git repository how well the subjects of its commits
    find the files that they changed.
    """
    from ctxclient.bench import runs, session, trial
    from ctxclient.progress import Bar

    for name in ("out", "chart"):
        _check(given[name])
    earlier = runs.load(given["compare"]) if given["compare"] else None
    labelled, locate, trees, plan = _set(given) if given["folder"] else _directory(given)
    if given["chart"] and not any(each.questions for each in labelled):
        raise UsageFailed("--chart draws how questions were answered, and there is no question")
    with session.Session() as asking:
        variants = [asking.features(words) for each in given["without"] if (words := _words([each]))]
        variants += [(name,) for name in asking.features()] if given["ablate"] else []
    bar = Bar()
    try:
        run = trial.attempt(labelled, locate, bar.show, trees=trees, variants=variants, plan=plan)
    finally:
        bar.clear()
    _tell(run, earlier, given)
    return UNUSABLE_CODE if run.unusable else 0


def _set(given: dict[str, Any]) -> Work:
    """Prepare the questions of a labelled set."""
    from ctxclient.bench import datasets, trial

    if given["dir"] or given["history"] or given["save"]:
        raise UsageFailed("--set brings its own repositories: DIR, --history and --save do not go with it")
    if not given["clones"]:
        raise UsageFailed("--set needs its repositories", "name the folder that holds them: --clones DIR")
    chosen = [_words(given[name]) for name in ("only", "category", "language")]
    labelled = datasets.narrowed(datasets.load(_place(given["folder"])), *chosen)
    whole = given["whole"]
    locate = trial.clones(_place(given["clones"]), _cache(given), whole=whole, any_commit=given["any_commit"])
    trees = "whole repositories" if whole else "source folders"
    return labelled, locate, trees, _plan(given, forget=given["forget"])


def _directory(given: dict[str, Any]) -> Work:
    """Prepare the questions that a directory's own history makes, and those that are only timed."""
    from ctxclient.bench import datasets, source

    directory = _place(given["directory"] or "", given["dir"] or "")
    found = source.source(directory, given["dir"] or "")
    if given["history"] and not found.head:
        raise UsageFailed(f"{directory} has no history: it is not in a git repository with a commit")
    labelled = found.questions(given["commits"])
    if given["save"]:
        try:
            datasets.save(_place(given["save"]), [labelled])
        except OSError as error:
            raise UsageFailed(f"{given['save']} cannot be written: {error.strerror}") from error
    place = found.place(_cache(given) if found.bare else "")
    plan = _plan(given, attach=found.bare, speed=not given["history"], forget=given["forget"] and found.bare)
    return [labelled], lambda _labelled: place, "commits as questions" if found.head else "no questions", plan


def _plan(given: dict[str, Any], **more: bool) -> Plan:
    from ctxclient.bench import trial

    return trial.Plan(budgets=_budgets(given["budgets"]), vectors=given["vectors"], **more)


def _tell(run: Run, earlier: Run | None, given: dict[str, Any]) -> None:
    """Print and write what was measured."""
    from ctxclient.bench import chart, report, runs, summary, tables

    figures = summary.summary(run.repositories)
    if given["out"]:
        runs.save(given["out"], run)
    if given["chart"] and figures.all.budgets:
        before = summary.summary(earlier.repositories).all if earlier else None
        title = f"Relevant file in the answer of ctx query ({run.trees}, {figures.all.questions} questions)"
        with open(given["chart"], "w", encoding="utf-8") as file:
            file.write(chart.svg([figures.all, *figures.categories], title, before))
    if given["as_json"]:
        out = report.told(run, earlier, verbose=given["verbose"])
    else:
        out = report.report(run, earlier, verbose=given["verbose"], failed=given["failed"])
        out = tables.colored(out) if plain.color(given["color"], os.environ) else out
    plain.deliver(out.encode("utf-8", "surrogateescape"), b"", 0)


def _check(path: str | None) -> None:
    """See that a file can be written before a long run is made for it. Raises UsageFailed."""
    if path and not os.path.isdir(folder := os.path.dirname(os.path.abspath(path))):
        raise UsageFailed(f"{path} cannot be written: {folder} is no directory")
    if path and not os.access(path if os.path.exists(path) else folder, os.W_OK):
        raise UsageFailed(f"{path} cannot be written: permission denied")


def _place(*words: str) -> str:
    context = click.get_current_context(silent=True)
    start = context.find_root().obj if context else None
    return os.fsdecode(plain.place(*[word for word in (start, *words) if word]))


def _cache(given: dict[str, Any]) -> str:
    from ctxclient.bench import trial

    return _place(given["cache"]) if given["cache"] else trial.cache_directory()


def _budgets(found: Sequence[str]) -> tuple[int, ...]:
    from ctxclient.bench.runs import BUDGETS

    words = _words(found)
    if not all(word.isascii() and word.isdigit() and 0 < int(word[:9]) <= plain.MILLION for word in words):
        raise UsageFailed("--budget takes numbers of tokens", "as in --budget 500,1000")
    return tuple(sorted({int(word) for word in words})) or BUDGETS


def _words(found: Sequence[str]) -> tuple[str, ...]:
    return tuple(word.strip() for each in found for word in each.split(",") if word.strip())
