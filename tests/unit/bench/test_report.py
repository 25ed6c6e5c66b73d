"""What a run comes to, and how it is told."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import msgspec
import pytest

from ctxclient.bench import chart, differences, report, runs
from ctxclient.bench.datasets import SetInvalid, Span
from ctxclient.bench.machine import Machine, machine
from ctxclient.bench.runs import BUDGETS, Asked, Compiled, Measured, Run, Timed, Unusable, Variant
from ctxclient.bench.summary import summary
from ctxclient.bench.tables import colored


def one(query: str, ndcg: float, category: str = "semantic", **values: object) -> Asked:
    fields = {"rank": 1 if ndcg else 0, "recall10": ndcg, "search_ms": 2.0} | values
    found = bool(fields["rank"])
    until = (30, 90) if found else (600, 600)
    return Asked(
        query=query,
        category=category,
        ndcg=ndcg,
        wanted=(Span("a.py", 3, 4),),
        results=(Span("b.py", 1, 2), Span("a.py", 3, 9)),
        compiled=tuple(Compiled(budget, budget // 2, found, found and budget > 500, *until) for budget in BUDGETS),
        **fields,
    )


def repository(name: str, language: str, *questions: Asked, **values: object) -> Measured:
    return Measured(name=name, language=language, commit="ab" * 20, files=3, chunks=9, questions=questions, **values)


def run(*repositories: Measured, **values: object) -> Run:
    there = Machine(cpus=2, python="3.11.7", system="Linux x86_64", version="0.1.0", commit="cd" * 20)
    return Run(machine=there, trees="source folders", repositories=repositories, **values)


FEW = repository("few", "c", one("open a door", 1.0), one("close", 0.0, "symbol"))
MANY = repository("many", "go", *(one(f"question number {n}", 1.0) for n in range(4)))


def test_figures_are_means_over_the_means_of_repositories() -> None:
    """A repository with more questions counts no more; within a category by the same rule."""
    found = summary([FEW, MANY])

    assert (found.all.ndcg_10, found.all.hit_1, found.all.questions) == (0.75, 0.75, 6)
    assert {each.name: each.ndcg_10 for each in found.categories} == {"semantic": 1.0, "symbol": 0.0}
    assert {each.name: each.ndcg_10 for each in found.languages} == {"c": 0.5, "go": 1.0}
    assert [each.recall for each in found.all.budgets] == [0.75] * len(BUDGETS)


def test_an_answer_without_the_right_file_costs_all_its_tokens() -> None:
    """30 and 600 in one repository, 30 in the other."""
    found = summary([FEW, MANY]).all.budgets[0]

    assert (found.named, found.read, found.coded, found.tokens) == ((315 + 30) / 2, (345 + 90) / 2, 0.0, 250.0)


def test_speed_is_by_the_number_of_words() -> None:
    """Of the questions that were only timed where there are any."""
    timed = [Timed(1, float(ms)) for ms in range(1, 101)] + [Timed(6, 7.0)]

    assert [(each.words, each.questions, each.p50_ms, each.p99_ms) for each in summary([FEW], timed).speed] == [
        ("all", 101, 50.0, 99.0),
        ("1", 100, 50.0, 99.0),
        ("5-7", 1, 7.0, 7.0),
    ]
    assert [each.words for each in summary([FEW]).speed] == ["all", "1", "3-4"]


def test_the_report() -> None:
    """The whole text of a small run."""
    lost = Unusable("lost", "lost: commit abababababab is not in the clone", "fetch it")
    off = repository("off", "go", one("q r", 1.0), exact=False, missing=2)

    out = report.report(run(FEW, off, unusable=(lost,), took_s=3.4), failed=True)

    assert (
        out
        == """\
2 repositories, 3 questions, source folders; 3 s, 0 s of it indexing
ctx 0.1.0 at cdcdcdcdcdcd, Python 3.11.7, Linux x86_64, 2 CPUs

find      repositories  questions  NDCG@10  hit@1  hit@3  hit@10  recall@10
all                  2          3    0.750  0.750  0.750   0.750      0.750
semantic             2          2    1.000  1.000  1.000   1.000      1.000
symbol               1          1    0.000  0.000  0.000   0.000      0.000
c                    1          2    0.500  0.500  0.500   0.500      0.500
go                   1          1    1.000  1.000  1.000   1.000      1.000

query, relevant file    all  semantic  symbol  its code  tokens  until named  until read
within 500 tokens     0.750     1.000   0.000     0.000     250          172         218
within 1,000 tokens   0.750     1.000   0.000     0.750     500          172         218
within 1,200 tokens   0.750     1.000   0.000     0.750     600          172         218
within 2,000 tokens   0.750     1.000   0.000     0.750   1,000          172         218
within 4,000 tokens   0.750     1.000   0.000     0.750   2,000          172         218

