"""R14: parsers that crash, end or hang. Exactly their files are listed, all others are right, the daemon stays."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

from ctxprotocol.messages import DaemonStatus
from tests.faults import copies
from tests.faults.copies import ROOT
from tests.faults.lab import Lab, Row, Size

FILES = {"ci": 150, "release": 1_000, "nightly": 5_000}
SHARE = 0.02
# The hook is the worker's own parameter: a program that gives it a parser which does what files say.
HOOK = ROOT / "tests/unit/parse/faulty_worker.py"
COMMAND = '(sys.executable, "-E", "-P", "-m", "ctxd.parse.worker")'
FAULTS = {"crash-now": "parser crashed", "exit-now": "parser crashed", "hang-now": "parse timed out"}
BUDGET_S = 2.0
# What a cut costs beside its budget: the new worker, and on a full machine the wait for a processor.
SLACK_S = 1.5
TOUCHES = 5


def crashed(size: Size, seed: int, bin: str) -> Row:
    """Index a tree in which every fiftieth file ends or holds its worker, then touch and mend some of these files."""
    files = FILES[size.name]
    row = Row("R14", f"{int(files * SHARE)} parser faults in {files} files", seed)
    with tempfile.TemporaryDirectory(prefix="ctx-hook-", dir="/tmp") as folder:
        edit = ("ctxd/parse/child.py", COMMAND, f'(sys.executable, "-E", "-P", {str(HOOK)!r})')
        faulty = copies.build(Path(folder), [edit], copies.source_of(bin))
        with Lab(seed, faulty) as lab:
            faults = plant(lab, files)
            pid = lab.link.welcome.pid
            judge_files(lab, row, files, faults)
            row.count(hang_while_asked(lab, row, faults))
            row.count(tried_again(lab, row, faults))
            row.count("" if lab.home.daemons == [pid] else f"pid {pid} became {lab.home.daemons}")
    return row


def path_of(number: int) -> str:
    return f"d{number % 20}/f{number}.py"


def text_of(number: int, fault: str) -> str:
    return f"def crash_{number:05d}(a):\n    return {fault!r}\n"


def plant(lab: Lab, files: int) -> dict[int, str]:
    """Write the tree; return which file does what to its parser, each fault at least once."""
    chosen = lab.random.sample(range(files), int(files * SHARE))
    faults = {number: list(FAULTS)[each % len(FAULTS)] for each, number in enumerate(chosen)}
    for number in range(files):
        lab.tree.write(path_of(number), text_of(number, faults.get(number, "fine")))
    return faults


def judge_files(lab: Lab, row: Row, files: int, faults: dict[int, str]) -> None:
    """One trial a file: a sound one has its definition, a faulty one is listed with what happened to it."""
    root = lab.tree.root
    found = lab.link.symbols(root, "crash_*", limit=files, index_wait_ms=-1)["results"]
    defined = {each["file"] for each in found}
    listed = reasons(lab)
    for number in range(files):
        path, reason = path_of(number), FAULTS.get(faults.get(number, ""), "")
        said = listed.pop(path, "")
        wrong = (path in defined) == bool(reason) or bool(said) != bool(reason) or reason not in said
        row.count(f"{path} ({faults.get(number, 'sound')}): defined {path in defined}, {said!r}" if wrong else "")
    row.count(f"listed besides: {listed}" if listed else "")


def reasons(lab: Lab) -> dict[str, str]:
    """Return what `ctx status --skipped` says of each file."""
    listed = lab.home.json("status", "--skipped", cwd=lab.tree.root)["results"]
    return {each["file"]: each["reason"] for each in listed}


def hang_while_asked(lab: Lab, row: Row, faults: dict[int, str]) -> str:
    """A saved file hangs its parser: the next answer is there when the hang has been cut at 2 s."""
    number = next(number for number in range(len(faults) * 50) if number not in faults)
    lab.tree.write(path_of(number), text_of(number, "hang-now now and anew"))
    faults[number] = "hang-now"
    began = time.perf_counter()
    found = lab.places(row, f"crash_{number:05d}")
    spent = time.perf_counter() - began
    if found or FAULTS["hang-now"] not in reasons(lab).get(path_of(number), ""):
        return f"{path_of(number)} hangs: defined in {found}, {reasons(lab).get(path_of(number))!r}"
    return "" if spent <= BUDGET_S + SLACK_S else f"the hang was cut after {spent:.1f} s"


def tried_again(lab: Lab, row: Row, faults: dict[int, str]) -> str:
    """Files that failed are touched: no worker ends for them again. They change: they are parsed again."""
    before = ended(lab)
    for number in list(faults)[:TOUCHES]:
        lab.tree.write(path_of(number), lab.tree.path(path_of(number)).read_bytes())
    lab.places(row, "crash_00000")
    if ended(lab) != before:
        return f"{before} workers had ended, {ended(lab)} after files were touched that had not changed"
    for number in list(faults)[:TOUCHES]:
        lab.tree.write(path_of(number), text_of(number, "mended"))
        if (found := lab.places(row, f"crash_{number:05d}")) != [path_of(number)]:
            return f"{path_of(number)} was mended: defined in {found}"
    return ""


def ended(lab: Lab) -> int:
    """Return how many workers have crashed or were cut since the daemon began."""
    return int(json.loads(lab.link.ask(DaemonStatus(output="json")).out)["worker_restarts"])
