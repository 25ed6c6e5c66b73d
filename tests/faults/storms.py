"""R03: more events than the kernel keeps. The daemon is stopped, the tree changes, the daemon goes on."""

from __future__ import annotations

import os
import signal
import time

from tests.faults.lab import Lab, Row, Size

QUEUE = "/proc/sys/fs/inotify/max_queued_events"
EDITS = 50
ANSWER_WITHIN_S = 10.0
TREE_FILES = 5_000
# The last round of a long run lasts longer than what the daemon takes for a gap in time (30 s): still one loss.
GAP_S = 33.0


def overflow(size: Size, seed: int, bin: str) -> Row:
    """Each round overflows the event queue for certain, then asks for what was edited, deleted, made."""
    row = Row("R03", "overflow storm: SIGSTOP, new files, SIGCONT", seed, unfresh_share=1.0)
    with open(QUEUE) as file:
        # A new file is three events: created, written, closed.
        new_files = max(9_000, int(file.read()) // 3 + 500)
    with Lab(seed, bin) as lab:
        for number in range(TREE_FILES):
            lab.tree.write(f"base/{number % 50}/b{number}.py", f"def base_{number:05d}(): pass\n")
        lab.places(Row("", "", 0), "base_00000")
        for number in range(1, size.storms + 1):
            gap_s = GAP_S if number == size.storms and size.name != "ci" else 0.0
            expected = storm(lab, number, new_files, gap_s)
            row.count(wrong_after(lab, row, number, expected))
    return row


def storm(lab: Lab, number: int, new_files: int, at_least_s: float = 0.0) -> dict[str, list[str]]:
    """Change the tree while the daemon is stopped, `at_least_s`; return where each of a sample of names now is.

    In odd rounds many files are made, in even ones a few are written again and again: either overflows the queue.
    """
    pid = lab.home.pid
    os.kill(pid, signal.SIGSTOP)
    ends = time.monotonic() + at_least_s
    try:
        expected: dict[str, list[str]] = {}
        if number % 2:
            make_many(lab, number, new_files, expected)
        else:
            hammer_few(lab, number, new_files, expected)
        for each in lab.random.sample(range(TREE_FILES), EDITS):
            path = f"base/{each % 50}/b{each}.py"
            name = f"eddy_{number:02d}{lab.random.randrange(100):02d}"[:10]
            lab.tree.write(path, f"def {name}_{each}(): pass\n")
            expected[f"{name}_{each}"] = [path]
            expected[f"base_{each:05d}"] = []
        deep = f"deep{number}/a/b/c/d"
        lab.tree.write(f"{deep}/x.py", f"def deep_{number}(): pass\n")
        expected[f"deep_{number}"] = [f"{deep}/x.py"]
        time.sleep(max(0.0, ends - time.monotonic()))
    finally:
        os.kill(pid, signal.SIGCONT)
    return expected


def make_many(lab: Lab, number: int, new_files: int, expected: dict[str, list[str]]) -> None:
    """Make new files where those of the last round stood before."""
    for each in range(new_files):
        lab.tree.path(new_path(number - 2, each)).unlink(missing_ok=True)
        lab.tree.write(new_path(number, each), f"def storm_{number}_{each}(): pass\n")
    for each in lab.random.sample(range(new_files), 20):
        expected[f"storm_{number}_{each}"] = [new_path(number, each)]
    expected[f"storm_{number - 2}_0"] = []


def hammer_few(lab: Lab, number: int, writes: int, expected: dict[str, list[str]]) -> None:
    """Write the same few files over and over: a full queue that names hardly any path."""
    few = [f"base/0/h{each}.py" for each in range(4)]
    for each in range(2 * writes):
        lab.tree.write(few[each % len(few)], f"def hammer_{number}_{each % len(few)}(): pass\n")
    expected.update({f"hammer_{number}_{each}": [path] for each, path in enumerate(few)})


def new_path(number: int, each: int) -> str:
    """Return where a file of a storm is: in a directory that is watched, or nobody would tell of it."""
    return f"base/{each % 50}/s{number}_{each}.py"


def wrong_after(lab: Lab, row: Row, number: int, expected: dict[str, list[str]]) -> str:
    """Ask for all expected names; the first answer may take a while, and none may be wrong."""
    began = time.perf_counter()
    for asked, (name, paths) in enumerate(sorted(expected.items(), key=lambda item: not item[1])):
        found = lab.places(row, name)
        if not asked and time.perf_counter() - began > ANSWER_WITHIN_S:
            return f"round {number}: the first answer took {time.perf_counter() - began:.1f} s"
        if found != paths:
            return f"round {number}: {name} in {found}, is in {paths}"
    return overflow_uncounted(lab, number)


def overflow_uncounted(lab: Lab, number: int) -> str:
    """The counter of lost queues goes up by one each round."""
    status = lab.home.json("status", cwd=lab.tree.root)
    counted = find_key(status, "overflows")
    return "" if counted == number else f"round {number}: overflows is {counted}"


def find_key(value: object, key: str) -> object:
    """Return the first value of `key` at whatever depth."""
    if isinstance(value, dict):
        if key in value:
            return value[key]
        value = list(value.values())
    if isinstance(value, list):
        for each in value:
            if (found := find_key(each, key)) is not None:
                return found
    return None
