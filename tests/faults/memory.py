"""R13: 500 MB of memory for each process, and files made to use more. The daemon stays, or the next one comes."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from tests.faults.crashes import ended, reasons
from tests.faults.lab import Lab, Row, Size
from tests.link import Refused

LIMIT_BYTES = 500 << 20
ROUNDS = {"ci": 1, "release": 10, "nightly": 100}
AT_ONCE = {"ci": 6, "release": 20, "nightly": 20}
BACK_WITHIN_S = 3.0
SOUND = 60
LINE_BYTES = 2_000_000
DEEP = 60_000


def bombs() -> dict[str, str]:
    """Return hostile files by path. Most have line breaks: what looks minified never meets a parser."""
    nine = "\n".join(f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 9)}]" for n in range(1, 10))
    return {
        "line.py": "x = [" + "1," * (LINE_BYTES // 2) + "]\n",
        "line.txt": "word" * (LINE_BYTES // 8) + "\n",
        "deep.py": "x = " + repeat("(") + repeat(")") + "\n",
        "deep.json": repeat("[") + repeat("]"),
        "deep.c": "int a(void) " + repeat("{") + repeat("}") + "\n",
        "deep.js": repeat("f(") + repeat(")") + ";\n",
        "deep.go": "package p\nvar a = " + repeat("[]int{") + repeat("}") + "\n",
        "deep.yaml": "".join(" " * n + f"k{n}:\n" for n in range(900)),
        "flow.yaml": "a: " + repeat("[") + repeat("]") + "\n",
        "bomb.yaml": f"l0: &l0 [a, b, c, d, e, f, g, h, i]\n{nine}\n",
        "names.py": "".join(f"def bomb_{n}(): pass\n" for n in range(40_000)),
        "open.html": repeat("<div>"),
        "deep.md": repeat(">") + " x\n",
        "deep.rs": "fn a() { " + repeat("!") + "0 }\n",
        "deep.hs": "a = " + repeat("(") + "1" + repeat(")") + "\n",
        "wide.py": repeat("a=b;", 240_000),
        "wide.c": repeat("int a;", 160_000),
        "wide.yaml": "- a\n" * 249_000,
        "wide.json": "[" + repeat("{},", 320_000) + "1]",
        "wide.toml": "a = [" + repeat("1,", 400_000) + "]\n",
    }


def repeat(text: str, count: int = DEEP) -> str:
    """Return `text` so many times, in lines."""
    return (text * 20 + "\n") * (count // 20)


def short_of_memory(size: Size, seed: int, bin: str) -> Row:
    """Each round: other bombs, in daemons and workers under the limit; the sound files are found all the same."""
    rounds = ROUNDS[size.name]
    row = Row("R13", f"{LIMIT_BYTES >> 20} MB of memory, {AT_ONCE[size.name]} bombs, {rounds} rounds", seed)
    # Each bomb may take its two seconds: an answer that waits for five may well come before all are done, and says so.
    row.unfresh_share = 1.0
    with Lab(seed, bin) as lab:
        for number in range(SOUND):
            lab.tree.write(f"s{number}.py", f"def sound_{number}(a):\n    return a\n")
        limited(lab)
        for number in range(rounds):
            chosen = dict(lab.random.sample(sorted(bombs().items()), AT_ONCE[size.name]))
            for fault in one_round(lab, row, number, chosen):
                row.count(fault)
    return row


def limited(lab: Lab) -> None:
    """Start the daemon under the limit, which what it starts inherits."""
    script = f'ulimit -v {LIMIT_BYTES >> 10}; exec "$@"'
    command = ["sh", "-c", script, "sh", str(lab.home.bin / "ctx"), "daemon", "start"]
    subprocess.run(command, cwd="/", env=lab.home.env, check=True, capture_output=True, timeout=60)
    limits = Path(f"/proc/{lab.home.pid}/limits").read_text()
    assert f" {LIMIT_BYTES} " in limits, limits


def one_round(lab: Lab, row: Row, number: int, chosen: dict[str, str]) -> list[str]:
    """Write the bombs, each different from the last round's, and ask; one trial for each thing that must hold."""
    for path, text in chosen.items():
        lab.tree.write(f"bombs/{path}", text if number == 0 else text + "\n" * number)
    pid, began = lab.link.welcome.pid, time.perf_counter()
    faults = [found_all(lab, row)]
    stayed = lab.home.daemons == [pid]
    spent = time.perf_counter() - began
    if not stayed:
        lab.hang_up()
    faults.append("" if stayed or spent <= BACK_WITHIN_S else f"pid {pid} ended, an answer after {spent:.1f} s")
    return [*faults, *judged(lab, chosen), retried(lab, row, chosen)]


def found_all(lab: Lab, row: Row) -> str:
    """Every sound file has its definition."""
    for number in lab.random.sample(range(SOUND), 5):
        try:
            found = lab.places(row, f"sound_{number}")
        except (Refused, EOFError, ConnectionError) as fault:
            return f"sound_{number}: {fault}"
        if found != [f"s{number}.py"]:
            return f"sound_{number} in {found}"
    return ""


def judged(lab: Lab, chosen: Iterable[str]) -> list[str]:
    """Each bomb is indexed, or listed with a reason."""
    indexed = {each["file"] for each in lab.home.json("files", cwd=lab.tree.root)["results"]}
    listed = reasons(lab)
    paths = [f"bombs/{path}" for path in chosen]
    return ["" if path in indexed or listed.get(path) else f"{path} is neither indexed nor listed" for path in paths]


def retried(lab: Lab, row: Row, chosen: Iterable[str]) -> str:
    """Everything is touched: no worker ends for content that has ended one before."""
    before = ended(lab)
    for path in chosen:
        os.utime(lab.tree.path(f"bombs/{path}"))
    lab.places(row, "sound_0")
    return "" if ended(lab) == before else f"{before} workers had ended, {ended(lab)} after a touch"