relevant file in the answer of query
   500 tokens  ██████████████████████████████░░░░░░░░░░  0.750
 1,000 tokens  ██████████████████████████████░░░░░░░░░░  0.750
 1,200 tokens  ██████████████████████████████░░░░░░░░░░  0.750
 2,000 tokens  ██████████████████████████████░░░░░░░░░░  0.750
 4,000 tokens  ██████████████████████████████░░░░░░░░░░  0.750

find in the daemon, words  questions  p50 ms  p99 ms
all                                3     2.0     2.0
1                                  1     2.0     2.0
2                                  1     2.0     2.0
3-4                                1     2.0     2.0

not measured: lost: commit abababababab is not in the clone (fetch it)
off: at abababababab, which is not the commit of the set
off: 2 files missing from a partial clone

1 question under 0.5
0.00  few (symbol): close
      wanted  a.py:3-4
           1  b.py:1-2
           2  a.py:3-9
"""
    )


def test_json_is_one_object_of_figures() -> None:
    """Without the questions, unless they are asked for."""
    brief = json.loads(report.told(run(FEW, MANY)))
    whole = json.loads(report.told(run(FEW, MANY), run(FEW), verbose=True))

    assert brief["summary"]["all"]["ndcg_10"] == 0.75 and "run" not in brief and "comparison" not in brief
    assert len(whole["run"]["repositories"][1]["questions"]) == 4
    assert whole["comparison"]["questions"] == 2


def test_a_run_is_written_and_read(tmp_path: Path) -> None:
    """What is no run is refused."""
    written = run(FEW, variants=(Variant(("path",), (FEW,)),))
    runs.save(str(tmp_path / "run.json"), written)

    assert runs.load(str(tmp_path / "run.json")) == written
    for text in ("{}", "[", ""):
        (tmp_path / "other.json").write_text(text)
        with pytest.raises(SetInvalid):
            runs.load(str(tmp_path / "other.json"))


def test_runs_are_compared_on_the_questions_of_both() -> None:
    """Figures of what only one of them asked would be a difference of questions."""
    before = repository("few", "c", one("open a door", 0.5), one("close", 0.5, "symbol"), one("gone", 0.0))

    found = differences.compared([before], [FEW, MANY])
    lines = differences.comparison(found).splitlines()

    assert (found.questions, found.unshared) == (2, 5)
    assert {(c.kind, c.name): (c.before.ndcg_10, c.after.ndcg_10) for c in found.changes} == {
        ("all", "all"): (0.5, 0.5),
        ("category", "semantic"): (0.5, 1.0),
        ("category", "symbol"): (0.5, 0.0),
        ("language", "c"): (0.5, 0.5),
        ("repository", "few"): (0.5, 0.5),
    }
    assert lines[-3:] == [
        "2 questions in both: 1 better, 1 worse; 5 in one alone left out",
        "0.50 -> 0.00  few: close",
        "0.50 -> 1.00  few: open a door",
    ]


def test_variants_are_told_by_what_they_cost() -> None:
    """The dearest first, with the language that loses most and the one that wins most."""
    worse = msgspec.structs.replace(MANY, questions=(one("question number 0", 0.0),))
    better = msgspec.structs.replace(FEW, questions=(one("open a door", 1.0), one("close", 1.0, "symbol")))
    tried = (Variant(("kind",), (FEW, MANY)), Variant(("file name", "path"), (better, worse)))

    out = differences.ablation(run(FEW, MANY, variants=tried))

    assert (
        out
        == """\
without          NDCG@10  difference  semantic  symbol  most lost  most won
nothing            0.750
file name, path    0.500      -0.250    -0.500  +1.000  go -1.000  c +0.500
kind               0.750           .         .       .
"""
    )
    assert "\x1b[31m-0.250\x1b[0m" in colored(out) and "\x1b[32m+1.000\x1b[0m" in colored(out)


def test_the_chart_is_well_formed() -> None:
    """A line per group and one for an earlier run, names escaped, nothing outside of the picture."""
    figures = summary([FEW, MANY])
    groups = [figures.all, msgspec.structs.replace(figures.categories[0], name="<a&b>"), *figures.categories[1:]]

    root = ElementTree.fromstring(chart.svg(groups, "T & t", summary([MANY]).all))

    space = "{http://www.w3.org/2000/svg}"
    lines = root.findall(f"{space}polyline")
    points = [tuple(map(float, point.split(","))) for line in lines for point in line.attrib["points"].split()]
    assert len(lines) == 4 and len(points) == 4 * len(BUDGETS)
    assert all(0 <= x <= 640 and 0 <= y <= 400 for x, y in points)
    assert "<a&b> 1.000" in [text.text for text in root.findall(f"{space}text")]


def test_the_machine_is_told_without_names() -> None:
    """No host, no user, no folder."""
    import os
    import platform

    told = msgspec.json.encode(machine()).decode()

    assert platform.python_version() in told
    assert platform.node() not in told and os.path.expanduser("~") not in told and os.sep not in told
